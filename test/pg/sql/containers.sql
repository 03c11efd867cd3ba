-- Items that consist of others: equal where "=" says so, whatever the types of their parts, and portable where these are.
\pset format unaligned
\pset tuples_only on

CREATE FUNCTION equal_hashes(VARIADIC hashes bigint[]) RETURNS boolean LANGUAGE sql
	AS 'SELECT count(DISTINCT h) = 1 AND count(h) = count(*) FROM unnest(hashes) h';
CREATE FUNCTION unlike_hashes(VARIADIC hashes bigint[]) RETURNS boolean LANGUAGE sql
	AS 'SELECT count(DISTINCT h) = count(*) FROM unnest(hashes) h';

CREATE DOMAIN small AS integer CHECK (VALUE < 1000);
CREATE TYPE mood AS ENUM ('bad', 'fair', 'good');
CREATE TYPE pair AS (a integer, b text);
CREATE DOMAIN good_pair AS pair CHECK ((VALUE).a > 0);
CREATE DOMAIN list AS integer[];

-- arrays
SELECT equal_hashes(cuckoofilter_hash('{1,2}'::smallint[]), cuckoofilter_hash('{1,2}'::integer[]), cuckoofilter_hash('{1,2}'::bigint[]),
	cuckoofilter_hash('{1,2.0}'::numeric[]), cuckoofilter_hash('{1,2}'::float8[]), cuckoofilter_hash('{1,2}'::small[]), cuckoofilter_hash('{1,2}'::list),
	cuckoofilter_hash('[1:2]={1,2}'::integer[])) AS numbers;
SELECT equal_hashes(cuckoofilter_hash('{a,NULL}'::text[]), cuckoofilter_hash('{a,NULL}'::varchar[]), cuckoofilter_hash('{a,NULL}'::char(5)[]),
	cuckoofilter_hash('{a,NULL}'::name[]), cuckoofilter_hash('{a,NULL}'::"char"[])) AS strings,
	equal_hashes(cuckoofilter_hash('{bad,fair}'::mood[]), cuckoofilter_hash('{bad,fair}'::text[])) AS enums,
	cuckoofilter_hash('{"a "}'::text[]) = cuckoofilter_hash('{a}'::text[]) AS blanks_matter_in_text;
SELECT unlike_hashes(cuckoofilter_hash('{1,2}'::integer[]), cuckoofilter_hash('{2,1}'::integer[]), cuckoofilter_hash('{1}'::integer[]),
	cuckoofilter_hash('[0:1]={1,2}'::integer[]), cuckoofilter_hash('{{1,2}}'::integer[]), cuckoofilter_hash('{{1},{2}}'::integer[]),
	cuckoofilter_hash('{1,2,NULL}'::integer[]), cuckoofilter_hash('{NULL}'::integer[]), cuckoofilter_hash('{NULL,NULL}'::integer[]),
	cuckoofilter_hash('{}'::integer[]), cuckoofilter_hash(ROW(1, 2)), cuckoofilter_hash(1)) AS arrays_differ;
SELECT equal_hashes(cuckoofilter_hash('{}'::integer[]), cuckoofilter_hash('{}'::text[]), cuckoofilter_hash(ARRAY[]::pair[])) AS empty,
	equal_hashes(cuckoofilter_hash(proargtypes), cuckoofilter_hash(proargtypes::oid[])) AS vector FROM pg_proc WHERE proname = 'cuckoofilter_union';
SELECT cuckoofilter_agg(x) @> ARRAY[1, 2]::bigint[] AS same, cuckoofilter_agg(x) @> ARRAY[2, 1]::bigint[] AS other FROM (VALUES (ARRAY[1, 2])) t(x);

-- composites: the columns, whatever the type is called
SELECT equal_hashes(cuckoofilter_hash('(1,b)'::pair), cuckoofilter_hash(ROW(1, 'b'::text)), cuckoofilter_hash(ROW(1::bigint, 'b'::varchar)),
	cuckoofilter_hash(ROW(1, 'b')), cuckoofilter_hash('(1,b)'::good_pair)) AS rows,
	equal_hashes(cuckoofilter_hash('(,)'::pair), cuckoofilter_hash(ROW(NULL, NULL))) AS nulls;
SELECT unlike_hashes(cuckoofilter_hash('(1,b)'::pair), cuckoofilter_hash('(1,)'::pair), cuckoofilter_hash('(,b)'::pair), cuckoofilter_hash('(,)'::pair),
	cuckoofilter_hash(ROW(1)), cuckoofilter_hash(ROW()), cuckoofilter_hash(ROW(1, 'b', NULL)), cuckoofilter_hash(ROW(ROW(1, 'b'))),
	cuckoofilter_hash(ARRAY['(1,b)'::pair]), cuckoofilter_hash(ROW(1, ROW('b')))) AS rows_differ;
