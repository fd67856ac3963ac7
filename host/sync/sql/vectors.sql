-- Vectors for search on the server, where pgvector 0.8.4 or newer is installed. Runs once after the schema.
--
-- Filters apply after a scan of an HNSW index, so the index is scanned on until there are enough rows (hnsw.iterative_scan).

SET LOCAL ROLE throughline_owner;
SET LOCAL search_path = throughline, public, pg_catalog;

CREATE TABLE vectors (
    tenant text NOT NULL,
    hash   text NOT NULL,
    vector halfvec(DIMS) NOT NULL,
    PRIMARY KEY (tenant, hash),
    FOREIGN KEY (tenant, hash) REFERENCES records (tenant, hash)
);
CREATE INDEX vectors_by_direction ON vectors USING hnsw (vector halfvec_cosine_ops);
ALTER TABLE vectors ENABLE ROW LEVEL SECURITY;
ALTER TABLE vectors FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON vectors TO throughline_owner USING (true) WITH CHECK (true);
CREATE POLICY read ON vectors FOR SELECT TO throughline_member USING (tenant = (SELECT my_tenant()));
CREATE POLICY append ON vectors FOR INSERT TO throughline_member
    WITH CHECK (tenant = (SELECT my_tenant())
                AND EXISTS (SELECT 1 FROM records r WHERE r.tenant = (SELECT my_tenant()) AND r.hash = vectors.hash
                                                      AND r.member = (SELECT my_member()) AND r.body IS NOT NULL));
GRANT SELECT, INSERT ON vectors TO throughline_member;

-- A text that is erased leaves no vector.
CREATE FUNCTION erase_vector() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = throughline, pg_catalog, pg_temp AS $$
BEGIN
    DELETE FROM vectors WHERE tenant = NEW.tenant AND hash = NEW.hash;
    RETURN NULL;
END $$;
REVOKE EXECUTE ON FUNCTION erase_vector() FROM PUBLIC;
CREATE TRIGGER erase_vector AFTER UPDATE OF body ON records FOR EACH ROW WHEN (NEW.body IS NULL) EXECUTE FUNCTION erase_vector();
