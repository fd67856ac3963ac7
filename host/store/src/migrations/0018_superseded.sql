-- The memories of a session in whose place a later one stands. A start asks for them for each recent session, and without an index
-- it read all memories of these sessions.
CREATE INDEX memories_superseded ON memories (session_id) WHERE superseded_by IS NOT NULL;