SELECT equal_hashes(cuckoofilter_hash(ARRAY[ROW(1, 'x'::text), ROW(2, NULL::text)]), cuckoofilter_hash('{"(1,x)","(2,)"}'::pair[])) AS nested;
-- columns that were dropped and added, before and after which rows were stored
CREATE TABLE changing (a integer, gone text, b text);
INSERT INTO changing VALUES (1, 'gone', 'b');
SELECT cuckoofilter_hash(c) = cuckoofilter_hash(ROW(1, 'gone', 'b')) AS whole FROM changing c;
ALTER TABLE changing DROP gone;
SELECT cuckoofilter_hash(c) = cuckoofilter_hash('(1,b)'::pair) AS dropped FROM changing c;
ALTER TABLE changing ADD extra numeric DEFAULT 7;
SELECT cuckoofilter_hash(c) = cuckoofilter_hash(ROW(1, 'b', 7)) AS added FROM changing c;
-- a type that changes under a function that remembers it
CREATE TYPE altered AS (a integer, b text);
CREATE FUNCTION hash_of(p altered) RETURNS bigint LANGUAGE plpgsql AS 'BEGIN RETURN cuckoofilter_hash(p); END';
SELECT hash_of('(1,b)') = cuckoofilter_hash(ROW(1, 'b')) AS before;
ALTER TYPE altered ADD ATTRIBUTE c integer;
SELECT hash_of('(1,b,3)') = cuckoofilter_hash(ROW(1, 'b', 3)) AS after;
ALTER TYPE altered DROP ATTRIBUTE c;
SELECT hash_of('(1,b)') = cuckoofilter_hash(ROW(1, 'b')) AS again;
-- and under a query
CREATE TABLE keeps AS SELECT '(1,b)'::altered AS p;
CREATE FUNCTION alter_at(n integer) RETURNS boolean LANGUAGE plpgsql
	AS $$ BEGIN IF n = 2 THEN ALTER TYPE altered ADD ATTRIBUTE d integer; END IF; RETURN n >= 2; END $$;
SELECT alter_at(g) AS altered, cuckoofilter_hash(p) = cuckoofilter_hash(ROW(1, 'b')) AS two, cuckoofilter_hash(p) = cuckoofilter_hash(ROW(1, 'b', NULL)) AS three
	FROM keeps, generate_series(1, 3) g;
-- rows of several types in one column
CREATE FUNCTION any_row(n integer) RETURNS record LANGUAGE plpgsql
	AS $$ BEGIN IF n % 2 = 0 THEN RETURN ROW(n, 'x'::text); ELSE RETURN ROW(n::text, n::numeric, ARRAY[n]); END IF; END $$;
SELECT count(DISTINCT cuckoofilter_hash(any_row(g))) AS rows, bool_and(cuckoofilter_hash(any_row(g)) =
	CASE WHEN g % 2 = 0 THEN cuckoofilter_hash(ROW(g, 'x')) ELSE cuckoofilter_hash(ROW(g::text, g, ARRAY[g])) END) AS right FROM generate_series(1, 1000) g;

-- a composite with an equality of its own
CREATE TYPE caseless AS (t text);
CREATE FUNCTION caseless_eq(caseless, caseless) RETURNS boolean IMMUTABLE LANGUAGE sql AS 'SELECT lower(($1).t) = lower(($2).t)';
CREATE FUNCTION caseless_hash(caseless) RETURNS integer IMMUTABLE LANGUAGE sql AS 'SELECT hashtext(lower(($1).t))';
CREATE FUNCTION caseless_hash(caseless, bigint) RETURNS bigint IMMUTABLE LANGUAGE sql AS 'SELECT hashtextextended(lower(($1).t), $2)';
CREATE OPERATOR = (LEFTARG = caseless, RIGHTARG = caseless, FUNCTION = caseless_eq, COMMUTATOR = =, HASHES);
CREATE OPERATOR CLASS caseless_ops DEFAULT FOR TYPE caseless USING hash AS OPERATOR 1 =, FUNCTION 1 caseless_hash(caseless), FUNCTION 2 caseless_hash(caseless, bigint);
SELECT cuckoofilter_hash('(a)'::caseless); -- PostgreSQL takes the equality of a type from btree, where that is still the row's
CREATE FUNCTION caseless_cmp(caseless, caseless) RETURNS integer IMMUTABLE LANGUAGE sql AS 'SELECT bttextcmp(lower(($1).t), lower(($2).t))';
CREATE OPERATOR CLASS caseless_ops DEFAULT FOR TYPE caseless USING btree AS OPERATOR 3 =, FUNCTION 1 caseless_cmp(caseless, caseless);
SELECT equal_hashes(cuckoofilter_hash('(a)'::caseless), cuckoofilter_hash('(A)'::caseless)) AS item,
	equal_hashes(cuckoofilter_hash('{(a)}'::caseless[]), cuckoofilter_hash('{(A)}'::caseless[])) AS element,
	cuckoofilter_hash('(a)'::caseless) = cuckoofilter_hash('(b)'::caseless) AS other;

