-- The fields of a note that memories lack (notes/mod.rs). Memories that policies made have no row here until they are
-- synced with files; the row then keeps the name of their file.
CREATE TABLE notes (
    memory      INTEGER PRIMARY KEY REFERENCES memories (rowid) ON DELETE CASCADE,
    project_id  TEXT NOT NULL,
    uid         TEXT NOT NULL,                -- stable, and the same on every machine that the note reaches
    type        TEXT NOT NULL,
    stem        TEXT NOT NULL,                -- the name of its file, without folder and extension
    body_hash   BLOB NOT NULL,                -- SHA-256 of the content alone
    tags        TEXT NOT NULL,
    keywords    TEXT NOT NULL,
    description TEXT NOT NULL,
    related     TEXT NOT NULL,
    extra       TEXT NOT NULL DEFAULT '',     -- other fields of the front matter, verbatim
    UNIQUE (project_id, uid)
) STRICT;
CREATE INDEX notes_by_stem ON notes (project_id, stem);
CREATE INDEX notes_by_body ON notes (project_id, body_hash);

-- Files that notes were synced with, and the state of both when they last agreed (notes/sync).
CREATE TABLE note_files (
    folder    TEXT NOT NULL,                  -- absolute
    path      TEXT NOT NULL,                  -- below it
    uid       TEXT NOT NULL,
    file_hash BLOB NOT NULL,                  -- SHA-256 of the file
    note_hash BLOB NOT NULL,                  -- SHA-256 of the note, written as a file
    size      INTEGER NOT NULL,               -- bytes
    modified  INTEGER NOT NULL,               -- nanoseconds since the Unix epoch
    conflict  INTEGER NOT NULL DEFAULT 0,     -- both sides were changed, and the conflict is unresolved
    PRIMARY KEY (folder, path)
) STRICT, WITHOUT ROWID;

-- Deleted by deleting its file. Only the return of the file may bring it back.
ALTER TABLE tombstones ADD COLUMN by_file INTEGER NOT NULL DEFAULT 0;
