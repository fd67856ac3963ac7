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
    found := secret_in(NEW.tenant, NEW.body);
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

REVOKE EXECUTE ON FUNCTION check_record(), after_records() FROM PUBLIC;
