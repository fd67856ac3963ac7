-- Which later memory took the place of an earlier one, and which ones are about the same (store/supersessions.rs).
CREATE TABLE supersessions (
    older      INTEGER NOT NULL REFERENCES memories (rowid) ON DELETE CASCADE,
    newer      INTEGER NOT NULL REFERENCES memories (rowid) ON DELETE CASCADE,
    relation   TEXT NOT NULL,                 -- amends, reverses, refutes, completes; follows: only about the same
    similarity REAL,                          -- of their texts, 0 to 1; NULL if a person or an agent said so
    made_at    INTEGER NOT NULL,
    undone_at  INTEGER,                       -- when a person undid it; the row stays, so that it is not made again
    PRIMARY KEY (older, newer)
) STRICT, WITHOUT ROWID;
CREATE INDEX supersessions_by_newer ON supersessions (newer);

-- Rows of the newest memory that took this one's place, and of the newest one that is about the same. They follow from
-- the table above, and a search reads them with the row.
ALTER TABLE memories ADD COLUMN superseded_by INTEGER;
ALTER TABLE memories ADD COLUMN followed_by INTEGER;

-- Up to which row a project's memories were compared with the others.
ALTER TABLE projects ADD COLUMN compared INTEGER NOT NULL DEFAULT 0;

CREATE TRIGGER supersession_made AFTER INSERT ON supersessions BEGIN
    UPDATE memories SET
        superseded_by = (SELECT s.newer FROM supersessions s JOIN memories n ON n.rowid = s.newer
                         WHERE s.older = new.older AND s.undone_at IS NULL AND s.relation <> 'follows'
                         ORDER BY n.created_at DESC, s.newer DESC LIMIT 1),
        followed_by = (SELECT s.newer FROM supersessions s JOIN memories n ON n.rowid = s.newer
                       WHERE s.older = new.older AND s.undone_at IS NULL AND s.relation = 'follows'
                       ORDER BY n.created_at DESC, s.newer DESC LIMIT 1)
    WHERE rowid = new.older;
END;

CREATE TRIGGER supersession_changed AFTER UPDATE ON supersessions BEGIN
    UPDATE memories SET
        superseded_by = (SELECT s.newer FROM supersessions s JOIN memories n ON n.rowid = s.newer
                         WHERE s.older = new.older AND s.undone_at IS NULL AND s.relation <> 'follows'
                         ORDER BY n.created_at DESC, s.newer DESC LIMIT 1),
        followed_by = (SELECT s.newer FROM supersessions s JOIN memories n ON n.rowid = s.newer
                       WHERE s.older = new.older AND s.undone_at IS NULL AND s.relation = 'follows'
                       ORDER BY n.created_at DESC, s.newer DESC LIMIT 1)
    WHERE rowid = new.older;
END;

CREATE TRIGGER supersession_gone AFTER DELETE ON supersessions BEGIN
    UPDATE memories SET
        superseded_by = (SELECT s.newer FROM supersessions s JOIN memories n ON n.rowid = s.newer
                         WHERE s.older = old.older AND s.undone_at IS NULL AND s.relation <> 'follows'
                         ORDER BY n.created_at DESC, s.newer DESC LIMIT 1),
        followed_by = (SELECT s.newer FROM supersessions s JOIN memories n ON n.rowid = s.newer
                       WHERE s.older = old.older AND s.undone_at IS NULL AND s.relation = 'follows'
                       ORDER BY n.created_at DESC, s.newer DESC LIMIT 1)
    WHERE rowid = old.older;
END;
