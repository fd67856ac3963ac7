-- What happens when a record is appended. Runs after `001_initial.sql`, and again each time the server is set up, so that a server
-- gets the functions of this version.

SET LOCAL ROLE throughline_owner;
SET LOCAL search_path = throughline, pg_catalog, pg_temp;

-- Sets what a client may not, and refuses what may not be stored.
CREATE OR REPLACE FUNCTION check_record() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = throughline, pg_catalog, pg_temp AS $$
DECLARE
    parsed jsonb;
    found text;
    creator text;
    buried timestamptz;
    team_seal text;
BEGIN
    -- A row of another tenant is for the row level security to refuse.
    IF NEW.tenant IS DISTINCT FROM my_tenant() THEN
        RETURN NEW;
    END IF;
    NEW.member := my_member();
    NEW.received_at := now();
    IF NEW.body IS NULL OR NEW.hash <> encode(sha256(convert_to(NEW.body, 'UTF8')), 'hex') THEN
        RAISE EXCEPTION 'the hash is not that of the body' USING ERRCODE = 'TL002', DETAIL = NEW.hash;
    END IF;
    BEGIN
        parsed := NEW.body::jsonb;
    EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
        -- One record that cannot be read must not hold up the others: JSON may name a NUL, and jsonb has none.
        RAISE EXCEPTION 'the body is no JSON that the server can read' USING ERRCODE = 'TL002', DETAIL = NEW.hash;
    END;
    IF (parsed ->> 'item') IS DISTINCT FROM NEW.item OR COALESCE(parsed ->> 'target', '') <> NEW.target
       OR COALESCE(parsed ->> 'project', '') <> NEW.project THEN
        RAISE EXCEPTION 'the body names another item, target or project' USING ERRCODE = 'TL002', DETAIL = NEW.hash;
    END IF;
    SELECT seal INTO team_seal FROM tenants WHERE tenant = NEW.tenant;
    IF NEW.kind = 'memory' AND (parsed ? 'sealed') <> (team_seal <> '') THEN
        RAISE EXCEPTION '%', CASE team_seal WHEN '' THEN 'this team is not sealed, and the record is' ELSE 'this team is sealed, and the record is not' END
            USING ERRCODE = 'TL005', DETAIL = NEW.hash;
    END IF;
    IF NEW.kind = 'memory' AND team_seal <> '' THEN
        -- A file of age in base64, and nothing beside it that could be read.
        IF parsed - ARRAY['v', 'item', 'key', 'sealed'] <> '{}' OR (parsed ->> 'key') IS DISTINCT FROM team_seal
           OR COALESCE(parsed ->> 'sealed', '') !~ '^YWdlLWVuY3J5cHRpb24ub3JnL3Yx[A-Za-z0-9+/]+=*$' THEN
            RAISE EXCEPTION 'the body is not sealed with the key of the team' USING ERRCODE = 'TL002', DETAIL = NEW.hash;
        END IF;
    ELSE
        found := secret_in(NEW.tenant, NEW.body);
    END IF;
    IF found IS NOT NULL THEN
        RAISE EXCEPTION 'it looks like a secret: %', found USING ERRCODE = 'TL001', DETAIL = NEW.hash;
    END IF;
    INSERT INTO items (tenant, item, member) VALUES (NEW.tenant, NEW.item, NEW.member) ON CONFLICT DO NOTHING;
    -- A tombstone and a memory of one item wait for each other, or each could miss what the other one does.
    IF NEW.kind = 'tombstone' THEN
        SELECT member INTO creator FROM items WHERE tenant = NEW.tenant AND item = NEW.item FOR NO KEY UPDATE;
    ELSE
        SELECT member, buried_at INTO creator, buried FROM items WHERE tenant = NEW.tenant AND item = NEW.item FOR SHARE;
    END IF;
    NEW.decides := creator = NEW.member OR my_role() IN ('curator', 'admin');
    IF NEW.kind = 'tombstone' THEN
        IF NOT NEW.decides THEN
            RAISE EXCEPTION 'only its author or a curator may delete it' USING ERRCODE = 'TL003', DETAIL = NEW.hash;
        END IF;
    ELSIF buried IS NOT NULL OR EXISTS (SELECT 1 FROM records WHERE tenant = NEW.tenant AND item = NEW.item AND target = NEW.hash) THEN
        -- A tombstone wins, also over what comes later.
        NEW.body := NULL;
    END IF;
    RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER check_record BEFORE INSERT ON records FOR EACH ROW EXECUTE FUNCTION check_record();

-- Counts series, and erases the texts of what tombstones name.
CREATE OR REPLACE FUNCTION after_records() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = throughline, pg_catalog, pg_temp AS $$
BEGIN
    INSERT INTO series AS s (tenant, device, kind, last, records)
        SELECT tenant, device, kind, max(sequence), count(*) FROM added GROUP BY tenant, device, kind
        ON CONFLICT (tenant, device, kind) DO UPDATE SET last = greatest(s.last, excluded.last), records = s.records + excluded.records;
    IF EXISTS (SELECT 1 FROM added WHERE kind = 'tombstone') THEN
        UPDATE items i SET buried_at = now() FROM added a
            WHERE a.kind = 'tombstone' AND a.target = '' AND i.tenant = a.tenant AND i.item = a.item AND i.buried_at IS NULL;
        UPDATE records r SET body = NULL, project = '' FROM added a
            WHERE a.kind = 'tombstone' AND r.tenant = a.tenant AND r.item = a.item AND r.kind = 'memory'
              AND (a.target = '' OR r.hash = a.target) AND r.body IS NOT NULL;
        INSERT INTO audit (tenant, action, detail) SELECT tenant, 'delete', item FROM added WHERE kind = 'tombstone';
    END IF;
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER after_records AFTER INSERT ON records REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION after_records();

-- Seals a team that has no texts yet, with the key of this fingerprint. Returns the fingerprint of the key that seals it.
CREATE OR REPLACE FUNCTION seal(text) RETURNS text LANGUAGE plpgsql SECURITY DEFINER SET search_path = throughline, pg_catalog, pg_temp AS $$
DECLARE
    mine text := my_tenant();
BEGIN
    IF COALESCE(my_role(), '') NOT IN ('curator', 'admin') THEN
        RAISE EXCEPTION 'only a curator or an admin seals a team' USING ERRCODE = 'TL006';
    END IF;
    -- What is being appended at this moment is waited for.
    LOCK TABLE records IN SHARE ROW EXCLUSIVE MODE;
    IF EXISTS (SELECT 1 FROM tenants WHERE tenant = mine AND seal = '')
       AND EXISTS (SELECT 1 FROM records WHERE tenant = mine AND kind = 'memory' AND body IS NOT NULL) THEN
        RAISE EXCEPTION 'the team has texts that are not sealed' USING ERRCODE = 'TL006';
    END IF;
    UPDATE tenants SET seal = $1 WHERE tenant = mine AND seal = '';
    IF FOUND THEN
        INSERT INTO audit (tenant, action, detail) VALUES (mine, 'seal', $1);
    END IF;
    RETURN (SELECT seal FROM tenants WHERE tenant = mine);
END $$;

REVOKE EXECUTE ON FUNCTION check_record(), after_records(), seal(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION seal(text) TO throughline_member;
