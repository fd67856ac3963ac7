-- Texts that leave encrypted, and records that cannot be opened here (store/team/sealing.rs).

-- The ciphertext of `body`, made when the record got its place in the series. From then on `hash` is the SHA-256 of this text.
-- It is made once, because it is another one each time.
ALTER TABLE team_records ADD COLUMN sealed TEXT;
CREATE TRIGGER team_sealed_goes AFTER UPDATE OF body ON team_records
    WHEN old.sealed IS NOT NULL AND new.body IS NOT old.body BEGIN
    UPDATE team_records SET sealed = NULL WHERE number = new.number;
END;

-- Where the records are that this machine's key does not open. They are read again with another key.
CREATE TABLE team_unopened (
    hash     TEXT PRIMARY KEY,
    device   TEXT NOT NULL,
    kind     TEXT NOT NULL,
    sequence INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