-- ranges
SELECT equal_hashes(cuckoofilter_hash(int4range(1, 5)), cuckoofilter_hash(int4range(1, 4, '[]')), cuckoofilter_hash(int8range(0, 5, '()')),
	cuckoofilter_hash(numrange(1, 5.0))) AS ranges,
	equal_hashes(cuckoofilter_hash(daterange('2024-01-01', '2024-01-31', '[]')), cuckoofilter_hash(tsrange('2024-01-01', '2024-02-01'))) AS days,
	equal_hashes(cuckoofilter_hash('empty'::int4range), cuckoofilter_hash(numrange(1, 1, '()')), cuckoofilter_hash(tsrange('now', 'now'))) AS empty;
SELECT unlike_hashes(cuckoofilter_hash(numrange(1, 5)), cuckoofilter_hash(numrange(1, 5, '[]')), cuckoofilter_hash(numrange(1, 5, '()')),
	cuckoofilter_hash(numrange(1, 5, '(]')), cuckoofilter_hash(numrange(1, NULL)), cuckoofilter_hash(numrange(NULL, 1)), cuckoofilter_hash(numrange(NULL, 1, '[]')),
	cuckoofilter_hash(numrange(NULL, NULL)), cuckoofilter_hash('empty'::numrange), cuckoofilter_hash(numrange(1, 6)), cuckoofilter_hash(numrange(2, 5))) AS ranges_differ;
CREATE TYPE moods AS RANGE (subtype = mood);
CREATE TYPE lists AS RANGE (subtype = text, collation = "C");
SELECT equal_hashes(cuckoofilter_hash(moods('bad', 'good')), cuckoofilter_hash(lists('bad', 'good')), cuckoofilter_hash(' [bad,good)'::moods)) AS of_enums,
	cuckoofilter_hash(moods('bad', 'good')) = cuckoofilter_hash(moods('bad', 'fair')) AS others;

-- jsonb
SELECT equal_hashes(cuckoofilter_hash(jsonb '{"a": 1, "bb": [true, null, "x"]}'), cuckoofilter_hash(jsonb '{"bb": [true, null, "x"], "a": 9, "a": 1.00}')) AS objects,
	equal_hashes(cuckoofilter_hash(jsonb '1'), cuckoofilter_hash(jsonb '1.0')) AS numbers;
SELECT unlike_hashes(cuckoofilter_hash(jsonb '1'), cuckoofilter_hash(jsonb '[1]'), cuckoofilter_hash(jsonb '"1"'), cuckoofilter_hash(jsonb 'true'),
	cuckoofilter_hash(jsonb 'false'), cuckoofilter_hash(jsonb '0'), cuckoofilter_hash(jsonb 'null'), cuckoofilter_hash(jsonb '[]'), cuckoofilter_hash(jsonb '{}'),
	cuckoofilter_hash(jsonb '[[]]'), cuckoofilter_hash(jsonb '[null]'), cuckoofilter_hash(jsonb '{"a": "b"}'), cuckoofilter_hash(jsonb '{"b": "a"}'),
	cuckoofilter_hash(jsonb '["a", "b"]'), cuckoofilter_hash(jsonb '{"a": null}'), cuckoofilter_hash(jsonb '[[1], 2]'), cuckoofilter_hash(jsonb '[1, [2]]'), cuckoofilter_hash(1)) AS differ;
SELECT cuckoofilter_hash((SELECT jsonb_object_agg(g, g) FROM generate_series(1, 1000) g)) = cuckoofilter_hash((SELECT jsonb_object_agg(1001 - g, 1001 - g) FROM generate_series(1, 1000) g)) AS large;

-- any depth
CREATE TYPE nest AS (r int4range[], j jsonb, p pair);
SELECT cuckoofilter_agg(x) @> ARRAY[ROW(ARRAY[int8range(1, 4, '[]')], jsonb '{"a": [1.0]}', ROW(1, 'b'))] AS nested,
	cuckoofilter_agg(x) @> ARRAY[ROW(ARRAY[int8range(1, 4, '[]')], jsonb '{"a": [2.0]}', ROW(1, 'b'))] AS other
	FROM (VALUES (ARRAY[(ARRAY[int4range(1, 5)], '{"a": [1]}', (1, 'b'))::nest])) t(x);
SELECT cuckoofilter_hash((repeat('[', 1000) || repeat(']', 1000))::jsonb) IS NOT NULL AS deep;

