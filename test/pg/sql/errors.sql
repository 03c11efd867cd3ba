-- Every error: one sentence, its SQLSTATE, DETAIL and HINT.

CREATE FUNCTION error_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	message text;
	detail text;
	hint text;
BEGIN
	EXECUTE query;
	RETURN 'no error: ' || query;
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
	RETURN concat_ws(E'\n  ', SQLSTATE || ' ' || message, 'DETAIL ' || nullif(detail, ''), 'HINT ' || nullif(hint, ''));
END
$$;
-- a filter as it should not be in a table
CREATE FUNCTION damaged(bytea, bytea) RETURNS cuckoofilter LANGUAGE internal AS 'byteacat';
CREATE TABLE f AS SELECT cuckoofilter_create(10) + 1 AS f, cuckoofilter_create(10, 0.01, 'kind=set') + 1 AS s;

\pset format unaligned
\pset tuples_only on

SELECT error_of(query) FROM (VALUES
	-- parameters
	('SELECT cuckoofilter_create(0)'),
	('SELECT cuckoofilter_create(-5)'),
	('SELECT cuckoofilter_create(1099511627777)'),
	('SELECT cuckoofilter_create(1, 0)'),
	('SELECT cuckoofilter_create(1, 1)'),
	('SELECT cuckoofilter_create(1, ''NaN'')'),
	('SELECT cuckoofilter_create(1, -0.5)'),
	('SELECT cuckoofilter_create(1000000000000, 1e-12)'),
	('SELECT cuckoofilter_create(1, 0.1, ''nonsense'')'),
	('SELECT cuckoofilter_create(1, 0.1, ''seed=1, colour=blue'')'),
	('SELECT cuckoofilter_create(1, 0.1, ''seed=18446744073709551616'')'),
	('SELECT cuckoofilter_create(1, 0.1, ''bucket_size=3'')'),
	('SELECT cuckoofilter_create(1, 0.1, ''bucket_size=8, layout=semi_sorted'')'),
	('SELECT cuckoofilter_create(1, 0.1, '','')'),
	('SELECT cuckoofilter_agg(1, 0.01, -1)'),
	('SELECT cuckoofilter_agg(1, 7)'),
	('SELECT cuckoofilter_agg(1, 0.01, 10, ''x'')'),
	('SELECT cuckoofilter_agg_hash(1, 0.01, 10, ''x'')'),
	-- merges
	('SELECT cuckoofilter_union(cuckoofilter_create(9, 0.01, ''seed=1'') + 1, cuckoofilter_create(9, 0.01, ''seed=-1'') + 1)'),
	('SELECT cuckoofilter_create(9, 0.01, ''seed=1'') + 1 | cuckoofilter_create(9) + 1'),
	-- removal from a set
	('SELECT s - 1 FROM f'),
	('SELECT cuckoofilter_remove(s, 2) FROM f'),
	('SELECT cuckoofilter_remove_hash(f | f, 2) FROM f'),
	-- doors
	('SELECT ''''::cuckoofilter'),
	('SELECT ''a''::cuckoofilter'),
	('SELECT ''Q0tG''::cuckoofilter'),
	('SELECT ''Q0t!''::cuckoofilter'),
	('SELECT (f::text || ''A'')::cuckoofilter FROM f'),
	('SELECT ('' '' || f::text)::cuckoofilter FROM f'),
	('SELECT (f::text || E''\n'')::cuckoofilter FROM f'),
	('SELECT rtrim(f::text, ''='')::cuckoofilter FROM f'),
	('SELECT encode(substr(f::bytea, 1, 55), ''base64'')::cuckoofilter FROM f'),
	('SELECT ''\x''::bytea::cuckoofilter'),
	('SELECT set_byte(f::bytea, 0, 88)::cuckoofilter FROM f'),
	('SELECT set_byte(f::bytea, 3, 2)::cuckoofilter FROM f'),
	('SELECT set_byte(f::bytea, 4, 99)::cuckoofilter FROM f'),
	('SELECT set_byte(f::bytea, 15, 1)::cuckoofilter FROM f'),
	('SELECT encode(set_byte(f::bytea, 3, 2), ''base64'')::cuckoofilter FROM f'),
	('SELECT (f::bytea || ''\x00'')::cuckoofilter FROM f'),
	-- items
	('SELECT f @> point ''(1,2)'' FROM f'),
	('SELECT cuckoofilter_agg(x) FROM (VALUES (json ''{}'')) t(x)'),
	('SELECT cuckoofilter_add_all(f, VARIADIC ''{1}''::tsvector[]) FROM f'),
	('SELECT f @> (a || b) FROM f, (VALUES (''a'' COLLATE "C", ''b'' COLLATE "POSIX")) t(a, b)'),
	-- stored data
	('SELECT cuckoofilter_count(damaged(''\x434b46'', ''''))'),
	('SELECT cuckoofilter_count(damaged(f::bytea, ''a'')) FROM f'),
	('SELECT damaged(f::bytea, ''a'') @> 1 FROM f'),
	('SELECT f | damaged(''\x'', ''a'') FROM f'),
	-- support functions
	('SELECT cuckoofilter_sum_agg_combine(f, f) FROM f'),
	('SELECT cuckoofilter_merge_agg_final(f) FROM f')
	) t(query);

-- the precision is used up
SELECT error_of($$
	DO $do$
	DECLARE
		f cuckoofilter;
	BEGIN
		SELECT cuckoofilter_agg(i) INTO f FROM generate_series(1, 5000) i;
		FOR i IN 1..10 LOOP
			f := cuckoofilter_add_all(f, VARIADIC (SELECT array_agg(j) FROM generate_series(5000 * i + 1, 5000 * (i + 1)) j));
		END LOOP;
	END
	$do$ $$);

-- a merge: the coarse input is named, wherever it stands
CREATE TABLE m AS SELECT (SELECT cuckoofilter_agg(i) FROM generate_series(1, 5000) i) AS coarse,
	(SELECT cuckoofilter_agg(i) FROM generate_series(5001, 200000) i) AS fine;
SELECT error_of('SELECT coarse | fine FROM m');
SELECT error_of('SELECT cuckoofilter_sum(fine, coarse) FROM m');
SELECT error_of('SELECT cuckoofilter_union_agg(f) FROM (SELECT coarse FROM m UNION ALL SELECT fine FROM m) u(f)');
SELECT error_of($$ SELECT cuckoofilter_union_agg(f) FROM (SELECT cuckoofilter_agg(i) FROM generate_series(1, 2000) i GROUP BY i % 200) u(f) $$);
-- copies that crowd
SELECT error_of($$ SELECT cuckoofilter_sum_agg(f) FROM (SELECT cuckoofilter_agg(i, 0.01, 1000000) FROM generate_series(1, 9000) i, generate_series(1, 6) j GROUP BY j) u(f) $$);
DROP TABLE m;
-- base64 that sets bits behind the last byte
SELECT error_of(format('SELECT %L::cuckoofilter', regexp_replace(f::text, '(.)=$', 
		translate(right(rtrim(f::text, '='), 1), 'AEIMQUYcgkosw048', 'BFJNRVZdhlptx159') || '='))) FROM f;

\pset tuples_only off
\pset format aligned
DROP TABLE f;
DROP FUNCTION error_of, damaged;
