-- cuckoofilter_agg and cuckoofilter_agg_hash, in every place an aggregate can stand.
\pset format unaligned
\pset tuples_only on

CREATE TABLE items AS SELECT g AS id, g % 10 AS grp, 'item ' || g % 1000 AS name FROM generate_series(1, 20000) g;

-- distinct items, sized to them
SELECT cuckoofilter_count(cuckoofilter_agg(id)) AS ids, cuckoofilter_count(cuckoofilter_agg(name)) AS names,
	cuckoofilter_info(cuckoofilter_agg(name)) ->> 'capacity' AS capacity FROM items;
SELECT count(*) FILTER (WHERE NOT f @> id) AS missing FROM items, (SELECT cuckoofilter_agg(id) FROM items) AS t(f);
SELECT count(*) < 20000 * 0.0125 AS rate_holds FROM generate_series(20001, 40000) id, (SELECT cuckoofilter_agg(id) FROM items) AS t(f) WHERE f @> id;

-- parameters; NULL and capacity 0 are the defaults
SELECT i ->> 'capacity' AS capacity, i ->> 'target_fpr' AS fpr, i ->> 'seed' AS seed, i ->> 'kind' AS kind, i ->> 'layout' AS layout, i ->> 'bucket_size' AS b
	FROM (SELECT unnest(ARRAY[cuckoofilter_agg(name, 0.001), cuckoofilter_agg(name, 0.001, 5000), cuckoofilter_agg(name, 0.002, 10),
		cuckoofilter_agg(name, 0.001, 5000, 'seed=7, kind=set'), cuckoofilter_agg(name, NULL, NULL, 'layout=plain'),
		cuckoofilter_agg(name, NULL, 0, 'bucket_size=8'), cuckoofilter_agg(name, NULL, NULL, NULL)]) FROM items) AS t(f), cuckoofilter_info(f) i;

-- a capacity of any type of number (items and hashes differ in what filters know of them)
PREPARE capacities AS SELECT count(DISTINCT f::bytea), min(cuckoofilter_info(f) ->> 'capacity') AS capacity FROM (SELECT unnest(ARRAY[cuckoofilter_agg(name, 0.01, 1e6),
	cuckoofilter_agg(name, 0.01, 1000000), cuckoofilter_agg(name, 0.01, 1000000::bigint), cuckoofilter_agg(name, '0.01', '1000000'), cuckoofilter_agg(name, NULL, $1),
	cuckoofilter_agg(name, 0.01, 1e6, ''), cuckoofilter_agg_hash(cuckoofilter_hash(name), 0.01, 1e6), cuckoofilter_agg_hash(cuckoofilter_hash(name), 0.01, 1e6::real, '')]) FROM items) t(f);
EXECUTE capacities(1e6);
DEALLOCATE capacities;

-- no rows, only NULLs: an empty filter, which keeps its parameters where there was a row
SELECT cuckoofilter_count(f) AS count, NOT f @> 1 AS not_contains, cuckoofilter_info(f) ->> 'seed' AS seed
	FROM (SELECT cuckoofilter_agg(id) FROM items WHERE false
		UNION ALL SELECT cuckoofilter_agg(NULL::integer)
		UNION ALL SELECT cuckoofilter_agg(NULL::integer, 0.01, 100, 'seed=9')
		UNION ALL SELECT cuckoofilter_agg_hash(NULL)) AS t(f);
SELECT cuckoofilter_agg(x) = (SELECT cuckoofilter_agg(x) FROM (VALUES (1), (2)) v(x)) AS nulls_skipped FROM (VALUES (NULL), (1), (NULL), (2)) v(x);

-- over hashes
-- but for the class of the items, byte 14
SELECT cuckoofilter_agg_hash(cuckoofilter_hash(id))::bytea = set_byte(cuckoofilter_agg(id)::bytea, 14, 64) AS same,
	cuckoofilter_agg_hash(cuckoofilter_hash(id, 5), 0.001, 50000, 'seed=5')::bytea
		= set_byte(cuckoofilter_agg(id, 0.001, 50000, 'seed=5')::bytea, 14, 64) AS with_seed FROM items;

