-- What filters have in common: intersect, intersect_agg, overlap, jaccard.
\pset format unaligned
\pset tuples_only on

CREATE TABLE months AS
	SELECT m, cuckoofilter_agg(i, 0.001, 40000) AS f
	FROM (VALUES ('may', 1, 30000), ('june', 20001, 45000), ('july', 25001, 60000)) v(m, first, last), generate_series(first, last) i GROUP BY m;

-- intersect: true for every item that is in both
SELECT i ->> 'kind' AS kind, cuckoofilter_count(u) BETWEEN 9900 AND 10100 AS count,
	(SELECT count(*) FROM generate_series(20001, 30000) g WHERE NOT u @> g) AS missing,
	(SELECT count(*) FROM generate_series(1, 20000) g WHERE u @> g) < 40 AS few_others
	FROM (SELECT cuckoofilter_intersect(a.f, b.f) FROM months a, months b WHERE a.m = 'may' AND b.m = 'june' OFFSET 0) AS t(u), cuckoofilter_info(u) i;

-- in all of many, in any order
SELECT u = (SELECT cuckoofilter_intersect_agg(f ORDER BY m DESC) FROM months) AS same,
	(SELECT count(*) FROM generate_series(25001, 30000) g WHERE NOT u @> g) AS missing,
	cuckoofilter_count(u) BETWEEN 4980 AND 5050 AS count
	FROM (SELECT cuckoofilter_intersect_agg(f ORDER BY m) FROM months) AS t(u);
SELECT cuckoofilter_intersect_agg(f) = cuckoofilter_intersect(f, f) AS of_one, cuckoofilter_info(cuckoofilter_intersect_agg(f)) ->> 'kind' AS kind
	FROM months WHERE m = 'may' GROUP BY f;

-- no filter yet is not the same as nothing in common
SELECT cuckoofilter_intersect_agg(f) IS NULL AS none FROM months WHERE false;
SELECT cuckoofilter_intersect_agg(NULL) IS NULL AS nulls;
SELECT cuckoofilter_count(cuckoofilter_intersect_agg(f)) AS count, octet_length(cuckoofilter_intersect_agg(f)::bytea) AS bytes
	FROM (SELECT f FROM months UNION ALL SELECT NULL UNION ALL SELECT cuckoofilter_create(10, 0.5, 'seed=5')) t;
SELECT cuckoofilter_intersect_agg(f) = (SELECT cuckoofilter_intersect_agg(f) FROM months) AS nulls_skipped
	FROM (SELECT NULL AS f UNION ALL SELECT f FROM months UNION ALL SELECT NULL) t;
SELECT cuckoofilter_count(cuckoofilter_intersect(cuckoofilter_create(9) + 1 + 2, cuckoofilter_create(9) + 3)) AS nothing;

-- grouped, and as a window: filters until now
SELECT m = 'may' AS may, cuckoofilter_count(cuckoofilter_intersect_agg(f)) > 19000 AS many FROM months GROUP BY 1 ORDER BY 1;
SELECT n, cuckoofilter_count(cuckoofilter_intersect_agg(f) OVER (ORDER BY n)) FROM (SELECT n, cuckoofilter_agg(g) AS f FROM generate_series(1, 4) n, generate_series(n, 5) g GROUP BY n) t;

-- how many items are in both, and which part of all
SELECT a.m, b.m, abs(cuckoofilter_overlap(a.f, b.f) - n) < 60 AS overlap, abs(cuckoofilter_jaccard(a.f, b.f) - j) < 0.002 AS jaccard
	FROM months a, months b, (VALUES ('may', 'june', 10000, 10000 / 45000.0), ('july', 'may', 5000, 5000 / 60000.0), ('june', 'june', 25000, 1)) v(a, b, n, j)
	WHERE a.m = v.a AND b.m = v.b ORDER BY 1, 2;

-- exact where both are hashes; copies count once
SELECT cuckoofilter_overlap(a, b), cuckoofilter_jaccard(a, b), cuckoofilter_overlap(a, e), cuckoofilter_jaccard(e, b), cuckoofilter_jaccard(e, e)
	FROM (SELECT cuckoofilter_create(9) + 1 + 2 + 3 + 3, cuckoofilter_create(7, 0.1) + 2 + 3 + 4 + 2, cuckoofilter_create(5, 0.01, 'seed=3')) t(a, b, e);

