-- The full-text table without places and columns: what is worth ranking is read from the memories themselves (search/score.rs),
-- and lists of rows alone are a third as long. It is filled anew from the memories (store/reindex.rs).
DROP TABLE memories_fts;
CREATE VIRTUAL TABLE memories_fts USING fts5 (
    words,
    content = '', contentless_delete = 1, detail = none,
    tokenize = "ascii tokenchars '_'"
);

-- What is listed by age or weight over all kinds is listed kind by kind.
DROP INDEX memories_by_time;
DROP INDEX memories_by_weight;

-- What a memory means, as numbers. (The column memories.embedding, of the first schema, stays empty: a memory has a vector
-- a piece, and rows without them are read faster.)

-- A vector a piece, eight bits a number: search/vector.rs. Which model made them stands in meta, under `embedding`.
CREATE TABLE vectors (
    piece  INTEGER PRIMARY KEY,               -- as memories_fts.rowid
    vector BLOB NOT NULL
) STRICT;

-- Two bits a number, of the pieces of 28 memories in a row: what a search of a large project looks through first.
CREATE TABLE vector_codes (
    block INTEGER PRIMARY KEY,                -- memories.rowid / 28
    codes BLOB NOT NULL
) STRICT;

-- Memories whose vectors are still to be made.
CREATE TABLE unembedded (
    memory INTEGER PRIMARY KEY REFERENCES memories (rowid) ON DELETE CASCADE
) STRICT;
INSERT INTO unembedded (memory) SELECT rowid FROM memories;
