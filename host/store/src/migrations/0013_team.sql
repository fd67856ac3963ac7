-- What is shared with a team, and what came from it (store/team/).

-- One row for each record of a series: a memory, or the tombstone of one.
CREATE TABLE team_records (
    number     INTEGER PRIMARY KEY,
    hash       TEXT NOT NULL UNIQUE,          -- SHA-256 of the body, hexadecimal
    item       TEXT NOT NULL,                 -- what stays the same when a memory is edited: random, hexadecimal
    kind       TEXT NOT NULL,                 -- memory, tombstone
    state      TEXT NOT NULL,                 -- own: review, pending, queued, sent, dropped, refused; others': pulled, dead
    target     TEXT NOT NULL DEFAULT '',      -- of a tombstone: the hash of the one revision that it deletes; empty for all of the item
    device     TEXT NOT NULL DEFAULT '',      -- whose series; empty until it is queued
    sequence   INTEGER,                       -- its place in the series
    author     TEXT NOT NULL DEFAULT '',      -- the member who wrote it; empty for own ones
    project_id TEXT NOT NULL DEFAULT '',
    memory     INTEGER,                       -- memories.rowid, while there is one
    changed    INTEGER NOT NULL DEFAULT 0,    -- the memory's text is another one since
    gone       INTEGER NOT NULL DEFAULT 0,    -- the memory was deleted since
    edited     INTEGER NOT NULL DEFAULT 0,    -- a person changed the text before it left
    body       TEXT,                          -- what is to be sent; NULL once the server has it
    reason     TEXT NOT NULL DEFAULT '',      -- the rule for which the server refused it
    UNIQUE (device, kind, sequence)
) STRICT;
CREATE INDEX team_records_by_item ON team_records (item);
CREATE INDEX team_records_by_memory ON team_records (memory) WHERE memory IS NOT NULL;
-- Counts, and what is to be sent.
CREATE INDEX team_records_by_state ON team_records (state, kind, memory);
CREATE INDEX team_records_changed ON team_records (number) WHERE changed;
CREATE INDEX team_records_gone ON team_records (number) WHERE gone;

-- Revisions whose place another one took, known or not.
CREATE TABLE team_replaced (
    hash TEXT PRIMARY KEY,
    by   TEXT NOT NULL                        -- the hash of the later revision
) STRICT, WITHOUT ROWID;

-- How far each series of others was read.
CREATE TABLE team_series (
    device   TEXT NOT NULL,
    kind     TEXT NOT NULL,
    sequence INTEGER NOT NULL,                -- the last one that was read
    last     INTEGER NOT NULL,                -- the last one that the server has, as of the last sync
    member   TEXT NOT NULL,                   -- whose device it is
    name     TEXT NOT NULL,                   -- the device's name
    PRIMARY KEY (device, kind)
) STRICT, WITHOUT ROWID;

-- How a project is recognized on other machines, and up to which row it was looked through for what is shared.
CREATE TABLE team_projects (
    project_id TEXT PRIMARY KEY,
    key        TEXT NOT NULL,                 -- empty if nothing of it can be recognized elsewhere
    rules      TEXT NOT NULL DEFAULT '',      -- a hash of the rules that it was looked through with
    scanned    INTEGER NOT NULL DEFAULT 0,    -- memories.rowid
    checked_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Where in a series the first record is that waits: for a project that is not on this machine, or for somebody who is muted.
CREATE TABLE team_waiting (
    device   TEXT NOT NULL,
    kind     TEXT NOT NULL,
    what     TEXT NOT NULL,                   -- the key of a project, or person: and a member's name
    sequence INTEGER NOT NULL,
    PRIMARY KEY (device, kind, what)
) STRICT, WITHOUT ROWID;

-- Whose memories, or of which projects, are not to be seen.
CREATE TABLE team_mutes (
    what TEXT PRIMARY KEY                     -- person: and a member's name, or project: and a project's id
) STRICT, WITHOUT ROWID;

-- A memory that is deleted or changes is known to need a tombstone or another revision. Its former text is not kept.
CREATE TRIGGER team_memory_gone AFTER DELETE ON memories BEGIN
    UPDATE team_records SET gone = 1, memory = NULL, body = NULL WHERE memory = old.rowid;
END;
CREATE TRIGGER team_memory_changed AFTER UPDATE OF type, title, content ON memories
    WHEN (old.type, old.title, old.content) <> (new.type, new.title, new.content) AND new.content || new.title <> '' BEGIN
    UPDATE team_records SET changed = 1, body = NULL WHERE memory = new.rowid AND state NOT IN ('pulled', 'dead');
END;
