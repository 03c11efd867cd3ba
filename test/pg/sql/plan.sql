-- Where filters stand in queries: opened once, whatever the plan; and what the planner makes of them.
\pset format unaligned
\pset tuples_only on

CREATE TABLE t AS SELECT g AS id, 'key ' || g AS s FROM generate_series(1, 10000) g;
CREATE TABLE filters (name text PRIMARY KEY, f cuckoofilter);
INSERT INTO filters SELECT 'even', cuckoofilter_agg(id, 0.0001) FROM t WHERE id % 2 = 0;
INSERT INTO filters SELECT 'seven', cuckoofilter_agg(id, 0.0001) FROM t WHERE id % 7 = 0;
INSERT INTO filters SELECT 'third', cuckoofilter_agg(id, 0.0001) FROM t WHERE id % 3 = 0;
INSERT INTO filters SELECT 'small', cuckoofilter_create(10) + 2 + 4;
INSERT INTO filters SELECT 'text', cuckoofilter_agg(s, 0.0001) FROM t WHERE id % 2 = 0;
ANALYZE t;
ANALYZE filters;

-- from an InitPlan
SELECT count(*) BETWEEN 5000 AND 5003 FROM t WHERE cuckoofilter_contains((SELECT f FROM filters WHERE name = 'even'), id);
SELECT count(*) BETWEEN 5000 AND 5003 FROM t WHERE (SELECT cuckoofilter_agg(id, 0.0001) FROM t WHERE id % 2 = 0) @> id;
-- a one-row join, a join with several filters (toasted and not, by turns)
SELECT count(*) BETWEEN 5000 AND 5003 FROM t JOIN filters ON name = 'even' AND f @> id;
SELECT name, count(*) BETWEEN n AND n + 3 FROM t CROSS JOIN filters JOIN (VALUES ('even', 5000), ('seven', 1428), ('small', 2)) v(name, n) USING (name)
	WHERE f @> id GROUP BY name, n ORDER BY name;
SELECT count(*) BETWEEN 6430 AND 6440 FROM (SELECT id FROM t ORDER BY random()) t, filters WHERE f @> id AND name IN ('even', 'seven', 'small');
-- a lateral rescan, a correlated subquery, a CASE that looks at two filters in one row
SELECT count(*) BETWEEN 5000 AND 5003 FROM t, LATERAL (SELECT f @> t.id AS yes FROM filters WHERE name = 'even' OFFSET 0) l WHERE yes;
SELECT count(*) BETWEEN 713 AND 720 FROM t WHERE (SELECT bool_and(f @> id) FROM filters WHERE name IN ('even', 'seven'));
-- a constant, a parameter, a cursor
DO $$
DECLARE
	v cuckoofilter;
	n bigint;
	c refcursor;
BEGIN
	SELECT f INTO v FROM filters WHERE name = 'even';
	SELECT count(*) INTO n FROM t WHERE v @> id;
	RAISE NOTICE '%', n BETWEEN 5000 AND 5003;
	EXECUTE format('SELECT count(*) FROM t WHERE %L::cuckoofilter @> id', v) INTO n;
	RAISE NOTICE '%', n BETWEEN 5000 AND 5003;
	EXECUTE 'SELECT count(*) FROM t WHERE $1 @> id' INTO n USING v;
	RAISE NOTICE '%', n BETWEEN 5000 AND 5003;
	FOR i IN 1..3 LOOP
		OPEN c FOR SELECT count(*) FROM t JOIN filters ON name = CASE i WHEN 1 THEN 'even' WHEN 2 THEN 'seven' ELSE 'small' END AND f @> id;
		FETCH c INTO n;
		CLOSE c;
		RAISE NOTICE '%', n BETWEEN CASE i WHEN 1 THEN 5000 WHEN 2 THEN 1428 ELSE 2 END AND CASE i WHEN 1 THEN 5003 WHEN 2 THEN 1431 ELSE 3 END;
	END LOOP;
END
$$;
-- a value that changes in place of another, of the same size
DO $$
DECLARE
	a cuckoofilter := cuckoofilter_create(10) + 1;
	b cuckoofilter := cuckoofilter_create(10) + 2;
	f cuckoofilter;
BEGIN
	FOR i IN 1..6 LOOP
		f := CASE WHEN i % 2 = 1 THEN a ELSE b END;
		RAISE NOTICE '% %', f @> 1, f @> 2;
	END LOOP;
END
$$;

-- a filter that is updated while it is scanned
BEGIN;
UPDATE filters SET f = f + -1 WHERE name = 'even';
SELECT f @> -1 FROM filters WHERE name = 'even';
ROLLBACK;
SELECT f @> -1 FROM filters WHERE name = 'even';