-- strings whose collation is not known
SELECT cuckoofilter_hash(ARRAY[a, b]) FROM (VALUES ('a' COLLATE "POSIX", 'b' COLLATE "C")) t(a, b);
SELECT cuckoofilter_hash(ROW(a || b)) FROM (VALUES ('a' COLLATE "POSIX", 'b' COLLATE "C")) t(a, b);

-- from columns: values with short headers, compressed, out of line; from expanded arrays
CREATE TABLE stored (a text[], p pair, r lists, j jsonb, big integer[]);
ALTER TABLE stored ALTER a SET STORAGE external;
INSERT INTO stored SELECT ARRAY['x', repeat('y', 5000)], (1, repeat('z', 9000))::pair, lists('a', repeat('b', 3000)), jsonb_build_object('k', repeat('v', 9000)), array_agg(g) FROM generate_series(1, 5000) g;
INSERT INTO stored SELECT ARRAY['x'], (1, 'z')::pair, lists('a', 'b'), jsonb '1', '{1}'::integer[];
SELECT bool_and(cuckoofilter_hash(a) = cuckoofilter_hash(a || '{}'::text[])) AS arrays, bool_and(cuckoofilter_hash(p) = cuckoofilter_hash(ROW((p).a, (p).b || ''))) AS rows,
	bool_and(cuckoofilter_hash(r) = cuckoofilter_hash(lists(lower(r), upper(r)))) AS ranges, bool_and(cuckoofilter_hash(j) = cuckoofilter_hash(j || j)
		OR jsonb_typeof(j) = 'number') AS json, bool_and(cuckoofilter_hash(big) = cuckoofilter_hash(big::bigint[])) AS large FROM stored;
CREATE FUNCTION expanded(n integer) RETURNS bigint LANGUAGE plpgsql
	AS $$ DECLARE a integer[]; BEGIN FOR i IN 1 .. n LOOP a[i] := i; END LOOP; RETURN cuckoofilter_hash(a); END $$;
SELECT expanded(100) = cuckoofilter_hash((SELECT array_agg(g) FROM generate_series(1, 100) g)) AS expanded;

-- without a hash: the part is named
SELECT cuckoofilter_hash(ROW(1, point '(1,2)'));
SELECT cuckoofilter_hash(ARRAY[json '1']);
CREATE TYPE with_json AS (a integer, j json);
SELECT cuckoofilter_hash('(1,)'::with_json);

-- seeds reach the parts
SELECT unlike_hashes(cuckoofilter_hash(ARRAY[1]), cuckoofilter_hash(ARRAY[1], 1), cuckoofilter_hash(ARRAY[1], 2)) AS seeds;

-- a label that is renamed, and the renaming rolled back, while an expression goes on
CREATE TYPE relabelled AS ENUM ('p');
DO $$
DECLARE
	f cuckoofilter := cuckoofilter_create(10);
	e relabelled := 'p';
BEGIN
	FOR i IN 1..3 LOOP
		BEGIN
			IF i = 1 THEN ALTER TYPE relabelled RENAME VALUE 'p' TO 'z'; END IF;
			f := f + e;
			IF i = 1 THEN RAISE EXCEPTION 'rolled back'; END IF;
		EXCEPTION WHEN raise_exception THEN NULL;
		END;
	END LOOP;
	ALTER TYPE relabelled RENAME VALUE 'p' TO 'q';
	f := f + e;
	RAISE NOTICE 'z: %, p: %, q: %', cuckoofilter_copies(f, 'z'::text), cuckoofilter_copies(f, 'p'::text), cuckoofilter_copies(f, 'q'::text);
END
$$;
DROP TYPE relabelled;
-- text in a row has a deterministic collation, and a literal one that is named
CREATE COLLATION loud (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TYPE shout AS (words text[] COLLATE loud);
SELECT cuckoofilter_create(9) + ROW('Abc' COLLATE loud);
SELECT cuckoofilter_agg(ROW(ARRAY[t])::shout) FROM (SELECT 'Abc') AS v(t);
SELECT cuckoofilter_agg(ROW(t COLLATE "C")) @> ROW('Abc' COLLATE "POSIX") AS literal, cuckoofilter_agg(ROW(t COLLATE "C")) @> ROW('abc') AS other FROM (SELECT 'Abc' COLLATE loud) AS v(t);
DROP TYPE shout;
DROP COLLATION loud;
SET client_min_messages = warning;
DROP OPERATOR FAMILY caseless_ops USING btree CASCADE;
DROP OPERATOR FAMILY caseless_ops USING hash CASCADE;
DROP FUNCTION equal_hashes, unlike_hashes, hash_of, alter_at, any_row, expanded;
DROP TABLE changing, stored, keeps;
DROP TYPE caseless, pair, altered, mood, moods, lists, nest, with_json, list, good_pair, small CASCADE;
