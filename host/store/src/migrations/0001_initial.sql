-- The tables of the memory system's design (meta, memories, memories_fts, embedding_cache, project_knowledge,
-- session_history, events), and tables for provenance, cursors and the session context. Times are milliseconds since
-- the Unix epoch, UTC; lists and maps are JSON.

CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- A project is identified by its git common directory (which worktrees share), or else by a canonical path.
CREATE TABLE projects (
    number     INTEGER PRIMARY KEY,           -- the high bits of its memories' row numbers
    id         TEXT NOT NULL UNIQUE,
    identity   TEXT NOT NULL UNIQUE,
    root       TEXT NOT NULL,
    memories   INTEGER NOT NULL DEFAULT 0,    -- how many row numbers were assigned so far; none is reused
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE memories (
    rowid         INTEGER PRIMARY KEY,        -- projects.number * 2^32 + a count: a project is one range
    id            TEXT NOT NULL UNIQUE,
    project_id    TEXT NOT NULL REFERENCES projects (id),
    session_id    TEXT NOT NULL,              -- where it was first learned
    type          TEXT NOT NULL,
    title         TEXT NOT NULL,
    content       TEXT NOT NULL,
    content_hash  BLOB NOT NULL,              -- SHA-256 of type and content
    keywords      TEXT NOT NULL DEFAULT '[]',
    files         TEXT NOT NULL DEFAULT '[]',
    metadata      TEXT NOT NULL DEFAULT '[]', -- the policy's own attributes
    importance    REAL NOT NULL,
    weight        REAL NOT NULL,              -- importance plus a bonus for repeated occurrences: the sort key of lists
    seen_count    INTEGER NOT NULL DEFAULT 1,
    embedding     BLOB,
    policy        TEXT NOT NULL,
    policy_digest TEXT NOT NULL,
    created_at    INTEGER NOT NULL,
    accessed_at   INTEGER,
    access_count  INTEGER NOT NULL DEFAULT 0,
    UNIQUE (project_id, content_hash)
) STRICT;
-- Lists are sorted by time or by weight, of one kind or of all but archived turns; each is an index scan.
CREATE INDEX memories_by_kind_and_time   ON memories (project_id, type, created_at DESC, id);
CREATE INDEX memories_by_kind_and_weight ON memories (project_id, type, weight DESC, created_at DESC, id);
CREATE INDEX memories_by_time            ON memories (project_id, created_at DESC, id) WHERE type <> 'turn';
CREATE INDEX memories_by_weight          ON memories (project_id, weight DESC, created_at DESC, id) WHERE type <> 'turn';
CREATE INDEX memories_by_session ON memories (session_id, created_at);

-- Tokens made by search/tokens.rs, one row per piece of a memory (search/pieces.rs): rowid = memories.rowid * 256 +
-- piece. The text itself stays in memories.
CREATE VIRTUAL TABLE memories_fts USING fts5 (
    title, content, keywords, files,
    content = '', contentless_delete = 1,
    tokenize = "ascii tokenchars '_'"
);

-- Occurrences: every place where a memory was learned.
CREATE TABLE sightings (
    session_id    TEXT NOT NULL,
    key           TEXT NOT NULL,              -- the draft's key within its session
    memory        INTEGER NOT NULL REFERENCES memories (rowid) ON DELETE CASCADE,
    line_uuid     TEXT,
    at            INTEGER,
    PRIMARY KEY (session_id, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX sightings_by_memory ON sightings (memory);

-- Content that a user deleted, so that reading the transcript again does not bring it back.
CREATE TABLE tombstones (
    project_id   TEXT NOT NULL,
    content_hash BLOB NOT NULL,
    deleted_at   INTEGER NOT NULL,
    PRIMARY KEY (project_id, content_hash)
) STRICT, WITHOUT ROWID;

CREATE TABLE embedding_cache (
    content_hash BLOB NOT NULL,
    provider     TEXT NOT NULL,
    model        TEXT NOT NULL,
    dims         INTEGER NOT NULL,
    embedding    BLOB NOT NULL,
    created_at   INTEGER NOT NULL,
    PRIMARY KEY (content_hash, provider, model)
) STRICT, WITHOUT ROWID;

CREATE TABLE project_knowledge (
    id             TEXT PRIMARY KEY,
    project_id     TEXT NOT NULL REFERENCES projects (id),
    file_path      TEXT,
    knowledge_type TEXT NOT NULL,             -- architecture, pattern, convention, decision, preference
    content        TEXT NOT NULL,
    memory         INTEGER REFERENCES memories (rowid) ON DELETE CASCADE,
    created_at     INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX knowledge_by_project ON project_knowledge (project_id, updated_at DESC);
CREATE INDEX knowledge_by_memory ON project_knowledge (memory);

CREATE TABLE session_history (
    session_id     TEXT PRIMARY KEY,
    project_id     TEXT NOT NULL REFERENCES projects (id),
    cwd            TEXT NOT NULL,
    agent          TEXT NOT NULL,
    model          TEXT,
    started_at     INTEGER,
    ended_at       INTEGER,
    end_reason     TEXT,
    turns          INTEGER NOT NULL DEFAULT 0,
    summary        TEXT NOT NULL DEFAULT '',
    topics         TEXT NOT NULL DEFAULT '[]',
    files_modified TEXT NOT NULL DEFAULT '[]',
    policy         TEXT NOT NULL,
    policy_digest  TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_by_project ON session_history (project_id, ended_at DESC);

-- What is restored after a compaction: goal, progress, decisions, discoveries, state.
CREATE TABLE session_context (
    session_id TEXT PRIMARY KEY,
    saved_at   INTEGER NOT NULL,
    moment     TEXT NOT NULL,
    notes      TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- How far each transcript has been read. `version` counts writes, so that two hooks cannot both move a cursor.
CREATE TABLE transcripts (
    path         TEXT PRIMARY KEY,
    session_id   TEXT NOT NULL,
    device       INTEGER NOT NULL,
    inode        INTEGER NOT NULL,
    size         INTEGER NOT NULL,
    modified     INTEGER NOT NULL,
    byte_offset  INTEGER NOT NULL,
    last_uuid    TEXT,
    lines        INTEGER NOT NULL DEFAULT 0,
    malformed    INTEGER NOT NULL DEFAULT 0,
    oversized    INTEGER NOT NULL DEFAULT 0,  -- lines beyond the host's limit, skipped
    failures     INTEGER NOT NULL DEFAULT 0,  -- consecutive extractions that failed at this offset
    version      INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX transcripts_by_session ON transcripts (session_id);

-- The extractor's own state for a session, redacted like everything else.
CREATE TABLE extractor_states (
    session_id TEXT PRIMARY KEY,
    policy     TEXT NOT NULL,
    state      TEXT NOT NULL,
    version    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What happened, append-only.
CREATE TABLE events (
    event_id     INTEGER PRIMARY KEY,
    event_type   TEXT NOT NULL,
    session_id   TEXT NOT NULL,
    project_id   TEXT NOT NULL,
    timestamp    INTEGER NOT NULL,
    payload_json TEXT NOT NULL DEFAULT '{}'
) STRICT;
CREATE INDEX events_by_session ON events (session_id, event_id);

-- Memories that a session has been shown.
CREATE TABLE shown (
    session_id TEXT NOT NULL,
    memory     INTEGER NOT NULL REFERENCES memories (rowid) ON DELETE CASCADE,
    source     TEXT NOT NULL,
    at         INTEGER NOT NULL,
    PRIMARY KEY (session_id, memory)
) STRICT, WITHOUT ROWID;
CREATE INDEX shown_by_memory ON shown (memory);