-- index on an expression, partial index, check constraint, generated column
CREATE TABLE g (id integer, h bigint GENERATED ALWAYS AS (cuckoofilter_hash(id)) STORED,
	CHECK (NOT cuckoofilter_create(10) @> id));
CREATE INDEX ON g (cuckoofilter_hash(id));
INSERT INTO g SELECT * FROM generate_series(1, 5);
SELECT count(*) FROM g WHERE h = cuckoofilter_hash(id);

-- the estimate follows the filter where it is known; both forms agree
CREATE FUNCTION rows_of(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	plan jsonb;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
	RETURN plan #>> '{0,Plan,Plan Rows}';
END
$$;
SELECT name, rows_of(format('SELECT FROM t WHERE %L::cuckoofilter @> %s', f, c)) BETWEEN n * 0.9 - 20 AND n * 1.1 + 20 AS operator,
	rows_of(format('SELECT FROM t WHERE %s <@ %L::cuckoofilter', c, f)) BETWEEN n * 0.9 - 20 AND n * 1.1 + 20 AS commuted,
	rows_of(format('SELECT FROM t WHERE cuckoofilter_contains(%L, %s)', f, c)) BETWEEN n * 0.9 - 20 AND n * 1.1 + 20 AS function
	FROM filters JOIN (VALUES ('third', 3333, 'id'), ('seven', 1428, 'id'), ('small', 2, 'id'), ('text', 5000, 's')) v(name, n, c) USING (name) ORDER BY name;
-- one tenth where it is not
SELECT rows_of('SELECT FROM t WHERE cuckoofilter_contains((SELECT f FROM filters LIMIT 1), id)') AS unknown,
	rows_of('SELECT FROM t WHERE NULL::cuckoofilter @> id') <= 1 AS null,
	rows_of($$SELECT FROM t WHERE current_setting('no.filter', true)::cuckoofilter @> id$$) <= 1 AS null_later;
SELECT rows_of('SELECT FROM t JOIN filters ON cuckoofilter_contains(f, id)') AS joined;
-- most common values
CREATE TABLE skewed AS SELECT CASE WHEN g % 10 < 9 THEN 1 ELSE g END AS id FROM generate_series(1, 10000) g;
ANALYZE skewed;
SELECT rows_of(format('SELECT FROM skewed WHERE %L::cuckoofilter @> id', cuckoofilter_create(9) + 1)) BETWEEN 8800 AND 9200 AS common,
	rows_of(format('SELECT FROM skewed WHERE %L::cuckoofilter @> id', cuckoofilter_create(9) + 2)) < 300 AS rare;
-- operators of one's own, which the planner calls without their expression for a column's common values:
-- the declared type tells what is hashed, where it can
CREATE FUNCTION typed(integer, cuckoofilter) RETURNS boolean LANGUAGE c STABLE STRICT
	AS '$libdir/cuckoofilter', 'cuckoofilter_contained';
CREATE OPERATOR <@? (FUNCTION = typed, LEFTARG = integer, RIGHTARG = cuckoofilter, RESTRICT = matchingsel);
CREATE FUNCTION untyped(anyelement, cuckoofilter) RETURNS boolean LANGUAGE c STABLE STRICT
	AS '$libdir/cuckoofilter', 'cuckoofilter_contained';
CREATE OPERATOR <@?? (FUNCTION = untyped, LEFTARG = anyelement, RIGHTARG = cuckoofilter, RESTRICT = matchingsel);
SELECT rows_of(format('SELECT FROM skewed WHERE id <@? %L::cuckoofilter', cuckoofilter_create(9) + 1)) BETWEEN 8800 AND 9200 AS common,
	rows_of(format('SELECT FROM skewed WHERE id <@? %L::cuckoofilter', cuckoofilter_create(9) + 2)) < 300 AS rare;
\set VERBOSITY terse
SELECT rows_of(format('SELECT FROM skewed WHERE id <@?? %L::cuckoofilter', cuckoofilter_create(9) + 1));
\set VERBOSITY default
DROP OPERATOR <@? (integer, cuckoofilter);
DROP OPERATOR <@?? (anyelement, cuckoofilter);
DROP FUNCTION typed, untyped;
-- and one that has no item to look up: one tenth again
CREATE FUNCTION crowded(cuckoofilter) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN cuckoofilter_count($1) > 9; END';
CREATE OPERATOR ?! (FUNCTION = crowded, RIGHTARG = cuckoofilter, RESTRICT = cuckoofilter_sel);
SELECT rows_of('SELECT FROM t WHERE ?! (cuckoofilter_create(10) + id)') AS crowded;
DROP OPERATOR ?! (NONE, cuckoofilter);
DROP FUNCTION crowded;
DROP FUNCTION rows_of;
DROP TABLE t, filters, g, skewed;
