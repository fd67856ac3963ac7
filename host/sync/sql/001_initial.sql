-- Team memory on PostgreSQL, version 1. Runs once, as a role that may create roles, in one transaction.
--
-- Every table begins its primary key with the tenant, which is also the key by which a server that shards would spread them.
-- Every table has FORCE ROW LEVEL SECURITY. Who somebody is follows from the login (session_user) and from nothing that a
-- client could set. Members own nothing, and may only read, and append to records and devices.

CREATE SCHEMA throughline AUTHORIZATION throughline_owner;
REVOKE ALL ON SCHEMA throughline FROM PUBLIC;
GRANT USAGE ON SCHEMA throughline TO throughline_member;
SET LOCAL ROLE throughline_owner;
SET LOCAL search_path = throughline, pg_catalog, pg_temp;

CREATE TABLE schema_version (
    version    integer PRIMARY KEY,
    applied_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE tenants (
    tenant     text PRIMARY KEY CHECK (tenant ~ '^[a-z0-9_]{1,24}$'),
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE members (
    tenant     text NOT NULL REFERENCES tenants,
    member     text NOT NULL CHECK (member ~ '^[a-z0-9_]{1,24}$'),
    login      text NOT NULL UNIQUE,
    role       text NOT NULL CHECK (role IN ('reader', 'contributor', 'curator', 'admin')),
    created_at timestamptz NOT NULL DEFAULT now(),
    revoked_at timestamptz,
    PRIMARY KEY (tenant, member)
);

CREATE TABLE devices (
    tenant        text NOT NULL,
    device        text NOT NULL CHECK (device ~ '^[0-9a-f]{32}$'),
    member        text NOT NULL,
    name          text NOT NULL CHECK (name ~ '^[A-Za-z0-9._-]{1,64}$'),
    registered_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant, device),
    FOREIGN KEY (tenant, member) REFERENCES members
);

-- What stays the same when a memory is edited, and who wrote it first.
CREATE TABLE items (
    tenant    text NOT NULL,
    item      text NOT NULL,
    member    text NOT NULL,
    buried_at timestamptz,
    PRIMARY KEY (tenant, item)
);

CREATE TABLE records (
    tenant      text NOT NULL,
    device      text NOT NULL,
    kind        text NOT NULL CHECK (kind IN ('memory', 'tombstone')),
    sequence    bigint NOT NULL CHECK (sequence > 0),
    hash        text NOT NULL CHECK (hash ~ '^[0-9a-f]{64}$'),
    item        text NOT NULL CHECK (item ~ '^[0-9a-f]{32}$'),
    target      text NOT NULL DEFAULT '' CHECK (target ~ '^([0-9a-f]{64})?$'),
    project     text NOT NULL DEFAULT '' CHECK (octet_length(project) <= 1024),
    member      text NOT NULL DEFAULT '',
    decides     boolean NOT NULL DEFAULT false,       -- whether the author may decide about the item; set by the server
    body        text CHECK (octet_length(body) <= 262144),
    words       tsvector GENERATED ALWAYS AS (
                    to_tsvector('simple', CASE WHEN kind = 'memory' THEN left(COALESCE(body, ''), 65536) ELSE '' END)) STORED,
    received_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant, device, kind, sequence),
    UNIQUE (tenant, hash),
    FOREIGN KEY (tenant, device) REFERENCES devices
);
CREATE INDEX records_by_item ON records (tenant, item);
CREATE INDEX records_by_words ON records USING gin (words) WHERE kind = 'memory';

-- How far each series goes, so that an unchanged sync reads one small table.
CREATE TABLE series (
    tenant  text NOT NULL,
    device  text NOT NULL,
    kind    text NOT NULL,
    last    bigint NOT NULL,
    records bigint NOT NULL,
    PRIMARY KEY (tenant, device, kind)
);

-- Append-only.
CREATE TABLE audit (
    tenant text NOT NULL,
    number bigint GENERATED ALWAYS AS IDENTITY,
    at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    login  text NOT NULL DEFAULT session_user,
    action text NOT NULL,
    detail text NOT NULL DEFAULT '',
    PRIMARY KEY (tenant, number)
);

-- What may not be in a body: a last check of what redaction should have removed.
CREATE TABLE secret_rules (
    tenant  text NOT NULL,                            -- empty for all tenants
    name    text NOT NULL,
    pattern text NOT NULL,
    PRIMARY KEY (tenant, name)
);
INSERT INTO secret_rules (tenant, name, pattern) VALUES
    ('', 'private-key', '-----BEGIN [A-Z ]*PRIVATE KEY'),
    ('', 'aws-access-key', '\m(AKIA|ASIA)[A-Z0-9]{16}\M'),
    ('', 'github-token', '\m(gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{50,})'),
    ('', 'slack-token', '\mxox[abprs]-[A-Za-z0-9-]{10,}'),
    ('', 'openai-key', '\msk-[A-Za-z0-9_-]{32,}'),
    ('', 'stripe-key', '\m[rs]k_live_[A-Za-z0-9]{16,}'),
    ('', 'google-key', '\mAIza[A-Za-z0-9_-]{35}'),
    ('', 'json-web-token', '\meyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}'),
    ('', 'password-in-url', '://[^/\s:@"]+:[^/\s:@"*<\[]{3,}@'),
    ('', 'assigned-password', '(?i)\m(password|passwd|secret|api_?key|auth_?token)\M\s*[:=]\s*[''"\\]*[A-Za-z0-9+/_=.-]*[0-9][A-Za-z0-9+/_=.-]{11,}');

