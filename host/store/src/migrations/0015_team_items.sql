-- Only a revision of the same item takes the place of another one, and every text of a record follows its memory.

CREATE TABLE team_replaced_next (
    item TEXT NOT NULL,
    hash TEXT NOT NULL,
    by   TEXT NOT NULL,                       -- the hash of the later revision
    PRIMARY KEY (item, hash)
) STRICT, WITHOUT ROWID;
-- The item of a revision is that of the record that says so. A record that named one of another item replaces nothing.
INSERT INTO team_replaced_next (item, hash, by)
    SELECT r.item, p.hash, p.by FROM team_replaced p JOIN team_records r ON r.hash = p.by;
DROP TABLE team_replaced;
ALTER TABLE team_replaced_next RENAME TO team_replaced;

-- A record has the memory's keywords and files, too.
DROP TRIGGER team_memory_changed;
CREATE TRIGGER team_memory_changed AFTER UPDATE OF type, title, content, keywords, files ON memories
    WHEN (old.type, old.title, old.content, old.keywords, old.files) <> (new.type, new.title, new.content, new.keywords, new.files)
        AND new.content || new.title <> '' BEGIN
    UPDATE team_records SET changed = 1, body = NULL WHERE memory = new.rowid AND state NOT IN ('pulled', 'dead');
END;

-- A person approves what they have seen: a text that was made since is another one.
ALTER TABLE team_records ADD COLUMN shown INTEGER NOT NULL DEFAULT 0;
