-- Which later memory about the same may have changed this one (store/supersessions.rs).
--
-- Comparisons made with an older build did not tell such links from others. They are made anew; what a person stated or undid stays.
DELETE FROM supersessions WHERE relation = 'follows' AND similarity IS NOT NULL AND undone_at IS NULL;
UPDATE projects SET compared = 0;

ALTER TABLE supersessions ADD COLUMN may_change INTEGER NOT NULL DEFAULT 0;  -- of 'follows': the later one may have (1) or likely has (2) changed it

-- The row of the newest such memory.
ALTER TABLE memories ADD COLUMN revisited_by INTEGER;

DROP TRIGGER supersession_made;
DROP TRIGGER supersession_changed;
DROP TRIGGER supersession_gone;

CREATE TRIGGER supersession_made AFTER INSERT ON supersessions BEGIN
    UPDATE memories SET
        superseded_by = (SELECT s.newer FROM supersessions s JOIN memories n ON n.rowid = s.newer
                         WHERE s.older = new.older AND s.undone_at IS NULL AND s.relation <> 'follows'
                         ORDER BY n.created_at DESC, s.newer DESC LIMIT 1),
        followed_by = (SELECT s.newer FROM supersessions s JOIN memories n ON n.rowid = s.newer
                       WHERE s.older = new.older AND s.undone_at IS NULL AND s.relation = 'follows'
                       ORDER BY n.created_at DESC, s.newer DESC LIMIT 1),
        revisited_by = (SELECT s.newer FROM supersessions s JOIN memories n ON n.rowid = s.newer
                        WHERE s.older = new.older AND s.undone_at IS NULL AND s.may_change <> 0
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
                       ORDER BY n.created_at DESC, s.newer DESC LIMIT 1),
        revisited_by = (SELECT s.newer FROM supersessions s JOIN memories n ON n.rowid = s.newer
                        WHERE s.older = new.older AND s.undone_at IS NULL AND s.may_change <> 0
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
                       ORDER BY n.created_at DESC, s.newer DESC LIMIT 1),
        revisited_by = (SELECT s.newer FROM supersessions s JOIN memories n ON n.rowid = s.newer
                        WHERE s.older = old.older AND s.undone_at IS NULL AND s.may_change <> 0
                        ORDER BY n.created_at DESC, s.newer DESC LIMIT 1)
    WHERE rowid = old.older;
END;