-- Who the login is. The functions belong to the owner, so that they can be asked before any row may be seen.
CREATE FUNCTION my_tenant() RETURNS text LANGUAGE sql STABLE SECURITY DEFINER SET search_path = throughline, pg_catalog, pg_temp AS
    $$ SELECT tenant FROM members WHERE login = session_user AND revoked_at IS NULL $$;
CREATE FUNCTION my_member() RETURNS text LANGUAGE sql STABLE SECURITY DEFINER SET search_path = throughline, pg_catalog, pg_temp AS
    $$ SELECT member FROM members WHERE login = session_user AND revoked_at IS NULL $$;
CREATE FUNCTION my_role() RETURNS text LANGUAGE sql STABLE SECURITY DEFINER SET search_path = throughline, pg_catalog, pg_temp AS
    $$ SELECT role FROM members WHERE login = session_user AND revoked_at IS NULL $$;

-- Returns the rule that finds a secret in the text.
CREATE FUNCTION secret_in(text, text) RETURNS text LANGUAGE sql STABLE SECURITY DEFINER SET search_path = throughline, pg_catalog, pg_temp AS
    $$ SELECT name FROM secret_rules WHERE tenant IN ('', $1) AND $2 ~ pattern ORDER BY name LIMIT 1 $$;

CREATE FUNCTION audit_device() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = throughline, pg_catalog, pg_temp AS $$
BEGIN
    INSERT INTO audit (tenant, action, detail) VALUES (NEW.tenant, 'device', NEW.device || ' ' || NEW.name);
    RETURN NULL;
END $$;
CREATE TRIGGER audit_device AFTER INSERT ON devices FOR EACH ROW EXECUTE FUNCTION audit_device();

CREATE FUNCTION audit_member() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = throughline, pg_catalog, pg_temp AS $$
BEGIN
    INSERT INTO audit (tenant, action, detail)
        VALUES (NEW.tenant, CASE WHEN NEW.revoked_at IS NULL THEN 'invite' ELSE 'revoke' END, NEW.member || ' ' || NEW.role);
    RETURN NULL;
END $$;
CREATE TRIGGER audit_member AFTER INSERT OR UPDATE ON members FOR EACH ROW EXECUTE FUNCTION audit_member();

-- Not even the owner changes the audit.
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'the audit is append-only' USING ERRCODE = 'TL004'; END $$;
CREATE TRIGGER audit_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON audit FOR EACH STATEMENT EXECUTE FUNCTION refuse();

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['schema_version', 'tenants', 'members', 'devices', 'items', 'records', 'series', 'audit', 'secret_rules'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        -- For the functions above, which run as the owner. Nobody logs in as the owner.
        EXECUTE format('CREATE POLICY owner ON %I TO throughline_owner USING (true) WITH CHECK (true)', name);
    END LOOP;
END $$;

CREATE POLICY read ON schema_version FOR SELECT TO throughline_member USING (true);
CREATE POLICY read ON tenants FOR SELECT TO throughline_member USING (tenant = (SELECT my_tenant()));
CREATE POLICY read ON members FOR SELECT TO throughline_member USING (tenant = (SELECT my_tenant()));
CREATE POLICY read ON devices FOR SELECT TO throughline_member USING (tenant = (SELECT my_tenant()));
CREATE POLICY append ON devices FOR INSERT TO throughline_member
    WITH CHECK (tenant = (SELECT my_tenant()) AND member = (SELECT my_member()));
CREATE POLICY read ON records FOR SELECT TO throughline_member USING (tenant = (SELECT my_tenant()));
CREATE POLICY append ON records FOR INSERT TO throughline_member
    WITH CHECK (tenant = (SELECT my_tenant()) AND (SELECT my_role()) IN ('contributor', 'curator', 'admin')
                AND device IN (SELECT d.device FROM devices d
                               WHERE d.tenant = (SELECT my_tenant()) AND d.member = (SELECT my_member())));
CREATE POLICY read ON series FOR SELECT TO throughline_member USING (tenant = (SELECT my_tenant()));
CREATE POLICY read ON audit FOR SELECT TO throughline_member
    USING (tenant = (SELECT my_tenant()) AND (SELECT my_role()) = 'admin');

GRANT SELECT ON schema_version, tenants, members, devices, records, series, audit TO throughline_member;
GRANT INSERT (tenant, device, member, name) ON devices TO throughline_member;
GRANT INSERT (tenant, device, kind, sequence, hash, item, target, project, body) ON records TO throughline_member;
REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA throughline FROM PUBLIC;
GRANT EXECUTE ON FUNCTION my_tenant(), my_member(), my_role() TO throughline_member;

INSERT INTO schema_version (version) VALUES (1);
