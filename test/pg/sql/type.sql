-- The type: text, binary and bytea, columns, domains, arrays, composites,
-- COPY, PL/pgSQL, prepared statements, equality.
\pset format unaligned
\pset tuples_only on

CREATE TABLE filters (id integer PRIMARY KEY, f cuckoofilter);
INSERT INTO filters VALUES
	(1, cuckoofilter_create(10)),
	(2, cuckoofilter_create(10) + 1 + 2 + 3),
	(3, (SELECT cuckoofilter_agg(g) FROM generate_series(1, 100000) g)),
	(4, (SELECT cuckoofilter_agg(g, 0.001, 0, 'layout=plain, bucket_size=8') FROM generate_series(1, 5000) g)),
	(5, NULL);

-- an empty filter is its header: 48 bytes, 64 letters
SELECT length(f::text), length(f::bytea), f::text FROM filters WHERE id = 1;

-- text, binary and bytea give the value back
SELECT id, f::text::cuckoofilter = f AS text, f::bytea::cuckoofilter = f AS bytea,
	cuckoofilter_send(f) = f::bytea AS binary, decode(f::text, 'base64') = f::bytea AS base64
	FROM filters ORDER BY id;

-- assignment to bytea is implicit, from bytea it is not
CREATE TABLE raw (b bytea);
INSERT INTO raw SELECT f FROM filters WHERE id = 2;
INSERT INTO filters SELECT 6, b FROM raw;
INSERT INTO filters SELECT 6, b::cuckoofilter FROM raw;
SELECT a.f = b.f FROM filters a, filters b WHERE a.id = 2 AND b.id = 6;

-- equality is that of bytes
SELECT a.id, b.id FROM filters a JOIN filters b USING (f) WHERE a.id < b.id;
SELECT count(*) FROM (SELECT DISTINCT f FROM filters) d;
SELECT f = f, f <> f, f = f + 1, f <> f + 1, f = NULL FROM filters WHERE id = 1;
SELECT count(*) FROM (SELECT f FROM filters UNION SELECT f FROM filters) u;

-- and so is order, which sorts, also where there is no hash
CREATE TABLE sorted AS SELECT f FROM filters WHERE id < 5 UNION ALL SELECT f FROM filters UNION ALL SELECT cuckoofilter_create(g) + 'a' FROM generate_series(1, 200) g;
SELECT bool_and(f::bytea >= before::bytea) AS bytes, bool_and(f >= before AND before <= f AND NOT f < before AND NOT before > f) AS operators, count(*)
	FROM (SELECT f, lag(f) OVER (ORDER BY f) AS before FROM sorted) t;
SELECT array_agg(f ORDER BY f) = array_agg(f ORDER BY f::bytea) AS same, array_agg(f ORDER BY f DESC) = array_agg(f ORDER BY f::bytea DESC) AS down FROM sorted WHERE f IS NOT NULL;
SELECT count(DISTINCT f), count(DISTINCT f::bytea) FROM sorted;
SET enable_hashagg = off;
SELECT count(*) FROM (SELECT DISTINCT f FROM sorted) d;
SELECT n, count(*) FROM (SELECT f, count(*) AS n FROM sorted GROUP BY f) t GROUP BY n ORDER BY n;
RESET enable_hashagg;
SELECT count(*) FROM (SELECT row_number() OVER (PARTITION BY f) AS n FROM sorted) t WHERE n > 1;
SELECT count(*) FROM (SELECT f FROM sorted INTERSECT ALL SELECT f FROM filters) u;
CREATE INDEX by_order ON sorted (f) WHERE octet_length(f::bytea) < 1000;
ANALYZE sorted;
SET enable_seqscan = off;
SELECT count(*) FROM sorted WHERE f = cuckoofilter_create(77) + 'a' AND octet_length(f::bytea) < 1000;
SELECT count(*) FROM sorted WHERE f > cuckoofilter_create(77) + 'a' AND octet_length(f::bytea) < 1000;
SELECT count(*) FROM sorted WHERE f::bytea > (cuckoofilter_create(77) + 'a')::bytea AND octet_length(f::bytea) < 1000;
RESET enable_seqscan;
DROP TABLE sorted;

-- storage: never compressed, out of line where large, its header read alone
SELECT typstorage, typalign, typcategory FROM pg_type WHERE oid = 'cuckoofilter'::regtype;
SELECT id, pg_column_size(f) = length(f::bytea) + CASE WHEN length(f::bytea) < 126 THEN 1 ELSE 4 END AS inline,
	pg_column_size(f) = length(f::bytea) AS toasted FROM filters WHERE id IN (1, 2, 3) ORDER BY id;
SELECT id, cuckoofilter_count(f) FROM filters ORDER BY id;