-- the bytes do not depend on the order of rows
SELECT cuckoofilter_agg(id ORDER BY id) = cuckoofilter_agg(id ORDER BY id DESC) AS up_down,
	cuckoofilter_agg(id ORDER BY id) = cuckoofilter_agg(id ORDER BY md5(id::text)) AS shuffled FROM items;

-- DISTINCT, FILTER, GROUP BY
SELECT cuckoofilter_agg(DISTINCT name) = cuckoofilter_agg(name) AS distinct FROM items;
SELECT grp, cuckoofilter_count(cuckoofilter_agg(id) FILTER (WHERE id <= 100)) AS filtered, cuckoofilter_count(cuckoofilter_agg(name)) AS names
	FROM items WHERE grp < 3 GROUP BY grp ORDER BY grp;
SELECT grp, cuckoofilter_count(cuckoofilter_agg(id)) FROM items WHERE grp < 2 GROUP BY ROLLUP (grp) ORDER BY grp;
SELECT grp, name, cuckoofilter_count(cuckoofilter_agg(id)) FROM items WHERE id <= 3 GROUP BY GROUPING SETS ((grp), (name), ()) ORDER BY grp, name;
SELECT count(*), sum(cuckoofilter_count(f)), min(length(f::bytea)), max(length(f::bytea))
	FROM (SELECT cuckoofilter_agg(id) FROM items GROUP BY id / 5) AS t(f);
SELECT grp FROM items GROUP BY grp HAVING cuckoofilter_agg(id) @> 77 ORDER BY grp LIMIT 1;

-- as a window: growing frame, and one that moves
SELECT id, cuckoofilter_count(cuckoofilter_agg(name) OVER w) AS so_far, cuckoofilter_agg(id) OVER w @> 1 AS first,
	cuckoofilter_count(cuckoofilter_agg(id) OVER (ORDER BY id ROWS 2 PRECEDING)) AS moving
	FROM items WHERE id <= 12 WINDOW w AS (ORDER BY id) ORDER BY id;
SELECT bool_and(c = id) FROM (SELECT id, cuckoofilter_count(cuckoofilter_agg(id) OVER (ORDER BY id)) AS c FROM items WHERE id <= 1500) t;
SELECT count(*) FROM (SELECT DISTINCT cuckoofilter_agg(id) OVER (PARTITION BY grp) AS f FROM items WHERE id <= 100) t;

-- two aggregates that share a state
SELECT cuckoofilter_agg(id) = cuckoofilter_agg(id) AS shared, cuckoofilter_count(cuckoofilter_agg(id)), cuckoofilter_agg(id) @> 5 FROM items;

-- support functions answer inside of an aggregate only
SELECT cuckoofilter_agg_transition(NULL, 1);
SELECT cuckoofilter_agg_final(NULL);
SELECT cuckoofilter_agg_combine(NULL, NULL);
SELECT cuckoofilter_union_agg_transition(NULL, NULL);

-- aggregates of one's own from the same parts
CREATE AGGREGATE my_state(integer) (SFUNC = cuckoofilter_agg_transition, STYPE = cuckoofilter);
CREATE AGGREGATE my_mix(cuckoofilter) (SFUNC = cuckoofilter_union, STYPE = cuckoofilter, FINALFUNC = cuckoofilter_agg_final);
SELECT cuckoofilter_contains(my_state(g), 1) FROM generate_series(1, 3) g;
SELECT cuckoofilter_count(my_mix(cuckoofilter_create(9) + g)) FROM generate_series(1, 3) g;
SELECT my_state(g)::text::cuckoofilter FROM generate_series(1, 3) g;
-- a STRICT one's state begins as its first input, which is no state and has a row's short header
CREATE FUNCTION my_merge(cuckoofilter, cuckoofilter) RETURNS cuckoofilter LANGUAGE c STRICT
	AS '$libdir/cuckoofilter', 'cuckoofilter_union_agg_transition';
