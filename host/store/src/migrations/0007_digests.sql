-- Old memories that were folded into a digest, which is a memory of the same type (store/digests.rs). They stay in the
-- table, refer to their digest, and are in no index and no list.
ALTER TABLE memories ADD COLUMN digest INTEGER REFERENCES memories (rowid) ON DELETE SET NULL;
CREATE INDEX memories_by_digest ON memories (digest) WHERE digest IS NOT NULL;

CREATE TABLE digests (
    memory    INTEGER PRIMARY KEY REFERENCES memories (rowid) ON DELETE CASCADE,
    made_at   INTEGER NOT NULL,
    purged_at INTEGER                         -- when the texts of its sources were purged
) STRICT;

-- When old memories of the project were last folded in the background.
ALTER TABLE projects ADD COLUMN compressed_at INTEGER;
