-- Functions of one filter and one item, and what a filter tells of itself.
\pset format unaligned
\pset tuples_only on

-- create
SELECT cuckoofilter_info(cuckoofilter_create(1000));
SELECT cuckoofilter_info(cuckoofilter_create(1000, 0.001, 'kind=set, layout=plain, bucket_size=2, seed=-1'));
SELECT cuckoofilter_create(1000, 0.01, '') = cuckoofilter_create(1000),
	cuckoofilter_create(1000, 0.01, ' seed = 18446744073709551615 ') = cuckoofilter_create(1000, 0.01, 'seed=-1'),
	cuckoofilter_create(NULL) IS NULL, cuckoofilter_create(1, NULL) IS NULL, cuckoofilter_create(1, 0.1, NULL) IS NULL;

-- a capacity of any type of number, of an untyped literal and of a parameter
PREPARE capacities AS SELECT cuckoofilter_create(1000) = cuckoofilter_create($1) AS untyped, cuckoofilter_create(1000) = cuckoofilter_create($2::integer) AS integer,
	cuckoofilter_create(1000) = cuckoofilter_create($3::numeric) AS numeric;
EXECUTE capacities(1000, 1000, 1e3);
EXECUTE capacities('1000', 1001, 999);
DEALLOCATE capacities;
SELECT cuckoofilter_info(cuckoofilter_create(1e6)) ->> 'capacity' AS million, bool_and(f = cuckoofilter_create(1000::bigint, 0.02, 'seed=3')) AS same, count(*)
	FROM (VALUES (cuckoofilter_create(1000::smallint, 0.02, 'seed=3')), (cuckoofilter_create(1000, 0.02, 'seed=3')),
		(cuckoofilter_create(1e3, 0.02, 'seed=3')), (cuckoofilter_create(1000::float8, 0.02::float8, 'seed=3')),
		(cuckoofilter_create(1000::real, '0.02', 'seed=3')), (cuckoofilter_create('1000', 0.02, 'seed=3')),
		(cuckoofilter_create(options => 'seed=3', fpr => 0.02, capacity => 1000)),
		(cuckoofilter_create(1e3, options => 'seed=3', fpr => 0.02))) v(f);

-- add, contains, copies, remove
WITH f AS (SELECT cuckoofilter_add(cuckoofilter_add(cuckoofilter_create(100), 'a'), 'b') AS f)
SELECT cuckoofilter_contains(f, 'a') AS a, cuckoofilter_contains(f, 'b') AS b,
	cuckoofilter_contains(f, 'c') AS c, f @> 'a' AS op, 'a' <@ f AS commuted, 'c' <@ f AS not_in,
	cuckoofilter_copies(f, 'a') AS copies, cuckoofilter_copies(f, 'c') AS none,
	cuckoofilter_copies(f + 'a', 'a') AS two, cuckoofilter_count(f + 'a') AS count,
	cuckoofilter_contains(cuckoofilter_remove(f, 'a'), 'a') AS removed,
	cuckoofilter_contains(f - 'a', 'b') AS stays, f - 'c' = f AS unchanged
	FROM f;

-- questions about NULL, and NULL filters, are NULL
SELECT f @> NULL, NULL::integer <@ f, f | NULL, cuckoofilter_copies(f, NULL::text),
	cuckoofilter_contains(NULL, 1), cuckoofilter_count(NULL), cuckoofilter_fpr(NULL),
	cuckoofilter_info(NULL), cuckoofilter_compact(NULL), cuckoofilter_hash(NULL::integer),
	cuckoofilter_hash(1, NULL), cuckoofilter_part(NULL::integer, 7), cuckoofilter_part(1, NULL), cuckoofilter_sum(f, NULL)
	FROM (SELECT cuckoofilter_create(1)) AS t(f);

-- changes by NULL leave the filter as it is; without a filter there is none
SELECT f + NULL = f AS plus, f - NULL = f AS minus, cuckoofilter_add(f, NULL::text) = f AS add, cuckoofilter_remove(f, NULL::numeric) = f AS remove,
	cuckoofilter_add_hash(f, NULL) = f AS add_hash, cuckoofilter_remove_hash(f, NULL) = f AS remove_hash,
	f + NULL::point = f AS no_hash, s - NULL::integer = s AS set,
	NULL::cuckoofilter + 1 IS NULL AND NULL::cuckoofilter - NULL::integer IS NULL AND cuckoofilter_add_hash(NULL, 1) IS NULL
		AND cuckoofilter_remove_hash(NULL, NULL) IS NULL AS no_filter
	FROM (SELECT cuckoofilter_create(1) + 'a', cuckoofilter_create(1, 0.01, 'kind=set') + 1) AS t(f, s);
