-- Old memories that were folded into a digest, a memory of the same type (store/digests.rs). They stay, name their digest, and
-- are in no index and no list.
ALTER TABLE memories ADD COLUMN digest INTEGER REFERENCES memories (rowid) ON DELETE SET NULL;
CREATE INDEX memories_by_digest ON memories (digest) WHERE digest IS NOT NULL;

CREATE TABLE digests (
    memory    INTEGER PRIMARY KEY REFERENCES memories (rowid) ON DELETE CASCADE,
    made_at   INTEGER NOT NULL,
    purged_at INTEGER                         -- since then the texts of what it was made of are gone
) STRICT;

-- When old memories of the project were last folded without anybody's asking.
ALTER TABLE projects ADD COLUMN compressed_at INTEGER;