-- sizes that are too unlike: the error names a capacity that will do
SELECT cuckoofilter_overlap(cuckoofilter_agg(g) FILTER (WHERE g > 299900), cuckoofilter_agg(g)) FROM generate_series(1, 300000) g;
SELECT cuckoofilter_jaccard(cuckoofilter_agg(g), cuckoofilter_agg(g) FILTER (WHERE g > 299900)) FROM generate_series(1, 300000) g;
SELECT abs(cuckoofilter_overlap(a, b) - 50) < 10 AS overlap, cuckoofilter_jaccard(b, a) < 0.001 AS jaccard
	FROM (SELECT cuckoofilter_agg(g, 0.01, 300000) FILTER (WHERE g > 299950), cuckoofilter_agg(g) FILTER (WHERE g <= 300000) FROM generate_series(1, 300050) g) t(a, b);

-- of a deletable filter never more than it counts
SELECT cuckoofilter_overlap(f, f) BETWEEN 0.99 * cuckoofilter_count(f) AND cuckoofilter_count(f) AS count, cuckoofilter_jaccard(f, f) FROM months ORDER BY m;

-- NULL, and seeds that differ
SELECT cuckoofilter_intersect(NULL, f) IS NULL, cuckoofilter_intersect(f, NULL) IS NULL, cuckoofilter_overlap(f, NULL) IS NULL, cuckoofilter_jaccard(NULL, f) IS NULL FROM months LIMIT 1;
SELECT cuckoofilter_intersect(cuckoofilter_create(9, 0.01, 'seed=1') + 1, cuckoofilter_create(9, 0.01, 'seed=-2') + 1);
SELECT cuckoofilter_overlap(cuckoofilter_create(9, 0.01, 'seed=1') + 1, cuckoofilter_create(9) + 1);
SELECT cuckoofilter_intersect_agg(f) FROM (VALUES (cuckoofilter_create(9, 0.01, 'seed=1') + 1), (cuckoofilter_create(9) + 1)) t(f);

-- items of unlike classes are never the same; hashes may be of any
SELECT cuckoofilter_info(cuckoofilter_intersect(a, b)) ->> 'item_classes' AS classes, cuckoofilter_overlap(b, a) AS overlap
	FROM (VALUES (cuckoofilter_create(9) + 1 + 2, cuckoofilter_add_all(cuckoofilter_create(9) + 1, 2) | (cuckoofilter_create(9) + 'a'::text)),
		(cuckoofilter_create(9) + 1, cuckoofilter_create(9) + '1'::text),
		(cuckoofilter_add_hash(cuckoofilter_create(9), cuckoofilter_hash(1)), cuckoofilter_create(9) + 1),
		(cuckoofilter_add_hash(cuckoofilter_create(9), 7), cuckoofilter_add_hash(cuckoofilter_create(9), 7))) t(a, b);

-- a filter of 1.0.0 hashes items of other types otherwise
SELECT cuckoofilter_intersect('\x434b46010100000400400007000000000100000000000000000000000000000009000000000000007b14ae47e17a843f9cc7000ee5de2217'::bytea::cuckoofilter, cuckoofilter_create(9) + ARRAY[1]);
SELECT cuckoofilter_intersect('\x434b46010100000400400007000000000100000000000000000000000000000009000000000000007b14ae47e17a843f9cc7000ee5de2217'::bytea::cuckoofilter, cuckoofilter_create(9) + 2) @> 2 AS has;
-- & is the intersection, in either order; the standard error of the overlap
SELECT a.m, b.m, a.f & b.f = cuckoofilter_intersect(a.f, b.f) AS same, a.f & b.f = b.f & a.f AS either FROM months a JOIN months b ON b.m > a.m ORDER BY 1, 2;
SELECT a.m, b.m, cuckoofilter_overlap_error(a.f, b.f) BETWEEN 0 AND 100 AS error, cuckoofilter_overlap_error(a.f, b.f) = cuckoofilter_overlap_error(b.f, a.f) AS either FROM months a JOIN months b ON b.m > a.m ORDER BY 1, 2;
SELECT cuckoofilter_overlap_error(f, NULL) IS NULL, cuckoofilter_overlap_error(NULL, f) IS NULL FROM months LIMIT 1;
DROP TABLE months;
