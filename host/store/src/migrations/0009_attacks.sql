-- Earlier builds derived what a tool use was about (its subject) from a command that was not redacted yet, so a password
-- could be part of it. subjects.rs checks every subject of such a database once, and removes this mark.
INSERT INTO meta (key, value)
    SELECT 'subjects', 'unchecked' WHERE EXISTS (SELECT 1 FROM failures) OR EXISTS (SELECT 1 FROM events WHERE event_type = 'tool_observation')
    ON CONFLICT (key) DO UPDATE SET value = excluded.value;

-- The files of notes belong to a project: by a link, the same folder can be that of two.
CREATE TABLE note_files_2 (
    project_id TEXT NOT NULL,
    folder     TEXT NOT NULL,                 -- absolute
    path       TEXT NOT NULL,                 -- below it
    uid        TEXT NOT NULL,
    file_hash  BLOB NOT NULL,                 -- SHA-256 of the file
    note_hash  BLOB NOT NULL,                 -- SHA-256 of the note, written as a file
    size       INTEGER NOT NULL,              -- bytes
    modified   INTEGER NOT NULL,              -- nanoseconds since the Unix epoch
    conflict   INTEGER NOT NULL DEFAULT 0,    -- both sides were changed, and the conflict is unresolved
    PRIMARY KEY (project_id, folder, path)
) STRICT, WITHOUT ROWID;
-- A file counts for each project that has its note, and of these only for the one that contains it, if there is one.
INSERT INTO note_files_2
    SELECT n.project_id, f.folder, f.path, f.uid, f.file_hash, f.note_hash, f.size, f.modified, f.conflict
    FROM note_files f JOIN notes n ON n.uid = f.uid JOIN projects p ON p.id = n.project_id
    WHERE substr(f.folder, 1, length(p.root) + 1) = p.root || '/'
       OR NOT EXISTS (SELECT 1 FROM notes o JOIN projects q ON q.id = o.project_id
                      WHERE o.uid = f.uid AND substr(f.folder, 1, length(q.root) + 1) = q.root || '/');
DROP TABLE note_files;
ALTER TABLE note_files_2 RENAME TO note_files;
