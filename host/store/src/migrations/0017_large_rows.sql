-- Gives the tables with large rows a row number. Without one SQLite keeps a row in its key's tree, and to compare a key it reads the
-- whole row of each that it passes: a hook in a project of 60 sessions read 719 pages only for that.
CREATE TABLE session_history_next (
    session_id     TEXT PRIMARY KEY NOT NULL,
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
) STRICT;
INSERT INTO session_history_next
    SELECT session_id, project_id, cwd, agent, model, started_at, ended_at, end_reason, turns, summary, topics, files_modified, policy,
           policy_digest FROM session_history;
DROP TABLE session_history;
ALTER TABLE session_history_next RENAME TO session_history;
CREATE INDEX sessions_by_project ON session_history (project_id, ended_at DESC);

CREATE TABLE session_context_next (
    session_id TEXT PRIMARY KEY NOT NULL,
    saved_at   INTEGER NOT NULL,
    moment     TEXT NOT NULL,
    notes      TEXT NOT NULL
) STRICT;
INSERT INTO session_context_next SELECT session_id, saved_at, moment, notes FROM session_context;
DROP TABLE session_context;
ALTER TABLE session_context_next RENAME TO session_context;

CREATE TABLE extractor_states_next (
    session_id TEXT NOT NULL,
    policy     TEXT NOT NULL,
    state      TEXT NOT NULL,
    read_to    INTEGER,             -- bytes; NULL: as far as the cursor
    version    INTEGER NOT NULL,
    PRIMARY KEY (session_id, policy)
) STRICT;
INSERT INTO extractor_states_next SELECT session_id, policy, state, read_to, version FROM extractor_states;
DROP TABLE extractor_states;
ALTER TABLE extractor_states_next RENAME TO extractor_states;
