-- Events while sessions ran: tool uses, prompts, ends of turns. `payload_json` is journal.rs's Seen; the searchable
-- parts are in separate tables derived from it.
ALTER TABLE events ADD COLUMN tool TEXT NOT NULL DEFAULT '';
ALTER TABLE events ADD COLUMN failed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE events ADD COLUMN times INTEGER NOT NULL DEFAULT 1;        -- how often it occurred without a change in between
ALTER TABLE events ADD COLUMN level INTEGER NOT NULL DEFAULT 0;        -- 0 to 4: the retention tier
ALTER TABLE events ADD COLUMN accessed_at INTEGER;
ALTER TABLE events ADD COLUMN access_count INTEGER NOT NULL DEFAULT 0;
CREATE INDEX events_by_project ON events (project_id, timestamp);

-- The agent's own identifiers, so that an event that arrives twice is stored once.
CREATE TABLE event_keys (
    session_id TEXT NOT NULL,
    key        TEXT NOT NULL,
    event_id   INTEGER NOT NULL REFERENCES events (event_id) ON DELETE CASCADE,
    PRIMARY KEY (session_id, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX event_keys_by_event ON event_keys (event_id);

CREATE TABLE event_files (
    path     TEXT NOT NULL,
    event_id INTEGER NOT NULL REFERENCES events (event_id) ON DELETE CASCADE,
    PRIMARY KEY (path, event_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX event_files_by_event ON event_files (event_id);

-- Other sessions that accessed it.
CREATE TABLE event_uses (
    event_id   INTEGER NOT NULL REFERENCES events (event_id) ON DELETE CASCADE,
    session_id TEXT NOT NULL,
    PRIMARY KEY (event_id, session_id)
) STRICT, WITHOUT ROWID;

CREATE VIRTUAL TABLE events_fts USING fts5 (
    summary, files, command,
    content = '', contentless_delete = 1,
    tokenize = "ascii tokenchars '_'"
);
CREATE TRIGGER events_gone AFTER DELETE ON events BEGIN
    DELETE FROM events_fts WHERE rowid = old.event_id;
END;

-- Failures with the same signature; a recurring one is also a memory.
CREATE TABLE failures (
    number     INTEGER PRIMARY KEY,
    project_id TEXT NOT NULL,
    signature  TEXT NOT NULL,
    subject    TEXT NOT NULL,
    error      TEXT NOT NULL,
    files      TEXT NOT NULL DEFAULT '[]',
    count      INTEGER NOT NULL DEFAULT 0,
    sessions   INTEGER NOT NULL DEFAULT 0,
    first_at   INTEGER NOT NULL,
    last_at    INTEGER NOT NULL,
    fix        TEXT,                                    -- what was done between the failure and the success
    fixed_at   INTEGER,
    memory     INTEGER REFERENCES memories (rowid) ON DELETE SET NULL,
    UNIQUE (project_id, signature)
) STRICT;
CREATE INDEX failures_by_memory ON failures (memory);

CREATE TABLE failure_sightings (
    event_id   INTEGER PRIMARY KEY REFERENCES events (event_id) ON DELETE CASCADE,
    failure    INTEGER NOT NULL REFERENCES failures (number) ON DELETE CASCADE,
    session_id TEXT NOT NULL,
    subject    TEXT NOT NULL,
    resolved   INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX failure_sightings_by_failure ON failure_sightings (failure);
CREATE INDEX failure_sightings_open ON failure_sightings (session_id, subject) WHERE resolved = 0;
