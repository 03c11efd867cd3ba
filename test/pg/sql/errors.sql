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
	('SELECT cuckoofilter_create(1.5)'),
	('SELECT cuckoofilter_create(0.0)'),
	('SELECT cuckoofilter_create(1e13)'),
	('SELECT cuckoofilter_create(1e300)'),
	('SELECT cuckoofilter_create(''NaN'')'),
	('SELECT cuckoofilter_create(''-infinity''::float8)'),
	('SELECT cuckoofilter_create(9007199254740993)'),
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
	('SELECT cuckoofilter_agg(1, 0.01, 2.5)'),
	('SELECT cuckoofilter_agg_hash(1, 0.01, -2.0, '''')'),
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
	('SELECT ''\x434b46''::cuckoofilter'),
	('SELECT (f::bytea)::text::cuckoofilter FROM f'),
	('SELECT upper(encode(f::bytea, ''hex''))::cuckoofilter FROM f'),
	('SELECT ''Q0tG''::cuckoofilter'),
	('SELECT ''Q0t!''::cuckoofilter'),
	('SELECT (f::text || ''A'')::cuckoofilter FROM f'),
	('SELECT ('' '' || f::text)::cuckoofilter FROM f'),
	('SELECT (f::text || E''\n'')::cuckoofilter FROM f'),
	('SELECT rtrim(f::text, ''='')::cuckoofilter FROM f'),
	('SELECT encode(substr(f::bytea, 1, 55), ''base64'')::cuckoofilter FROM f'),
	('SELECT ''\x''::bytea::cuckoofilter'),
	('SELECT set_byte(f::bytea, 0, 88)::cuckoofilter FROM f'),
	('SELECT set_byte(f::bytea, 3, 4)::cuckoofilter FROM f'),
	('SELECT set_byte(f::bytea, 4, 99)::cuckoofilter FROM f'),
	('SELECT set_byte(f::bytea, 14, 1 - sign(cuckoofilter_count(f))::integer)::cuckoofilter FROM f'),
	('SELECT set_byte(f::bytea, 15, 1)::cuckoofilter FROM f'),
	('SELECT encode(set_byte(f::bytea, 3, 4), ''base64'')::cuckoofilter FROM f'),
	('SELECT (f::bytea || ''\x00'')::cuckoofilter FROM f'),
	-- items
	('SELECT f @> point ''(1,2)'' FROM f'),
	('SELECT cuckoofilter_agg(x) FROM (VALUES (json ''{}'')) t(x)'),
	('SELECT cuckoofilter_add_all(f, VARIADIC ''{1}''::tsvector[]) FROM f'),
	('SELECT f @> (a || b) FROM f, (VALUES (''a'' COLLATE "C", ''b'' COLLATE "POSIX")) t(a, b)'),
	-- items of a class that the filter never saw
	('SELECT f @> ''1'' FROM f'),
	('SELECT ''1'' <@ f FROM f'),
	('SELECT cuckoofilter_contains(f, ''1''::text) FROM f'),
	('SELECT cuckoofilter_copies(f, ''1'') FROM f'),
	('SELECT f + ''1'' FROM f'),
	('SELECT f - ''1'' FROM f'),
	('SELECT s - ''1'' FROM f'),
	('SELECT cuckoofilter_add_all(f, 2, ''1'', 3) FROM f'),
	('SELECT cuckoofilter_remove_all(f, ARRAY[''1'']) FROM f'),
	('SELECT cuckoofilter_contains_any(f, ''1'', 1) FROM f'),
	('SELECT cuckoofilter_contains_all(f, VARIADIC ARRAY[''1'']) FROM f'),
	('SELECT cuckoofilter_contains_any_array(f, ''1'', ''2'') FROM f'),
	('SELECT f @> ''a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'' FROM (SELECT cuckoofilter_agg(u) FROM (VALUES (gen_random_uuid())) v(u)) t(f)'),
	('SELECT cuckoofilter_agg(date ''2024-01-01'') @> ''2024-01-01'''),
	('SELECT cuckoofilter_agg(timestamptz ''2024-01-01 00:00+0'') @> date ''2024-01-01'''),
	('SELECT cuckoofilter_add_all(cuckoofilter_create(9), 1, ''a'') @> ''\x00''::bytea'),
	('SELECT cuckoofilter_add_all(cuckoofilter_create(9), 1, ''a'', ''\x00''::bytea, date ''2024-01-01'') @> ARRAY[1]'),
	('SELECT cuckoofilter_create(9) + ''a'' @> 1'),
	('SELECT cuckoofilter_create(9) + ARRAY[1] @> 1'),
	('SELECT f @> inet ''::1'' FROM f'),
	-- a number of parts
	('SELECT cuckoofilter_part(1, 0)'),
	-- stored data
	('SELECT cuckoofilter_count(damaged(''\x434b46'', ''''))'),
	('SELECT cuckoofilter_count(damaged(f::bytea, ''a'')) FROM f'),
	('SELECT damaged(f::bytea, ''a'') @> 1 FROM f'),
	('SELECT f | damaged(''\x'', ''a'') FROM f'),
	-- support functions
	('SELECT cuckoofilter_sum_agg_combine(f, f) FROM f'),
	('SELECT cuckoofilter_merge_agg_final(f) FROM f')
	) t(query);

-- a filter is no item, and neither is what contains one; its bytes are
CREATE TYPE filtered AS (a integer, f cuckoofilter);
CREATE TYPE nested AS (a integer, b filtered[]);
CREATE DOMAIN domained AS cuckoofilter;
CREATE DOMAIN domained_twice AS domained[];
CREATE TYPE filters AS RANGE (subtype = cuckoofilter);
CREATE TABLE kinds AS SELECT kind, value FROM (VALUES
	('a filter', 'f'), ('an array', 'ARRAY[f, f]'), ('an empty array', 'ARRAY[]::cuckoofilter[]'), ('a record', 'ROW(1, f)'), ('a composite', 'ROW(1, f)::filtered'), ('one without it', 'ROW(1, NULL)::filtered'),
	('nested', 'ROW(1, ARRAY[ROW(2, f)::filtered])::nested'), ('a domain', 'f::domained'), ('of an array', 'ARRAY[f::domained]::domained_twice'), ('a range', 'filters(f, NULL)')) v(kind, value);
CREATE FUNCTION refused(call text) RETURNS text LANGUAGE sql AS $$
	SELECT coalesce(string_agg(kind || ': ' || error, E'\n' ORDER BY kind), 'all')
	FROM (SELECT kind, error_of(format(replace('SELECT %s FROM f', '%s', replace(call, 'X', '%1$s')), value)) AS error FROM kinds) k
	WHERE error NOT LIKE '42804 a cuckoofilter is not an item' || E'\n' || '%'
$$;
SELECT call, refused(call) FROM (VALUES ('f + X'), ('f - X'), ('f @> X'), ('X <@ f'), ('s + X'), ('cuckoofilter_add(f, X)'), ('cuckoofilter_remove(f, X)'), ('cuckoofilter_contains(f, X)'), ('cuckoofilter_copies(f, X)'),
	('cuckoofilter_hash(X)'), ('cuckoofilter_hash(X, 7)'), ('cuckoofilter_part(X, 7)'), ('cuckoofilter_add_all(f, 1, X)'), ('cuckoofilter_add_all(f, X, 1)'), ('cuckoofilter_add_all(f, X)'), ('cuckoofilter_remove_all(f, 1, X)'),
	('cuckoofilter_contains_any(f, 1, X)'), ('cuckoofilter_contains_all(f, 1, X)'), ('cuckoofilter_add_pair(f, X, 1)'), ('cuckoofilter_add_pair(f, 1, X)'), ('cuckoofilter_remove_pair(f, X, 1)'), ('cuckoofilter_remove_pair(f, 1, X)'),
	('cuckoofilter_contains_pair(f, X, 1)'), ('cuckoofilter_contains_pair(f, 1, X)'), ('cuckoofilter_which(f, X, ARRAY[1])'), ('cuckoofilter_which(f, 1, ARRAY[X])'), ('cuckoofilter_agg(X)'), ('cuckoofilter_agg(X, 0.01, 1e3)'), ('cuckoofilter_agg_pair(X, 1)'),
	('cuckoofilter_agg_pair(1, X)'), ('cuckoofilter_add_agg(f, X)')) v(call);
SELECT error_of('SELECT f + f FROM f'), error_of('SELECT cuckoofilter_agg(f) FROM f'), error_of('SELECT cuckoofilter_add_all_array(f, f, s) FROM f'), error_of('SELECT cuckoofilter_add_all(f, VARIADIC ARRAY[f]) FROM f'),
	error_of('SELECT cuckoofilter_add_agg(CASE n WHEN 2 THEN f END, f ORDER BY n) FROM f, generate_series(1, 2) n');
SELECT (g + f::bytea) @> f::bytea, cuckoofilter_count(cuckoofilter_agg(f::bytea)), cuckoofilter_count(g + NULL::cuckoofilter), cuckoofilter_count(cuckoofilter_agg(NULL::cuckoofilter)) FROM f, cuckoofilter_create(9) g GROUP BY g, f;
-- the type is found wherever the extension is
CREATE SCHEMA elsewhere;
ALTER EXTENSION cuckoofilter SET SCHEMA elsewhere;
SELECT error_of('SELECT elsewhere.cuckoofilter_add(f, f) FROM f');
ALTER EXTENSION cuckoofilter SET SCHEMA public;
-- the planner estimates it as any other item
CREATE TABLE columns AS SELECT cuckoofilter_create(9) + g AS f FROM generate_series(1, 100) g;
ANALYZE columns;
SELECT error_of('DO $do$ DECLARE plan text; BEGIN EXECUTE ''EXPLAIN SELECT FROM columns WHERE cuckoofilter_create(9) + 1 @> f'' INTO plan; END $do$');
DROP TABLE columns, kinds;
DROP SCHEMA elsewhere;
DROP FUNCTION refused;
DROP TYPE filters, nested, filtered;
DROP DOMAIN domained_twice, domained;

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

-- for a batch, or a few items, as a whole; the capacity that the hint names is enough
SELECT cuckoofilter_add_agg(f, i) AS full FROM (SELECT cuckoofilter_agg(i) AS f FROM generate_series(1, 10000) i) f, generate_series(10001, 83000) i \gset
SELECT error_of('SELECT cuckoofilter_add_agg(f, i) FROM (SELECT cuckoofilter_agg(i) AS f FROM generate_series(1, 10000) i) f, generate_series(10001, 1000000) i'),
	error_of('SELECT cuckoofilter_add_all(f, ARRAY(SELECT generate_series(10001, 1000000))) FROM (SELECT cuckoofilter_agg(i) AS f FROM generate_series(1, 10000) i) f'),
	error_of('SELECT cuckoofilter_union(a, b) FROM (SELECT cuckoofilter_agg(i, 0.01, 1000, ''bucket_size=2'') AS a FROM generate_series(1, 10000) i) a, (SELECT cuckoofilter_agg(i, 0.01, 1000, ''bucket_size=2'') AS b FROM generate_series(10001, 70000) i) b'),
	error_of('SELECT cuckoofilter_sum(a, b) FROM (SELECT cuckoofilter_agg(i) AS a FROM generate_series(1, 10000) i) a, (SELECT cuckoofilter_agg(i) AS b FROM generate_series(10001, 1000000) i) b'),
	error_of(format('SELECT cuckoofilter_add_all(%L, ARRAY(SELECT generate_series(100001, 100900)))', :'full')),
	error_of(format('SELECT cuckoofilter_add_agg(%L, i) FROM generate_series(100001, 100900) i', :'full'));
SELECT cuckoofilter_fpr(cuckoofilter_add_agg(f, i)) < 0.01 FROM (SELECT cuckoofilter_agg(i, 0.01, 1000000) AS f FROM generate_series(1, 10000) i) f, generate_series(10001, 1000000) i;
-- an item before its filter; the rate in percent, among the options, in the place of the capacity
SELECT error_of(query) FROM (VALUES
	('SELECT cuckoofilter_contains(''bob'', f) FROM f'),
	('SELECT cuckoofilter_contains(''bobs'', f) FROM f'),
	('SELECT ''bob'' @> f FROM f'),
	('SELECT cuckoofilter_create(1000, 0.01, ''fpr=1%'')'),
	('SELECT cuckoofilter_create(1000, 0.01, ''kind=set bucket_size=4'')'),
	('SELECT cuckoofilter_create(1000, 1000000)'),
	('SELECT cuckoofilter_agg(i, 1000000) FROM generate_series(1, 3) i'),
	('SELECT cuckoofilter_agg(i, 1000000, 0.01) FROM generate_series(1, 3) i'),
	('SELECT cuckoofilter_overlap(a, b) FROM (SELECT cuckoofilter_agg(i, 0.01, 10) AS a FROM generate_series(1, 1000) i) a, (SELECT cuckoofilter_agg(i) AS b FROM generate_series(1, 1000000) i) b')
	) t(query);

-- of filters that know nothing, or hold hashes of one's own, all may be asked; unlike ones may be merged
SELECT cuckoofilter_create(9) @> 'a', cuckoofilter_create(9) @> 1, cuckoofilter_create(9) - 'a' @> 1, f - 1 + 'a' @> 'a', f @> NULL::text, cuckoofilter_contains_any(f, NULL::text, 1),
	cuckoofilter_contains_all(f, '{}'::text[]), cuckoofilter_contains_all(f, ARRAY[NULL::text]), cuckoofilter_add_hash(f, 5) @> 'a', cuckoofilter_contains_hash(f, cuckoofilter_hash('1'::text)),
	cuckoofilter_remove_hash(f, 5) = f, (f | cuckoofilter_agg('a'::text)) @> 'a', cuckoofilter_sum(f, cuckoofilter_create(1) + 'a') @> 'b', f + NULL::text = f FROM f GROUP BY f;
-- the planner folds a constant question, as it folds 1/0; what it estimates it asks without a word
SELECT error_of('EXPLAIN SELECT FROM f WHERE cuckoofilter_create(9) + 1 @> ''a''');
CREATE TABLE words AS SELECT g::text AS word, g AS number FROM generate_series(1, 1000) g;
ANALYZE words;
SELECT error_of('EXPLAIN SELECT FROM words WHERE cuckoofilter_create(9) + 1 @> word');
SELECT error_of('SELECT FROM words WHERE cuckoofilter_create(9) + 1 @> word');
SELECT error_of('SELECT FROM words WHERE number < 0 AND cuckoofilter_create(9) + 1 @> word');
DROP TABLE words;
-- a filter of release 1.0.0 does not say what it holds, but hashed some types otherwise
SELECT error_of(format('SELECT %L::cuckoofilter @> ARRAY[1]', o.f)), o.f @> 1 AS one, o.f @> 'a' AS two, o.f + NULL = o.f AS same, cuckoofilter_info(o.f) -> 'item_classes' AS classes, cuckoofilter_info(o.f + 2) -> 'format_version' AS version
	FROM (SELECT set_byte(set_byte(f::bytea, 3, 1), 14, 0)::cuckoofilter FROM f) AS o(f);
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