CREATE AGGREGATE my_union(cuckoofilter) (SFUNC = my_merge, STYPE = cuckoofilter);
CREATE TABLE short AS SELECT g, cuckoofilter_create(9) + g AS f FROM generate_series(1, 3) g;
SELECT my_union(f) FROM short;
SELECT bool_and(f @> g), sum(cuckoofilter_count(f)) FROM short;
DROP AGGREGATE my_state(integer);
DROP AGGREGATE my_mix(cuckoofilter);
DROP AGGREGATE my_union(cuckoofilter);
DROP FUNCTION my_merge;

-- add_agg: a batch into a filter, at its precision
CREATE TABLE kept AS SELECT k, cuckoofilter_agg(id, 0.001, 50000, 'seed=7') AS f FROM items, (VALUES (0), (1)) v(k) WHERE id <= 1000 GROUP BY k;
SELECT k, cuckoofilter_count(f) AS before, cuckoofilter_count(g) AS after, cuckoofilter_info(g) ->> 'capacity' AS capacity,
	g = cuckoofilter_add_all(f, (SELECT array_agg(id) FROM items WHERE id > 500)) AS same_as_add_all,
	(SELECT count(*) FROM items WHERE NOT g @> id) AS missing, cuckoofilter_copies(g, 501) AS copies, cuckoofilter_copies(g, 1) AS copy
	FROM kept, LATERAL (SELECT cuckoofilter_add_agg(f, id) FROM items WHERE id > 500) a(g) ORDER BY k;
-- a few; NULL items are skipped
SELECT few = f + 1 + 2002 AS few, nulls = f + 2002 AS nulls, none = f AS none, ordered = f + 2002 + 1 AS ordered, filtered = f + 1 AS filtered
	FROM kept, LATERAL (SELECT cuckoofilter_add_agg(f, x), cuckoofilter_add_agg(f, NULLIF(x, 1)), cuckoofilter_add_agg(f, NULLIF(x, x)),
		cuckoofilter_add_agg(f, x ORDER BY x DESC), cuckoofilter_add_agg(f, x) FILTER (WHERE x = 1)
		FROM (VALUES (1), (2002), (NULL)) v(x)) a(few, nulls, none, ordered, filtered) WHERE k = 0;
-- over no rows, in an empty frame, with a FILTER that passes nothing and without any filter NULL
SELECT cuckoofilter_add_agg(f, 1) IS NULL AS no_rows FROM kept WHERE false;
SELECT cuckoofilter_add_agg(NULL, x) IS NULL AS no_filter FROM (VALUES (1), (2)) v(x);
SELECT cuckoofilter_add_agg(f, x) FILTER (WHERE x > 9) IS NULL AS none_passes FROM kept, (VALUES (1), (2)) v(x) WHERE k = 0;
SELECT x, cuckoofilter_count(cuckoofilter_add_agg(f, x) OVER (ORDER BY x ROWS BETWEEN 9 PRECEDING AND 2 PRECEDING)) AS frame,
	cuckoofilter_count(cuckoofilter_agg(x) OVER (ORDER BY x ROWS BETWEEN 9 PRECEDING AND 2 PRECEDING)) AS agg FROM kept, (VALUES (-1), (-2), (-3)) v(x) WHERE k = 0 ORDER BY x;
SELECT count(*) AS groups, count(g) AS filters FROM (SELECT cuckoofilter_add_agg(f, id) FROM items, kept WHERE id < 0 GROUP BY GROUPING SETS ((), (k))) a(g);
-- the first filter that is not NULL counts; items before it wait for its seed
SELECT cuckoofilter_add_agg(f, x ORDER BY n) = cuckoofilter_create(9, 0.01, 'seed=5') + 'a' + 'b' + 'c' + 'd' AS first
	FROM (VALUES (1, NULL, 'a'), (2, NULL, NULL), (3, cuckoofilter_create(9, 0.01, 'seed=5'), 'b'), (4, cuckoofilter_create(9) + 'z', 'c'), (5, NULL, 'd')) v(n, f, x);
