-- Functions of a filter and many items.
\pset format unaligned
\pset tuples_only on

CREATE TABLE f AS SELECT cuckoofilter_add_all(cuckoofilter_create(100), 'a', 'b', 'c') AS f;

SELECT cuckoofilter_count(f), cuckoofilter_contains_any(f, 'x', 'b') AS any, cuckoofilter_contains_any(f, 'x', 'y') AS none,
	cuckoofilter_contains_all(f, 'a', 'c') AS all, cuckoofilter_contains_all(f, 'a', 'x') AS not_all FROM f;

-- arrays
SELECT cuckoofilter_contains_any(f, VARIADIC ARRAY['x', 'b']) AS any, cuckoofilter_contains_all(f, VARIADIC '{a,b,c}'::varchar[]) AS all,
	cuckoofilter_count(cuckoofilter_add_all(f, VARIADIC ARRAY[['d', 'e'], ['f', NULL]])) AS dimensions,
	cuckoofilter_count(cuckoofilter_remove_all(f, VARIADIC ARRAY['a', 'x', NULL, 'b'])) AS removed FROM f;

-- NULL elements are skipped; about a NULL array, or a NULL filter, questions are NULL
SELECT cuckoofilter_contains_any(f, NULL, 'a') AS any, cuckoofilter_contains_all(f, 'a', NULL) AS all,
	cuckoofilter_contains_any(f, NULL::text) AS any_of_none, cuckoofilter_contains_all(f, NULL::text) AS all_of_none,
	cuckoofilter_contains_any(f, VARIADIC '{}'::text[]) AS any_of_empty, cuckoofilter_contains_all(f, VARIADIC '{}'::text[]) AS all_of_empty,
	cuckoofilter_add_all(f, NULL::text) = f AS nothing_added, cuckoofilter_remove_all(f, VARIADIC '{}'::text[]) = f AS nothing_removed,
	cuckoofilter_contains_any(f, VARIADIC NULL::text[]) IS NULL AND cuckoofilter_contains_all(f, NULL::text[]) IS NULL AS null_array,
	cuckoofilter_add_all(NULL, 'a') IS NULL AND cuckoofilter_remove_all(NULL, VARIADIC '{}'::text[]) IS NULL
		AND cuckoofilter_contains_any(NULL, 'a') IS NULL AND cuckoofilter_contains_all(NULL, NULL, 'a') IS NULL AS null_filter FROM f;
-- changes by NULLs, or a NULL array, leave the filter as it is
SELECT cuckoofilter_add_all(f, VARIADIC NULL::text[]) = f AS no_array, cuckoofilter_remove_all(f, NULL::text[]) = f AS none_removed,
	cuckoofilter_add_all(f, (SELECT array_agg(x) FROM (VALUES ('d')) v(x) WHERE false)) = f AS no_rows,
	cuckoofilter_add_all(f, NULL) = f AS null, cuckoofilter_remove_all(f, NULL, NULL::integer) = f AS nulls,
	cuckoofilter_contains_any(f, NULL) AS any_null, cuckoofilter_contains_all(f, NULL, NULL::date) AS all_null FROM f;

-- an array as an item is not its elements
SELECT cuckoofilter_contains(e + ARRAY['a', 'b'], ARRAY['a']) AS part, cuckoofilter_contains(e + ARRAY['a'], ARRAY['a']) AS added FROM (SELECT cuckoofilter_create(10)) AS t(e);

-- each argument keeps its type; a literal of none is text
CREATE TABLE mixed AS SELECT cuckoofilter_add_all(cuckoofilter_create(10), 1, 2.5, 'three', date '2004-04-04', 5::bigint, '\x06'::bytea, NULL, 'seven'::name) AS f;
SELECT cuckoofilter_count(f), f @> 1 AS one, f @> 2.5::float8 AS two, f @> 'three' AS three, f @> timestamp '2004-04-04' AS four, f @> 5 AS five,
	f @> '\x06'::bytea AS six, f @> 'seven' AS seven FROM mixed;
SELECT cuckoofilter_contains_all(f, 1::smallint, 2.5::float8, 'three'::varchar, timestamp '2004-04-04 00:00', 5.0, '\x06'::bytea, 'seven') AS all,
	cuckoofilter_contains_any(f, 3, 'four', 5::real) AS any, cuckoofilter_contains_any(f, 7, '5', 'date') AS none,
	cuckoofilter_count(cuckoofilter_remove_all(f, 'three', 1, 5::numeric, 'x')) AS removed FROM mixed;
-- a common type would round
SELECT cuckoofilter_contains_any(cuckoofilter_create(10) + 16777217, 16777217, 1.5::real) AS integer,
	cuckoofilter_contains_all(cuckoofilter_create(10) + 9007199254740993, 9007199254740993, NULL::float8) AS bigint;

-- one argument that is an array is its elements, with the word VARIADIC and without; of two or more each is an item
CREATE DOMAIN numbers AS integer[];
SELECT cuckoofilter_add_all(e, ARRAY[1, 2]) = e + 1 + 2 AS array, cuckoofilter_add_all(e, VARIADIC ARRAY[1, 2]) = e + 1 + 2 AS variadic,
	cuckoofilter_add_all(e, '{1,2}'::numbers) = e + 1 + 2 AS domain, cuckoofilter_add_all(e, VARIADIC '{1,2}'::numbers) = e + 1 + 2 AS variadic_domain,
	cuckoofilter_add_all(e, '1 2'::int2vector) = e + 1 + 2 AS vector,
	cuckoofilter_add_all(e, ARRAY[1, 2], ARRAY[3]) = e + ARRAY[1, 2] + ARRAY[3] AS arrays, cuckoofilter_count(e + ARRAY[1, 2]) AS one,
	cuckoofilter_contains_all(cuckoofilter_add_all(e, ARRAY[1, 2], 3), ARRAY[1, 2], 3) AS both
	FROM (SELECT cuckoofilter_create(10)) AS t(e);