-- the same value, so that a large one stays where it is
CREATE TABLE large AS SELECT cuckoofilter_agg(g) AS f FROM generate_series(1, 30000) g;
SELECT pg_column_size(f + NULL) = pg_column_size(f) AND pg_column_size(f) > 8192 AND pg_column_size(f + 1) <> pg_column_size(f) AS same FROM large;
-- as a trigger meets it
CREATE TABLE member (name text);
CREATE FUNCTION learn() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN UPDATE large SET f = f + new.name; RETURN new; END';
CREATE TRIGGER learn AFTER INSERT ON member FOR EACH ROW EXECUTE FUNCTION learn();
UPDATE large SET f = cuckoofilter_create(10);
INSERT INTO member VALUES ('ann'), (NULL), ('bob');
SELECT f @> 'ann' AS ann, f @> 'bob' AS bob, cuckoofilter_count(f) FROM large;
DROP TABLE large, member;
DROP FUNCTION learn;

-- a set stores one copy
SELECT cuckoofilter_copies(cuckoofilter_create(10, 0.01, 'kind=set') + 1 + 1 + 1, 1);

-- hashes: hash once, probe many; a hash of one's own
SELECT cuckoofilter_hash(42) = cuckoofilter_hash(42::bigint) AS same, cuckoofilter_hash(42) = cuckoofilter_hash(42, 0) AS seed_0,
	cuckoofilter_hash(42) = cuckoofilter_hash(42, 1) AS seed_1,
	cuckoofilter_contains_hash(f, cuckoofilter_hash(42, 7)) AS probed,
	cuckoofilter_contains_hash(f, cuckoofilter_hash(42)) AS other_seed,
	cuckoofilter_add_hash(e, cuckoofilter_hash(42, 7))::bytea = set_byte(f::bytea, 14, 64) AS added,
	cuckoofilter_remove_hash(f, cuckoofilter_hash(42, 7)) = e AS removed,
	cuckoofilter_contains_hash(cuckoofilter_add_hash(e, -1), -1) AS own,
	cuckoofilter_add_hash(f, NULL) = f AS null
	FROM (SELECT cuckoofilter_create(9, 0.01, 'seed=7'), cuckoofilter_create(9, 0.01, 'seed=7') + 42) AS t(e, f);

-- parts: the last 32 bits of the hash, unsigned, modulo the number of parts
SELECT parts, count(*) AS items, min(cuckoofilter_part(x, parts)) >= 0 AND max(cuckoofilter_part(x, parts)) < parts AS inside,
	bool_and(cuckoofilter_part(x, parts) = (cuckoofilter_hash(x) & 4294967295) % parts) AS by_hash,
	bool_and(cuckoofilter_part(x::text, parts) = (cuckoofilter_hash(x::text) & 4294967295) % parts) AS texts,
	count(DISTINCT cuckoofilter_part(x, parts)) AS distinct
	FROM generate_series(1, 2000) x, (VALUES (1), (2), (3), (64), (1000), (2147483646), (2147483647)) v(parts) GROUP BY parts ORDER BY parts;
SELECT cuckoofilter_part(1, 0);
SELECT cuckoofilter_part(1, -2147483648);
SELECT cuckoofilter_part(NULL::integer, 0);

-- what it tells of itself
SELECT cuckoofilter_count(f) AS count, cuckoofilter_fpr(f) <= 0.01 AS rate,
	i ->> 'encoding' AS encoding, i ->> 'layout' AS layout, i ->> 'kind' AS kind,
	(i ->> 'bytes')::integer = length(f::bytea) AS bytes,
	(i ->> 'bits_per_item')::float8 < 11 AS bits, (i ->> 'load_factor')::float8 > 0.9 AS load,
	(i ->> 'capacity')::integer AS capacity, (i ->> 'fpr')::float8 = cuckoofilter_fpr(f)::numeric(30, 18)::float8 OR
		abs((i ->> 'fpr')::float8 / cuckoofilter_fpr(f) - 1) < 1e-12 AS fpr
	FROM (SELECT cuckoofilter_agg(g) FROM generate_series(1, 100000) g) AS t(f), cuckoofilter_info(f) i;