SELECT cuckoofilter_count(f) AS waited, (SELECT count(*) FROM items WHERE NOT f @> (name || repeat('x', id % 30))) AS missing
	FROM (SELECT cuckoofilter_add_agg(CASE WHEN id > 15000 THEN cuckoofilter_create(200000) END, name || repeat('x', id % 30) ORDER BY id) FROM items) t(f);
-- as a window, which asks again and again; grouped
SELECT id, cuckoofilter_count(cuckoofilter_add_agg(f, id) OVER (ORDER BY id)) AS so_far, cuckoofilter_count(cuckoofilter_add_agg(f, id) OVER (ORDER BY id ROWS 1 PRECEDING)) AS moving
	FROM items, kept WHERE k = 0 AND id <= 4 ORDER BY id;
SELECT k, cuckoofilter_count(cuckoofilter_add_agg(f, id)) FROM items, kept WHERE id <= 100 + k GROUP BY k ORDER BY k;
-- how to add a batch: an empty one changes nothing; NOT NULL refuses to lose the filter
CREATE TABLE batch (x integer);
CREATE TABLE safe (f cuckoofilter NOT NULL);
INSERT INTO safe SELECT cuckoofilter_agg(id) FROM items WHERE id <= 5000;
UPDATE safe SET f = coalesce((SELECT cuckoofilter_add_agg(f, x) FROM batch), f);
UPDATE safe SET f = (SELECT cuckoofilter_add_agg(f, x) FROM (SELECT) AS one LEFT JOIN batch ON true);
UPDATE safe SET f = coalesce((SELECT cuckoofilter_add_agg(f, x) FROM batch GROUP BY x), f);
SELECT cuckoofilter_count(f) FROM safe;
UPDATE safe SET f = (SELECT cuckoofilter_add_agg(f, x) FROM batch);
INSERT INTO batch VALUES (-1), (NULL), (-2);
UPDATE safe SET f = coalesce((SELECT cuckoofilter_add_agg(f, x) FROM batch), f);
UPDATE safe SET f = (SELECT cuckoofilter_add_agg(f, x) FROM (SELECT) AS one LEFT JOIN batch ON true);
SELECT cuckoofilter_count(f), cuckoofilter_copies(f, -2) FROM safe;
DROP TABLE batch, safe;
UPDATE kept SET f = (SELECT cuckoofilter_add_agg(f, id) FROM items WHERE id > 19000) WHERE EXISTS (SELECT FROM items WHERE id > 19000);
UPDATE kept SET f = (SELECT cuckoofilter_add_agg(f, id) FROM items WHERE id > 20000) WHERE EXISTS (SELECT FROM items WHERE id > 20000);
SELECT k, cuckoofilter_count(f), f @> 1000 AND f @> 19999 AS all FROM kept ORDER BY k;
SELECT cuckoofilter_add_agg(cuckoofilter_create(9), point '(1,2)');
-- items of a class that the filter never saw, also where they came before it
SELECT cuckoofilter_add_agg(f, id::text) FROM kept, items WHERE k = 0;
SELECT cuckoofilter_add_agg(CASE WHEN id > 7 THEN f END, name ORDER BY id) FROM kept, items WHERE k = 0;
SELECT cuckoofilter_count(cuckoofilter_add_agg(f, NULL::text)) AS null, cuckoofilter_info(cuckoofilter_add_agg(cuckoofilter_create(9), 'a'::text)) -> 'item_classes' AS empty FROM kept WHERE k = 0;
DROP TABLE kept;

DROP TABLE items, short;
