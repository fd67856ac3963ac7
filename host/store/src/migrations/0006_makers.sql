-- Refers to the policy that made a memory by number, and drops index columns that follow from the row: saves a tenth of
-- a database.
CREATE TABLE makers (
    number INTEGER PRIMARY KEY,
    policy TEXT NOT NULL,
    digest TEXT NOT NULL,                     -- SHA-256 of its component
    UNIQUE (policy, digest)
) STRICT;
INSERT INTO makers (policy, digest) SELECT DISTINCT policy, policy_digest FROM memories;
ALTER TABLE memories ADD COLUMN maker INTEGER NOT NULL DEFAULT 0;
UPDATE memories SET maker = (SELECT number FROM makers a WHERE a.policy = memories.policy AND a.digest = memories.policy_digest);
ALTER TABLE memories DROP COLUMN policy;
ALTER TABLE memories DROP COLUMN policy_digest;
ALTER TABLE memories DROP COLUMN embedding;
DROP INDEX memories_by_kind_and_time;
DROP INDEX memories_by_kind_and_weight;
CREATE INDEX memories_by_kind_and_time   ON memories (project_id, type, created_at DESC);
CREATE INDEX memories_by_kind_and_weight ON memories (project_id, type, weight DESC, created_at DESC);