DROP DOMAIN numbers;

-- a parameter of no type is an error; of a type it is what it is
PREPARE untyped AS SELECT cuckoofilter_contains_any(f, $1) FROM mixed;
PREPARE untyped AS SELECT cuckoofilter_add_all(f, 1, $1) FROM mixed;
PREPARE typed(integer, text[]) AS SELECT cuckoofilter_contains_any(f, $1, 'no') AS one, cuckoofilter_contains_all(f, $2) AS elements FROM mixed;
EXECUTE typed('1', '{three,seven}');
EXECUTE typed('3', '{three,1}');
EXECUTE typed(NULL, NULL);
DEALLOCATE typed;

-- a literal takes the collation of the others
CREATE COLLATION loud (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
SELECT cuckoofilter_contains_any(e + 'ABC' COLLATE loud, 'abc', NULL::text COLLATE loud) AS literal, cuckoofilter_contains_any(e + 'ABC'::text, 'abc', 'x') AS other,
	cuckoofilter_contains_any(e + 'ABC' COLLATE loud, 'x', 'abc' COLLATE loud) AS explicit
	FROM (SELECT cuckoofilter_create(10)) AS t(e);
DROP COLLATION loud;

-- in a view each argument is read again as it was
CREATE VIEW asked AS SELECT cuckoofilter_contains_any(f, 'x', 'three', NULL) AS untyped, cuckoofilter_contains_all(f, 1, 2.5) AS numbers,
	cuckoofilter_contains_all(f, VARIADIC ARRAY['three', 'seven']) AS elements, cuckoofilter_contains_any(f, ARRAY[1, 7]) AS array FROM mixed;
DO $$ BEGIN EXECUTE 'CREATE VIEW again AS ' || pg_get_viewdef('asked'); END $$;
SELECT pg_get_viewdef('asked') = pg_get_viewdef('again') AS same, a.*, b.* FROM asked a, again b;

-- many calls of one expression, over rows of nulls and values
SELECT count(*) FILTER (WHERE cuckoofilter_contains_any(f, CASE WHEN g % 2 = 0 THEN 0 END, g::text, CASE WHEN g % 3 = 0 THEN 2.5 END))
	FROM mixed, generate_series(1, 60) g;

-- what 1.0.0 had under these names, for the views of its time
SELECT cuckoofilter_contains_any_array(f, 'x', 'three') AS any, cuckoofilter_contains_all_array(f, VARIADIC ARRAY[1, 5]) AS all,
	cuckoofilter_add_all_array(f, 1, 2.5) = f + 1.0 + 2.5 AS add, cuckoofilter_remove_all_array(f, 'three') = f - 'three' AS remove,
	cuckoofilter_add_all_array(f, VARIADIC NULL::text[]) = f AS no_array, cuckoofilter_contains_any_array(f, VARIADIC NULL::text[]) IS NULL AS null FROM mixed;
DROP VIEW again, asked;
DROP TABLE mixed;

-- the same as one by one, in any order
SELECT cuckoofilter_add_all(cuckoofilter_create(10), 3, 1, 2) = cuckoofilter_create(10) + 1 + 2 + 3 AS order,
	cuckoofilter_add_all(f, 'a', 'a') = f + 'a' + 'a' AS copies FROM f;

-- many
SELECT cuckoofilter_count(g), cuckoofilter_contains_all(g, VARIADIC a), cuckoofilter_count(cuckoofilter_remove_all(g, VARIADIC a))
	FROM (SELECT array_agg(i) FROM generate_series(1, 30000) i) AS t(a), cuckoofilter_add_all(cuckoofilter_create(30000), VARIADIC a) g;

-- rows of different element types through one call
SELECT cuckoofilter_contains_any(cuckoofilter_create(10) + 1, VARIADIC a) FROM (VALUES (ARRAY[1, 2]), (ARRAY[3]), ('{}'), (NULL), ('{{3,2},{1,0}}')) t(a);

-- an untyped literal that looks like an array, which psycopg2 sends for a list
SELECT cuckoofilter_add_all(cuckoofilter_create(1), '{}');
SELECT cuckoofilter_remove_all(f, '{a,b}') FROM f;
SELECT cuckoofilter_contains_all(f, '{}') FROM f;
SELECT cuckoofilter_contains_any(f, '{NULL}') FROM f;
SELECT cuckoofilter_contains_all(f, '{}'::text[]) AS of_none, cuckoofilter_add_all(f, '{}'::text) @> '{}' AS as_text,
	cuckoofilter_add_all(f, '{}', 'x') @> '{}' AS of_two, cuckoofilter_add_all(f, '{') @> '{' AS no_array FROM f;

SELECT cuckoofilter_remove_all(cuckoofilter_create(1, 0.01, 'kind=set'), 1);
SELECT cuckoofilter_add_all(cuckoofilter_create(1), VARIADIC ARRAY[point '(1,2)']);
SELECT cuckoofilter_add_all(cuckoofilter_create(1), 1, point '(1,2)');
DROP TABLE f;