SELECT array_agg(key ORDER BY key) FROM jsonb_object_keys(cuckoofilter_info(cuckoofilter_create(1))) key;

-- it reads the header alone: of a large value a page or two
CREATE TABLE large AS SELECT cuckoofilter_agg(g) AS f FROM generate_series(1, 400000) g;
CREATE FUNCTION pages(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	plan jsonb;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, TIMING off, FORMAT json) ' || query INTO plan;
	RETURN (plan -> 0 -> 'Plan' ->> 'Shared Hit Blocks')::bigint + (plan -> 0 -> 'Plan' ->> 'Shared Read Blocks')::bigint;
END
$$;
SELECT length(f::bytea) > 400000 AS large, pages('SELECT cuckoofilter_compact(f) FROM large') > 50 AS whole,
	pages('SELECT cuckoofilter_info(f) FROM large') < 10 AS header FROM large;
DROP TABLE large;
DROP FUNCTION pages;

-- compaction gives memory back and loses nothing
DO $$
DECLARE
	full_size cuckoofilter;
	emptied cuckoofilter;
	compact cuckoofilter;
BEGIN
	SELECT cuckoofilter_agg(g) INTO full_size FROM generate_series(1, 20000) g;
	emptied := cuckoofilter_remove_all(full_size, VARIADIC (SELECT array_agg(g) FROM generate_series(2001, 20000) g));
	compact := cuckoofilter_compact(emptied);
	RAISE NOTICE '% -> % items; smaller by 5: %; compact twice is the same: %', cuckoofilter_count(full_size),
		cuckoofilter_count(compact), length(compact::bytea) * 5 < length(emptied::bytea),
		cuckoofilter_compact(compact) = compact;
	RAISE NOTICE 'missing: %', (SELECT count(*) FROM generate_series(1, 2000) g WHERE NOT compact @> g);
END
$$;

-- what was added, by class; a merge has what its inputs have, and the last item takes all with it
CREATE FUNCTION classes(f cuckoofilter) RETURNS jsonb LANGUAGE sql AS $$
	SELECT cuckoofilter_info(f) -> 'item_classes'
$$;
SELECT classes(cuckoofilter_agg(x)) AS numbers, classes(cuckoofilter_agg(x + 0.5)) AS reals,
	classes(cuckoofilter_agg(x::text)) AS text, classes(cuckoofilter_agg(int4send(x))) AS bytes,
	classes(cuckoofilter_agg(md5(x::text)::uuid)) AS uuids, classes(cuckoofilter_agg(date '2024-01-01' + x)) AS dates,
	classes(cuckoofilter_agg(timestamp '2024-01-01' + x * interval '1 h')) AS timestamps,
	classes(cuckoofilter_agg(timestamptz '2024-01-01' + x * interval '1 h')) AS timestamptzs,
	classes(cuckoofilter_agg(x * interval '1 h')) AS others, classes(cuckoofilter_agg_hash(x)) AS hashes
	FROM generate_series(1, 50) x;
WITH f AS (
	SELECT cuckoofilter_agg(x) AS numbers, cuckoofilter_agg(x::text) AS text, cuckoofilter_create(10) AS none
	FROM generate_series(1, 20) x)
SELECT classes(numbers | text) AS union, classes(cuckoofilter_sum(none, text)) AS sum, classes(none) AS none,
	classes(cuckoofilter_add_hash(numbers, 1)) AS hash, classes(none + 'a'::text) AS one,
	classes(none + 'a'::text - 'a'::text) AS none_again, classes(cuckoofilter_add_all(none, 1, 2)) AS all,
	classes((SELECT cuckoofilter_union_agg(g) FROM (VALUES (numbers), (text), (none)) v(g))) AS merged
	FROM f;

-- format version 1 did not tell: it may have anything; a change makes it version 2
WITH f AS (
	SELECT set_byte(set_byte(cuckoofilter_agg(x)::bytea, 3, 1), 14, 0)::cuckoofilter AS old FROM generate_series(1, 20) x),
g AS (SELECT old, old + 5 AS changed, old - 500 AS same FROM f)
SELECT cuckoofilter_info(old) -> 'format_version' AS version, classes(old), old @> 7 AS has,
	cuckoofilter_info(changed) -> 'format_version' AS version, classes(changed), changed @> 7 AS has,
	same = old AS same, get_byte(changed::bytea, 14) AS byte
	FROM g;
DROP FUNCTION classes;
