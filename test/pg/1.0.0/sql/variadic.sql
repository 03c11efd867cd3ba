-- Functions of a filter and many items.

CREATE TABLE f AS SELECT cuckoofilter_add_all(cuckoofilter_create(100), 'a', 'b', 'c') AS f;

SELECT cuckoofilter_count(f), cuckoofilter_contains_any(f, 'x', 'b') AS any, cuckoofilter_contains_any(f, 'x', 'y') AS none,
	cuckoofilter_contains_all(f, 'a', 'c') AS all, cuckoofilter_contains_all(f, 'a', 'x') AS not_all FROM f;

-- arrays
SELECT cuckoofilter_contains_any(f, VARIADIC ARRAY['x', 'b']) AS any, cuckoofilter_contains_all(f, VARIADIC '{a,b,c}'::varchar[]) AS all,
	cuckoofilter_count(cuckoofilter_add_all(f, VARIADIC ARRAY[['d', 'e'], ['f', NULL]])) AS dimensions,
	cuckoofilter_count(cuckoofilter_remove_all(f, VARIADIC ARRAY['a', 'x', NULL, 'b'])) AS removed FROM f;

-- NULL elements are skipped; a NULL array or filter gives NULL
SELECT cuckoofilter_contains_any(f, NULL, 'a') AS any, cuckoofilter_contains_all(f, 'a', NULL) AS all,
	cuckoofilter_contains_any(f, NULL::text) AS any_of_none, cuckoofilter_contains_all(f, NULL::text) AS all_of_none,
	cuckoofilter_contains_any(f, VARIADIC '{}'::text[]) AS any_of_empty, cuckoofilter_contains_all(f, VARIADIC '{}'::text[]) AS all_of_empty,
	cuckoofilter_add_all(f, NULL::text) = f AS nothing_added, cuckoofilter_remove_all(f, VARIADIC '{}'::text[]) = f AS nothing_removed,
	cuckoofilter_add_all(f, VARIADIC NULL::text[]) IS NULL AS null_array, cuckoofilter_add_all(NULL, 'a') IS NULL AS null_filter FROM f;

-- an array as an item is not its elements
SELECT cuckoofilter_contains(f, ARRAY['a']) AS array_item, cuckoofilter_contains(f + ARRAY['a'], ARRAY['a']) AS added FROM f;

-- mixed numbers meet in one type, and hash as what they are
SELECT cuckoofilter_contains_all(cuckoofilter_add_all(cuckoofilter_create(10), 1, 2.5, 3::bigint), 1::smallint, 2.5::float8, 3.0);

-- the same as one by one, in any order
SELECT cuckoofilter_add_all(cuckoofilter_create(10), 3, 1, 2) = cuckoofilter_create(10) + 1 + 2 + 3 AS order,
	cuckoofilter_add_all(f, 'a', 'a') = f + 'a' + 'a' AS copies FROM f;

-- many
SELECT cuckoofilter_count(g), cuckoofilter_contains_all(g, VARIADIC a), cuckoofilter_count(cuckoofilter_remove_all(g, VARIADIC a))
	FROM (SELECT array_agg(i) FROM generate_series(1, 30000) i) AS t(a), cuckoofilter_add_all(cuckoofilter_create(30000), VARIADIC a) g;

-- rows of different element types through one call
SELECT cuckoofilter_contains_any(cuckoofilter_create(10) + 1, VARIADIC a) FROM (VALUES (ARRAY[1, 2]), (ARRAY[3]), ('{}'), (NULL), ('{{3,2},{1,0}}')) t(a);

SELECT cuckoofilter_remove_all(cuckoofilter_create(1, 0.01, 'kind=set'), 1);
SELECT cuckoofilter_add_all(cuckoofilter_create(1), VARIADIC ARRAY[point '(1,2)']);
DROP TABLE f;
