-- Union and sum, of two filters and of many.
\pset format unaligned
\pset tuples_only on

CREATE TABLE parts AS
	SELECT p, cuckoofilter_agg(i, 0.01, 20000) AS f
	FROM generate_series(1, 20000) i, LATERAL (SELECT i % 7 AS p) s GROUP BY p;

-- union: true wherever one of them was
SELECT cuckoofilter_count(u), i ->> 'kind' AS kind, (SELECT count(*) FROM generate_series(1, 20000) g WHERE NOT u @> g) AS missing,
	cuckoofilter_fpr(u) < 0.012 AS rate
	FROM (SELECT cuckoofilter_union_agg(f) FROM parts) AS t(u), cuckoofilter_info(u) i;

-- sum: copies added up; deletable
SELECT cuckoofilter_count(s), i ->> 'kind' AS kind, (SELECT count(*) FROM generate_series(1, 20000) g WHERE NOT s @> g) AS missing,
	cuckoofilter_count(s - 1) AS removed
	FROM (SELECT cuckoofilter_sum_agg(f) FROM parts) AS t(s), cuckoofilter_info(s) i;
SELECT cuckoofilter_copies(cuckoofilter_sum(f, f), 7) AS two, cuckoofilter_copies(cuckoofilter_union(f, f), 7) AS one,
	f | f | f = f | f AS idempotent FROM parts WHERE p = 0;

-- sizes differ
SELECT cuckoofilter_count(u), u @> 1, u @> 2000, u @> 'a'
	FROM (SELECT cuckoofilter_union(cuckoofilter_agg(g), cuckoofilter_create(9) + 'a') FROM generate_series(1, 2000) g) AS t(u);

-- an empty filter is neutral, whatever its seed; no filter at all gives an empty one
SELECT cuckoofilter_count(f | e) = cuckoofilter_count(f) AS right, cuckoofilter_count(cuckoofilter_sum(e, f)) = cuckoofilter_count(f) AS left,
	cuckoofilter_count(e | e) AS both
	FROM parts, cuckoofilter_create(10, 0.01, 'seed=5') e WHERE p = 1;
SELECT cuckoofilter_count(cuckoofilter_union_agg(f)), cuckoofilter_count(cuckoofilter_sum_agg(f)), cuckoofilter_union_agg(f) @> 1 FROM parts WHERE false;
SELECT cuckoofilter_count(cuckoofilter_union_agg(NULL)), cuckoofilter_count(cuckoofilter_sum_agg(NULL));
SELECT cuckoofilter_union_agg(f) = (SELECT cuckoofilter_union_agg(f) FROM parts) AS nulls_skipped
	FROM (SELECT f FROM parts UNION ALL SELECT NULL) t;

-- kinds and seeds
SELECT a, b, cuckoofilter_info(cuckoofilter_union(fa, fb)) ->> 'kind' AS union, cuckoofilter_info(cuckoofilter_sum(fa, fb)) ->> 'kind' AS sum
	FROM (VALUES ('set', 'set'), ('set', 'deletable'), ('deletable', 'set'), ('deletable', 'deletable')) t(a, b),
	LATERAL (SELECT cuckoofilter_create(9, 0.01, 'kind=' || a) + 1, cuckoofilter_create(9, 0.01, 'kind=' || b) + 2) AS f(fa, fb);
SELECT cuckoofilter_union(cuckoofilter_create(9, 0.01, 'seed=1') + 1, cuckoofilter_create(9, 0.01, 'seed=-2') + 1);
SELECT cuckoofilter_sum_agg(f) FROM (VALUES (cuckoofilter_create(9, 0.01, 'seed=1') + 1), (cuckoofilter_create(9) + 1)) t(f);

DROP TABLE parts;
