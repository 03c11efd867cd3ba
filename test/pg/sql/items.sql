-- Items: values that are equal in SQL answer alike, whatever their type.
\pset format unaligned
\pset tuples_only on

CREATE FUNCTION equal_hashes(VARIADIC hashes bigint[]) RETURNS boolean LANGUAGE sql
	AS 'SELECT count(DISTINCT h) = 1 AND count(h) = count(*) FROM unnest(hashes) h';

-- numbers
SELECT equal_hashes(cuckoofilter_hash(5::smallint), cuckoofilter_hash(5), cuckoofilter_hash(5::bigint),
	cuckoofilter_hash(5.00), cuckoofilter_hash(5::numeric), cuckoofilter_hash(5.0::real), cuckoofilter_hash(5.0::float8),
	cuckoofilter_hash(5::oid), cuckoofilter_hash(5::oid::regclass), cuckoofilter_hash(5e0), cuckoofilter_hash('5.000000000000'::numeric)) AS five;
SELECT equal_hashes(cuckoofilter_hash(0), cuckoofilter_hash(0.0), cuckoofilter_hash('-0'::float8),
	cuckoofilter_hash('-0'::real), cuckoofilter_hash(false), cuckoofilter_hash('0.000'::numeric)) AS zero;
SELECT equal_hashes(cuckoofilter_hash(true), cuckoofilter_hash(1)) AS true_is_one;
SELECT equal_hashes(cuckoofilter_hash(-9223372036854775808), cuckoofilter_hash((-2::numeric) ^ 63), cuckoofilter_hash(-9223372036854775808::float8)) AS least;
SELECT equal_hashes(cuckoofilter_hash(9223372036854775807), cuckoofilter_hash(9223372036854775807::numeric)) AS most;
SELECT equal_hashes(cuckoofilter_hash(9223372036854775808::numeric), cuckoofilter_hash(9223372036854775808::float8)) AS past_most;
SELECT cuckoofilter_hash(9007199254740993) = cuckoofilter_hash(9007199254740993::float8) AS differ,
	cuckoofilter_hash(9007199254740992) = cuckoofilter_hash(9007199254740993::float8) AS same;
SELECT equal_hashes(cuckoofilter_hash(0.1), cuckoofilter_hash(0.1::float8), cuckoofilter_hash(0.10)) AS tenth,
	cuckoofilter_hash(0.1::real) = cuckoofilter_hash(0.1::float8) AS real_tenth_differs;
SELECT equal_hashes(cuckoofilter_hash(0.5::real), cuckoofilter_hash(0.5::float8), cuckoofilter_hash(0.5)) AS half;
SELECT equal_hashes(cuckoofilter_hash('NaN'::real), cuckoofilter_hash('NaN'::float8), cuckoofilter_hash('NaN'::numeric)) AS nan;
SELECT equal_hashes(cuckoofilter_hash('Infinity'::real), cuckoofilter_hash('Infinity'::float8)) AS infinity,
	cuckoofilter_hash('Infinity'::float8) = cuckoofilter_hash('-Infinity'::float8) AS both_infinities;
SELECT cuckoofilter_hash(1e-400) = cuckoofilter_hash(0) AS tiny, cuckoofilter_hash(1e300::numeric) = cuckoofilter_hash(1e300::float8) AS huge;

-- strings
SELECT equal_hashes(cuckoofilter_hash('abc'), cuckoofilter_hash('abc'::text), cuckoofilter_hash('abc'::varchar(7)),
	cuckoofilter_hash('abc'::name), cuckoofilter_hash('abc'::char(9)), cuckoofilter_hash('abc  '::char(5))) AS abc;
SELECT cuckoofilter_hash('abc ') = cuckoofilter_hash('abc') AS blanks_matter_in_text;
SELECT equal_hashes(cuckoofilter_hash('x'), cuckoofilter_hash('x'::"char")) AS one_char,
	equal_hashes(cuckoofilter_hash(''), cuckoofilter_hash(''::"char"), cuckoofilter_hash('   '::char(3))) AS empty;
SELECT cuckoofilter_hash('abc') = cuckoofilter_hash('abc'::bytea) AS text_is_not_bytes;
SELECT cuckoofilter_agg(repeat('x', 1000000)) @> repeat('x', 1000000) AS long;

-- bytes and uuid
SELECT equal_hashes(cuckoofilter_hash('\x00112233445566778899aabbccddeeff'::bytea),
	cuckoofilter_hash('00112233-4455-6677-8899-aabbccddeeff'::uuid)) AS uuid;

-- dates and timestamps
SELECT equal_hashes(cuckoofilter_hash(date '2024-02-29'), cuckoofilter_hash(timestamp '2024-02-29 00:00')) AS midnight,
	equal_hashes(cuckoofilter_hash(date 'infinity'), cuckoofilter_hash(timestamp 'infinity')) AS infinity,
	equal_hashes(cuckoofilter_hash(date '-infinity'), cuckoofilter_hash(timestamp '-infinity')) AS minus_infinity,
	cuckoofilter_hash(timestamp '2000-01-01') = cuckoofilter_hash(timestamptz '2000-01-01 00:00+00') AS zone_is_another_class,
	cuckoofilter_hash(timestamp '2000-01-01') = cuckoofilter_hash(0) AS zero;
SELECT equal_hashes(cuckoofilter_hash(timestamptz '2024-01-01 12:00+02'), cuckoofilter_hash(timestamptz '2024-01-01 10:00+00')) AS instant,
	count(DISTINCT cuckoofilter_hash(d)) AS far_dates FROM (VALUES (date '5874897-12-31'), ('5874897-12-30'), ('4714-11-24 BC')) t(d);

