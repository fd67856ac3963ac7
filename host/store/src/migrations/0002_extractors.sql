-- Several extractors can read one session: each has its own state, and additional extractors have their own position in
-- the transcript.
CREATE TABLE extractor_states_2 (
    session_id TEXT NOT NULL,
    policy     TEXT NOT NULL,
    state      TEXT NOT NULL,
    read_to    INTEGER,             -- bytes; NULL: as far as the cursor
    version    INTEGER NOT NULL,
    PRIMARY KEY (session_id, policy)
) STRICT, WITHOUT ROWID;
INSERT INTO extractor_states_2 (session_id, policy, state, version)
    SELECT session_id, policy, state, version FROM extractor_states;
DROP TABLE extractor_states;
ALTER TABLE extractor_states_2 RENAME TO extractor_states;
