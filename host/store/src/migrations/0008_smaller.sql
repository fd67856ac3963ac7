-- Makes a memory without its text a quarter smaller: half of its hash's bits are enough, indexes use the project's
-- number from the row number, and project_knowledge becomes a view. (migrations.rs turns foreign keys off meanwhile:
-- dropping a table would delete the rows that refer to it.)
CREATE TABLE memories_2 (
    rowid         INTEGER PRIMARY KEY,        -- projects.number * 2^32 + a count: a project is one range
    id            TEXT NOT NULL UNIQUE,
    project_id    TEXT NOT NULL REFERENCES projects (id),
    project       INTEGER GENERATED ALWAYS AS (rowid >> 32) VIRTUAL,
    session_id    TEXT NOT NULL,              -- where it was first learned
    type          TEXT NOT NULL,
    title         TEXT NOT NULL,
    content       TEXT NOT NULL,
    content_hash  BLOB NOT NULL,              -- of type and content: the first 16 bytes of the SHA-256
    keywords      TEXT NOT NULL DEFAULT '[]',
    files         TEXT NOT NULL DEFAULT '[]',
    metadata      TEXT NOT NULL DEFAULT '[]', -- the policy's own attributes
    importance    REAL NOT NULL,
    weight        REAL NOT NULL,              -- importance plus a bonus for repeated occurrences: the sort key of lists
    seen_count    INTEGER NOT NULL DEFAULT 1,
    created_at    INTEGER NOT NULL,
    accessed_at   INTEGER,
    access_count  INTEGER NOT NULL DEFAULT 0,
    maker         INTEGER NOT NULL,           -- makers.number
    digest        INTEGER REFERENCES memories (rowid) ON DELETE SET NULL,
    UNIQUE (content_hash, project)
) STRICT;
INSERT INTO memories_2 (rowid, id, project_id, session_id, type, title, content, content_hash, keywords, files, metadata, importance,
                        weight, seen_count, created_at, accessed_at, access_count, maker, digest)
    SELECT rowid, id, project_id, session_id, type, title, content, substr(content_hash, 1, 16), keywords, files, metadata, importance,
           weight, seen_count, created_at, accessed_at, access_count, maker, digest FROM memories ORDER BY rowid;
DROP TABLE project_knowledge;
DROP TABLE memories;
ALTER TABLE memories_2 RENAME TO memories;
CREATE INDEX memories_by_kind_and_time   ON memories (project, type, created_at DESC);
CREATE INDEX memories_by_kind_and_weight ON memories (project, type, weight DESC, created_at DESC);
CREATE INDEX memories_by_session ON memories (session_id, created_at);
CREATE INDEX memories_by_digest ON memories (digest) WHERE digest IS NOT NULL;

CREATE VIEW project_knowledge AS
    SELECT id, project_id, files ->> 0 AS file_path, type AS knowledge_type, title AS content, created_at, created_at AS updated_at
    FROM memories WHERE digest IS NULL AND type IN ('architecture', 'pattern', 'convention', 'preference');

UPDATE tombstones SET content_hash = substr(content_hash, 1, 16);

-- Keys that identify imported memories: 64 bits are enough among the imports of one session.
UPDATE OR IGNORE sightings SET key = substr(key, 1, 23) WHERE key LIKE 'import:%';