-- domains and enums
CREATE DOMAIN positive AS integer CHECK (VALUE > 0);
CREATE DOMAIN very_positive AS positive CHECK (VALUE > 10);
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
SELECT equal_hashes(cuckoofilter_hash(42::positive), cuckoofilter_hash(42::very_positive), cuckoofilter_hash(42)) AS domains,
	equal_hashes(cuckoofilter_hash('ok'::mood), cuckoofilter_hash('ok')) AS enum;
SELECT cuckoofilter_count(f), f @> 'happy'::mood, f @> 'happy', f @> 'glad'
	FROM (SELECT cuckoofilter_agg(m) FROM unnest('{sad,happy,happy}'::mood[]) m) AS t(f);
-- more labels than are remembered at a time
DO $$
BEGIN
	EXECUTE (SELECT 'CREATE TYPE many AS ENUM (' || string_agg(quote_literal('label ' || g), ', ') || ')' FROM generate_series(1, 300) g);
END
$$;
SELECT cuckoofilter_count(cuckoofilter_agg(m)), bool_and(cuckoofilter_hash(m) = cuckoofilter_hash(m::text)) FROM unnest(enum_range(NULL::many)) m;

-- any other type with a hash of its own
CREATE TYPE pair AS (a integer, b text);
SELECT cuckoofilter_agg(x) @> ARRAY[1, 2] AS array, cuckoofilter_agg(x) @> ARRAY[2, 1] AS other_array FROM (VALUES (ARRAY[1, 2])) t(x);
SELECT cuckoofilter_agg(x) @> '(1,b)'::pair AS composite, cuckoofilter_agg(x) @> '(1,c)'::pair AS other FROM (VALUES ((1, 'b')::pair)) t(x);
SELECT cuckoofilter_agg(x) @> inet '10.0.0.1/32' AS inet, cuckoofilter_agg(x) @> inet '10.0.0.2' AS other FROM (VALUES (inet '10.0.0.1')) t(x);
SELECT cuckoofilter_agg(x) @> jsonb '{"b": 2.0, "a": 1}' AS jsonb, cuckoofilter_agg(x) @> jsonb '{"a": 1}' AS other FROM (VALUES (jsonb '{"a":1,"b":2}')) t(x);
SELECT cuckoofilter_agg(x) @> int4range(1, 5) AS range, cuckoofilter_agg(x) @> int4range(1, 6) AS other FROM (VALUES (int4range(1, 4, '[]'))) t(x);
SELECT cuckoofilter_agg(x) @> interval '30 days' AS interval, cuckoofilter_agg(x) @> interval '31 days' AS other FROM (VALUES (interval '1 month')) t(x);
SELECT cuckoofilter_agg(x) @> time '12:00' AS time, cuckoofilter_agg(x) @> macaddr '08:00:2b:01:02:03' AS nonsense FROM (VALUES (time '12:00:00')) t(x);
SELECT cuckoofilter_agg(x) @> cuckoofilter_create(1) AS filter FROM (VALUES (cuckoofilter_create(1))) t(x); -- but a filter

-- untyped literals and parameters are text; integers meet at any width
SELECT f @> 42 AS int4, f @> 42::smallint AS int2, f @> 42::bigint AS int8, f @> 42.0 AS numeric,
	42 <@ f AS commuted, f @> 42::oid AS oid FROM (SELECT cuckoofilter_create(10) + 42::bigint) AS t(f);
SELECT f @> 'abc' AS literal, f @> 'abc'::varchar AS varchar, f @> 'abc'::char(5) AS char, 'abc' <@ f AS commuted,
	cuckoofilter_contains(f, 'abc') AS function FROM (SELECT cuckoofilter_create(10) + 'abc') AS t(f);
SELECT cuckoofilter_agg(a), cuckoofilter_agg(b), cuckoofilter_agg(c), cuckoofilter_agg(d), cuckoofilter_agg(e), cuckoofilter_agg(f), cuckoofilter_agg(g)
	FROM (SELECT 1::smallint, 1, 1::bigint, 'a', gen_random_uuid(), 1.5, 'v'::varchar WHERE false) AS t(a, b, c, d, e, f, g);

-- types without a hash
SELECT cuckoofilter_hash(point '(1,2)');
SELECT cuckoofilter_agg(x) FROM (VALUES (json '1')) t(x);
SELECT cuckoofilter_create(1) @> xmin FROM pg_class LIMIT 0;
SELECT cuckoofilter_create(1) @> ARRAY[point '(1,2)'];
SELECT cuckoofilter_create(1) + B'101';

-- from column to column: values with short headers, out of line, compressed
CREATE TABLE stored (n numeric, t text, b bytea);
ALTER TABLE stored ALTER t SET STORAGE external;
INSERT INTO stored VALUES (42.5, repeat('text', 3000), decode(repeat('00', 10000), 'hex'));
SELECT equal_hashes(cuckoofilter_hash(n), cuckoofilter_hash(42.5)) AS numeric, equal_hashes(cuckoofilter_hash(t), cuckoofilter_hash(repeat('text', 3000))) AS text,
	equal_hashes(cuckoofilter_hash(b), cuckoofilter_hash(decode(repeat('00', 10000), 'hex'))) AS bytea FROM stored;

DROP TABLE stored;
DROP FUNCTION equal_hashes;
DROP TYPE pair, mood, many;
DROP DOMAIN very_positive, positive;
