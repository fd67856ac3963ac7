-- What a person said of a memory (store/marking.rs): that it is always told, or that it is wrong.
ALTER TABLE memories ADD COLUMN pinned_at INTEGER;
ALTER TABLE memories ADD COLUMN wrong_at INTEGER;
CREATE INDEX memories_pinned ON memories (project) WHERE pinned_at IS NOT NULL;
CREATE INDEX memories_wrong ON memories (project) WHERE wrong_at IS NOT NULL;

DROP VIEW project_knowledge;
CREATE VIEW project_knowledge AS
    SELECT id, project_id, files ->> 0 AS file_path, type AS knowledge_type, title AS content, created_at, created_at AS updated_at
    FROM memories WHERE digest IS NULL AND wrong_at IS NULL AND type IN ('architecture', 'pattern', 'convention', 'preference');

-- The links that count: nobody undid them, and the later memory is not wrong.
CREATE VIEW links_in_force AS
    SELECT s.older, s.newer, s.relation, s.may_change, n.created_at
    FROM supersessions s JOIN memories n ON n.rowid = s.newer WHERE s.undone_at IS NULL AND n.wrong_at IS NULL;

DROP TRIGGER supersession_made;
DROP TRIGGER supersession_changed;
DROP TRIGGER supersession_gone;

CREATE TRIGGER supersession_made AFTER INSERT ON supersessions BEGIN
    UPDATE memories SET
        superseded_by = (SELECT newer FROM links_in_force WHERE older = new.older AND relation <> 'follows'
                         ORDER BY created_at DESC, newer DESC LIMIT 1),
        followed_by = (SELECT newer FROM links_in_force WHERE older = new.older AND relation = 'follows'
                       ORDER BY created_at DESC, newer DESC LIMIT 1),
        revisited_by = (SELECT newer FROM links_in_force WHERE older = new.older AND may_change <> 0
                        ORDER BY created_at DESC, newer DESC LIMIT 1)
    WHERE rowid = new.older;
END;

CREATE TRIGGER supersession_changed AFTER UPDATE ON supersessions BEGIN
    UPDATE memories SET
        superseded_by = (SELECT newer FROM links_in_force WHERE older = new.older AND relation <> 'follows'
                         ORDER BY created_at DESC, newer DESC LIMIT 1),
        followed_by = (SELECT newer FROM links_in_force WHERE older = new.older AND relation = 'follows'
                       ORDER BY created_at DESC, newer DESC LIMIT 1),
        revisited_by = (SELECT newer FROM links_in_force WHERE older = new.older AND may_change <> 0
                        ORDER BY created_at DESC, newer DESC LIMIT 1)
    WHERE rowid = new.older;
END;

CREATE TRIGGER supersession_gone AFTER DELETE ON supersessions BEGIN
    UPDATE memories SET
        superseded_by = (SELECT newer FROM links_in_force WHERE older = old.older AND relation <> 'follows'
                         ORDER BY created_at DESC, newer DESC LIMIT 1),
        followed_by = (SELECT newer FROM links_in_force WHERE older = old.older AND relation = 'follows'
                       ORDER BY created_at DESC, newer DESC LIMIT 1),
        revisited_by = (SELECT newer FROM links_in_force WHERE older = old.older AND may_change <> 0
                        ORDER BY created_at DESC, newer DESC LIMIT 1)
    WHERE rowid = old.older;
END;

-- What a wrong memory took the place of holds again.
CREATE TRIGGER memory_wrong AFTER UPDATE OF wrong_at ON memories WHEN old.wrong_at IS NOT new.wrong_at BEGIN
    UPDATE memories SET
        superseded_by = (SELECT l.newer FROM links_in_force l WHERE l.older = memories.rowid AND l.relation <> 'follows'
                         ORDER BY l.created_at DESC, l.newer DESC LIMIT 1),
        followed_by = (SELECT l.newer FROM links_in_force l WHERE l.older = memories.rowid AND l.relation = 'follows'
                       ORDER BY l.created_at DESC, l.newer DESC LIMIT 1),
        revisited_by = (SELECT l.newer FROM links_in_force l WHERE l.older = memories.rowid AND l.may_change <> 0
                        ORDER BY l.created_at DESC, l.newer DESC LIMIT 1)
    WHERE rowid IN (SELECT older FROM supersessions WHERE newer = new.rowid);
END;
