-- The full-text table without positions and columns: ranking reads the memories themselves (search/score.rs), and an
-- index of row numbers alone takes a third of the space. It is refilled from the memories (store/reindex.rs).
DROP TABLE memories_fts;
CREATE VIRTUAL TABLE memories_fts USING fts5 (
    words,
    content = '', contentless_delete = 1, detail = none,
    tokenize = "ascii tokenchars '_'"
);

-- Lists over all kinds by time or weight are made kind by kind.
DROP INDEX memories_by_time;
DROP INDEX memories_by_weight;

-- Embedding vectors. (The column memories.embedding of the first schema stays empty: a memory has one vector per piece,
-- and rows without vectors are faster to read.)

-- One vector per piece, eight bits per number: search/vector.rs. The model is stored in meta, under `embedding`.
CREATE TABLE vectors (
    piece  INTEGER PRIMARY KEY,               -- as memories_fts.rowid
    vector BLOB NOT NULL
) STRICT;

-- Two bits per number, for the pieces of 28 consecutive memories: a search of a large project scans these first.
CREATE TABLE vector_codes (
    block INTEGER PRIMARY KEY,                -- memories.rowid / 28
    codes BLOB NOT NULL
) STRICT;

-- Memories whose vectors are still to be made.
CREATE TABLE unembedded (
    memory INTEGER PRIMARY KEY REFERENCES memories (rowid) ON DELETE CASCADE
) STRICT;
INSERT INTO unembedded (memory) SELECT rowid FROM memories;