-- the same where a column compresses
CREATE TABLE squeezed (f cuckoofilter);
ALTER TABLE squeezed ALTER f SET STORAGE extended;
INSERT INTO squeezed SELECT cuckoofilter_create(100000000, 1e-6, 'kind=set');
INSERT INTO squeezed SELECT f FROM filters WHERE id > 2;
SELECT cuckoofilter_count(f), f @> 77, f @> -77 FROM squeezed;
TRUNCATE squeezed;
INSERT INTO squeezed SELECT cuckoofilter_remove_all(cuckoofilter_agg(g), VARIADIC array_agg(g) FILTER (WHERE g > 9))
	FROM generate_series(1, 5000) g;
SELECT pg_column_size(f) < length(f::bytea) / 9 AS squeezed, cuckoofilter_count(f), f @> 7 AS has,
	cuckoofilter_contains_all(f, 1, 9) AS has_all, (f + -77) @> -77 AS has_more FROM squeezed;

-- domains, arrays, composites
CREATE DOMAIN small_filter AS cuckoofilter CHECK (octet_length(VALUE::bytea) < 1000);
CREATE TYPE named_filter AS (name text, f cuckoofilter);
CREATE TABLE shapes (d small_filter, a cuckoofilter[], c named_filter);
INSERT INTO shapes SELECT f, ARRAY[f, NULL, f + 9], ('x', f)::named_filter FROM filters WHERE id = 2;
SELECT d @> 2, d @> 4, a[1] @> 3, a[2] IS NULL, a[3] @> 9, (c).f @> 1, (c).f @> 9, d + 7 @> 7,
	cuckoofilter_count(d | a[3]) FROM shapes;
INSERT INTO shapes (d) SELECT f FROM filters WHERE id = 3;
SELECT a::text::cuckoofilter[] = a, c::text::named_filter = c FROM shapes;

-- COPY of text
CREATE TABLE copied (LIKE filters);
COPY (SELECT id, f FROM filters WHERE id IN (1, 5) ORDER BY id) TO STDOUT;
COPY copied FROM STDIN;
1	Q0tGAgEAAAQAQAAHAAAAAAAAAAAAAAAAAAAAAAAAAAAKAAAAAAAAAHsUrkfheoQ/
2	\N
\.
SELECT c.id, c.f = f.f FROM copied c JOIN filters f ON f.id = 1 ORDER BY 1;

-- PL/pgSQL variables
DO $$
DECLARE
	f cuckoofilter := cuckoofilter_create(1000);
	g cuckoofilter;
BEGIN
	FOR i IN 1..3000 LOOP
		f := f + i;
	END LOOP;
	g := f - 1;
	RAISE NOTICE '% items, has 1: %, 3000: %; then % items', cuckoofilter_count(f), f @> 1, f @> 3000,
		cuckoofilter_count(g);
	SELECT cuckoofilter_agg(x) INTO g FROM generate_series(1, 10) x;
	RAISE NOTICE '% items', cuckoofilter_count(g);
END
$$;

-- prepared statements, custom and generic plans
PREPARE has(cuckoofilter, integer) AS SELECT $1 @> $2;
SET plan_cache_mode = force_custom_plan;
EXECUTE has('Q0tGAgEAAAQAQAAHAAAAAAAAAAAAAAAAAAAAAAAAAAAKAAAAAAAAAHsUrkfheoQ/', 1);
SET plan_cache_mode = force_generic_plan;
EXECUTE has('Q0tGAgEAAAQAQAAHAAAAAAAAAAAAAAAAAAAAAAAAAAAKAAAAAAAAAHsUrkfheoQ/', 1);
EXECUTE has(NULL, 1);
RESET plan_cache_mode;
PREPARE untyped AS SELECT cuckoofilter_contains($1, $2), cuckoofilter_add($1, $2) @> $2;
EXECUTE untyped('Q0tGAgEAAAQAQAAHAAAAAAAAAAAAAAAAAAAAAAAAAAAKAAAAAAAAAHsUrkfheoQ/', 'abc');

-- triggers and RETURNING
CREATE FUNCTION remember() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	UPDATE filters SET f = f + NEW.d WHERE id = 1;
	RETURN NEW;
END
$$;
CREATE TABLE seen (d text);
CREATE TRIGGER remember AFTER INSERT ON seen FOR EACH ROW EXECUTE FUNCTION remember();
INSERT INTO seen VALUES ('a'), ('b');
UPDATE filters SET f = f - 'a'::text WHERE id = 1 RETURNING cuckoofilter_count(f), f @> 'a', f @> 'b';

-- Arrays send each element, and free what its send function gave.
SELECT octet_length(array_send(array_agg(f ORDER BY n))), sum(octet_length(f::bytea)) FROM (
	SELECT n, cuckoofilter_agg(x) AS f FROM generate_series(1, 3) n, generate_series(1, n * 300) x GROUP BY n) v;

DROP TABLE filters, raw, squeezed, shapes, copied, seen;
DROP FUNCTION remember;
DROP TYPE named_filter;
DROP DOMAIN small_filter;
