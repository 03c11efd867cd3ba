-- Filter tables: a filter whose chunks are the rows of an ordinary table.
\pset format unaligned
\pset tuples_only on
SELECT cuckoofilter_table_create('seen', 'bigint');
SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = 'seen'::regclass AND contype = 'c';
SELECT reloptions, attname, atttypid::regtype, attstorage, attnotnull FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid WHERE pg_class.oid = 'seen'::regclass AND attnum > 0;
SELECT id, chunk FROM seen;

-- one item
SELECT cuckoofilter_table_add('seen', 42);
SELECT cuckoofilter_table_add('seen', 42);
SELECT cuckoofilter_table_contains('seen', 42), cuckoofilter_table_contains('seen', 43);
SELECT cuckoofilter_table_copies('seen', 42), cuckoofilter_table_copies('seen', 43);
SELECT cuckoofilter_table_remove('seen', 42);
SELECT cuckoofilter_table_remove('seen', 42), cuckoofilter_table_remove('seen', 42);
SELECT cuckoofilter_table_contains('seen', 42);

-- NULL
SELECT cuckoofilter_table_add('seen', NULL::bigint), cuckoofilter_table_add(NULL, 42);
SELECT cuckoofilter_table_contains('seen', NULL::bigint), cuckoofilter_table_add_all('seen', NULL::bigint[]);

-- many items
SELECT cuckoofilter_table_add_all('seen', ARRAY[1, 2, NULL, 2, 3]);
SELECT cuckoofilter_table_add_all('seen', '{3,4}'), cuckoofilter_table_add_all('seen', '{}'::int[]);
SELECT cuckoofilter_table_copies('seen', 2), cuckoofilter_table_copies('seen', 3), cuckoofilter_table_copies('seen', 4);
SELECT cuckoofilter_table_remove_all('seen', ARRAY[1, 2, 3, 99, NULL]);
SELECT cuckoofilter_table_copies('seen', 2), cuckoofilter_table_copies('seen', 3);
SELECT cuckoofilter_table_add_all('seen', ARRAY(SELECT generate_series(1000, 20999))) > 19900;
SELECT count(*) > 20 FROM seen;
SELECT count(*) FROM generate_series(1000, 20999) AS g WHERE cuckoofilter_table_contains('seen', g);
SELECT count(*) < 200 FROM generate_series(100000, 109999) AS g WHERE cuckoofilter_table_contains('seen', g);

-- each row once
CREATE TABLE staging AS SELECT g % 500 AS id FROM generate_series(500001, 502000) AS g;
CREATE TABLE target (id int);
SELECT cuckoofilter_table_create('once', 'int', 1000, 0.0001, 'kind=set');
INSERT INTO target SELECT * FROM staging WHERE cuckoofilter_table_add('once', id);
SELECT count(*), count(DISTINCT id) FROM target;
SELECT cuckoofilter_table_copies('once', 7);
SELECT cuckoofilter_table_remove('once', 7);

-- a rollback takes back what was added, to a savepoint, too
BEGIN;
SELECT cuckoofilter_table_add('seen', -1);
SAVEPOINT s;
SELECT cuckoofilter_table_add('seen', -2);
SELECT cuckoofilter_table_contains('seen', -1);
ROLLBACK TO s;
SELECT cuckoofilter_table_contains('seen', -1), cuckoofilter_table_contains('seen', -2);
ROLLBACK;
SELECT cuckoofilter_table_contains('seen', -1), cuckoofilter_table_contains('seen', -2);

-- a table without rows
TRUNCATE once;
SELECT cuckoofilter_table_contains('once', 7);
SELECT cuckoofilter_table_add('once', 7);
SELECT cuckoofilter_table_contains('once', 7), count(*) FROM once;

-- types: text is read as INSERT reads it, other types need the same equality
SELECT cuckoofilter_table_add('seen', '77');
SELECT cuckoofilter_table_contains('seen', 77::smallint), cuckoofilter_table_contains('seen', 77.00), cuckoofilter_table_contains('seen', '77'::varchar);
SELECT cuckoofilter_table_contains('seen', 'seventy');
SELECT cuckoofilter_table_contains('seen', 77::float8);
SELECT cuckoofilter_table_contains('seen', 77::oid);
SELECT cuckoofilter_table_contains('seen', true);
SELECT cuckoofilter_table_contains('seen', ARRAY[77]);
SELECT cuckoofilter_table_add_all('seen', ARRAY[date '2026-01-01']);
PREPARE asked AS SELECT cuckoofilter_table_contains('seen', $1);
EXECUTE asked('77');
CREATE TYPE mood AS ENUM ('sad', 'happy');
CREATE TYPE pair AS (a int, b text);
CREATE DOMAIN positive AS int CHECK (VALUE > 0);
SELECT cuckoofilter_table_create('texts', 'text'), cuckoofilter_table_create('chars', 'char(3)'), cuckoofilter_table_create('floats', 'float4'), cuckoofilter_table_create('uuids', 'uuid'), cuckoofilter_table_create('stamps', 'timestamp'), cuckoofilter_table_create('moods', 'mood'), cuckoofilter_table_create('pairs', 'pair'), cuckoofilter_table_create('lists', 'bigint[]'), cuckoofilter_table_create('positives', 'positive');
SELECT cuckoofilter_table_add('texts', 'a');
SELECT cuckoofilter_table_contains('texts', 'a'::name), cuckoofilter_table_contains('texts', 'a '), cuckoofilter_table_contains('texts', 'a'::varchar);
SELECT cuckoofilter_table_contains('texts', 'a'::char(3));
SELECT cuckoofilter_table_contains('texts', 1);
SELECT cuckoofilter_table_add('chars', 'a'::char(3));
SELECT cuckoofilter_table_contains('chars', 'a  '), cuckoofilter_table_contains('chars', 'b');
SELECT cuckoofilter_table_add('floats', 0.1::float4);
SELECT cuckoofilter_table_contains('floats', '0.1'), cuckoofilter_table_contains('floats', 0.1::float4::float8);
SELECT cuckoofilter_table_contains('floats', 0.1);
SELECT cuckoofilter_table_add('uuids', '6fa459ea-ee8a-3ca4-894e-db77e160355e');
SELECT cuckoofilter_table_contains('uuids', '6FA459EAEE8A3CA4894EDB77E160355E');
SELECT cuckoofilter_table_contains('uuids', '6fa459ea');
SELECT cuckoofilter_table_add('stamps', date '2026-01-01');
SELECT cuckoofilter_table_contains('stamps', '2026-01-01'), cuckoofilter_table_contains('stamps', timestamp '2026-01-01 00:00');
SELECT cuckoofilter_table_contains('stamps', timestamptz '2026-01-01');
SELECT cuckoofilter_table_add('moods', 'sad');
SELECT cuckoofilter_table_contains('moods', 'sad'::mood), cuckoofilter_table_contains('moods', 'happy');
SELECT cuckoofilter_table_contains('moods', 'glad');
SELECT cuckoofilter_table_add('pairs', '(1,x)');
SELECT cuckoofilter_table_contains('pairs', ROW(1, 'x')::pair);
SELECT cuckoofilter_table_contains('pairs', ROW(1, 'x'));
SELECT cuckoofilter_table_add('lists', '{1,2}');
SELECT cuckoofilter_table_contains('lists', ARRAY[1, 2]::bigint[]);
SELECT cuckoofilter_table_contains('lists', ARRAY[1, 2]);
SELECT cuckoofilter_table_add('positives', 5);
SELECT cuckoofilter_table_contains('positives', '5'), cuckoofilter_table_contains('positives', 5::positive);
SELECT cuckoofilter_table_contains('positives', '-5');


-- the constraint says what the table is, whatever its name is
ALTER TABLE seen RENAME TO known;
CREATE SCHEMA elsewhere;
ALTER TABLE known SET SCHEMA elsewhere;
SELECT cuckoofilter_table_contains('elsewhere.known', 77);
CREATE TABLE copied (LIKE elsewhere.known INCLUDING ALL);
SELECT cuckoofilter_table_contains('copied', 77);
SELECT cuckoofilter_table_add('copied', 77);
SELECT cuckoofilter_table_contains('copied', 77);
INSERT INTO copied SELECT * FROM once;
UPDATE copied SET chunk = '\x00';
DELETE FROM copied;
INSERT INTO copied SELECT * FROM elsewhere.known;
SELECT cuckoofilter_table_contains('copied', 1000), cuckoofilter_table_contains('copied', 999999);
CREATE TEMP TABLE passing (LIKE copied INCLUDING ALL);
SELECT cuckoofilter_table_add('passing', 1);
SELECT cuckoofilter_table_contains('passing', 1);
SELECT cuckoofilter_table_create('pg_temp.passed', 'text');
SELECT cuckoofilter_table_add('passed', 'x');
SELECT cuckoofilter_table_contains('passed', 'x');

-- what is refused
\set VERBOSITY terse
SELECT cuckoofilter_table_create('copied', 'int');
SELECT cuckoofilter_table_create('a b', 'json');
SELECT cuckoofilter_table_create('other', 'record');
SELECT cuckoofilter_table_create('other', 'cuckoofilter');
SELECT cuckoofilter_table_create('other', 'int', 0);
SELECT cuckoofilter_table_create('other', 'int', 1.5);
SELECT cuckoofilter_table_create('other', 'int', 1000, 1);
SELECT cuckoofilter_table_create('other', 'int', 1000, 0.01, 'kind=sets');
SELECT cuckoofilter_table_create('nowhere.other', 'int');
\set VERBOSITY default
SELECT cuckoofilter_table_contains('target', 1);
CREATE VIEW seen_view AS SELECT * FROM copied;
SELECT cuckoofilter_table_contains('seen_view', 1);
SELECT cuckoofilter_table_add('copied_pkey', 1);
SELECT cuckoofilter_table_add(0, 1);
BEGIN READ ONLY;
SELECT cuckoofilter_table_contains('copied', 1000);
SELECT cuckoofilter_table_add('copied', 1000);
ROLLBACK;
CREATE INDEX ON copied (chunk);
SELECT cuckoofilter_table_contains('copied', 1000);
SELECT cuckoofilter_table_add('copied', 1);
DROP INDEX copied_chunk_idx;
ALTER TABLE copied DROP CONSTRAINT copied_pkey;
SELECT cuckoofilter_table_contains('copied', 1);
ALTER TABLE copied ADD PRIMARY KEY (id);
CREATE FUNCTION noted() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE TRIGGER noted AFTER UPDATE ON copied EXECUTE FUNCTION noted();
SELECT cuckoofilter_table_contains('copied', 1000);
SELECT cuckoofilter_table_add('copied', 1);
DROP TRIGGER noted ON copied;

-- privileges
CREATE ROLE regress_cuckoofilter_asks;
SET ROLE regress_cuckoofilter_asks;
SELECT cuckoofilter_table_contains('copied', 1);
RESET ROLE;
GRANT SELECT ON copied TO regress_cuckoofilter_asks;
SET ROLE regress_cuckoofilter_asks;
SELECT cuckoofilter_table_contains('copied', 1000);
SELECT cuckoofilter_table_add('copied', 1000);
RESET ROLE;
GRANT INSERT, UPDATE ON copied TO regress_cuckoofilter_asks;
SET ROLE regress_cuckoofilter_asks;
SELECT cuckoofilter_table_add('copied', 1000);
RESET ROLE;
ALTER TABLE copied ENABLE ROW LEVEL SECURITY;
SET ROLE regress_cuckoofilter_asks;
SELECT cuckoofilter_table_contains('copied', 1000);
RESET ROLE;

-- damage
DELETE FROM copied WHERE id = (SELECT id FROM copied ORDER BY id OFFSET 3 LIMIT 1);
SELECT count(*) FROM generate_series(1000, 20999) AS g WHERE cuckoofilter_table_contains('copied', g);
SELECT cuckoofilter_export('copied');
DELETE FROM copied WHERE id = (SELECT min(id) FROM copied);
SELECT cuckoofilter_export('copied');
ALTER TABLE copied ADD COLUMN more int;
SELECT cuckoofilter_table_contains('copied', 1000);

DROP TABLE elsewhere.known, copied, passing, passed, once, texts, chars, floats, uuids, stamps, moods, pairs, lists, positives, staging, target CASCADE;
DROP SCHEMA elsewhere;
DROP TYPE mood, pair;
DROP DOMAIN positive;
DROP FUNCTION noted;
DROP ROLE regress_cuckoofilter_asks;

-- the limit
SELECT cuckoofilter_table_create('small', 'int', 1000);
SELECT count(*) FROM generate_series(1, 20000) AS g WHERE cuckoofilter_table_add('small', g);
SELECT cuckoofilter_table_add_all('small', ARRAY(SELECT generate_series(1, 5000)));
SELECT cuckoofilter_table_add_all('small', ARRAY(SELECT generate_series(5001, 20000)));
SELECT count(*) FROM generate_series(1, 5000) AS g WHERE cuckoofilter_table_contains('small', g);

-- whole tables
SELECT cuckoofilter_table_create('grown', 'bigint', 30000), cuckoofilter_table_create('sets', 'bigint', 30000, 0.01, 'kind=set');
SELECT cuckoofilter_table_add_all('grown', ARRAY(SELECT generate_series(1, 20000)));
SELECT cuckoofilter_table_merge('sets', cuckoofilter_export('grown'));
SELECT cuckoofilter_export('grown') = cuckoofilter_agg(g, 0.01, 30000) FROM generate_series(1, 20000) AS g;
SELECT cuckoofilter_count(cuckoofilter_export('grown')), cuckoofilter_info(cuckoofilter_export('sets')) ->> 'kind';
SELECT cuckoofilter_table_info('grown') - ARRAY['pages', 'rows', 'bytes', 'bits_per_item', 'fpr', 'distinct_prefixes'];
SELECT cuckoofilter_table_remove_all('grown', ARRAY(SELECT generate_series(1, 19000)));
SELECT cuckoofilter_table_check('grown'), cuckoofilter_table_check('sets');
CREATE TABLE before AS SELECT count(*) AS rows FROM grown;
SELECT cuckoofilter_table_optimize('grown');
SELECT cuckoofilter_table_check('grown'), cuckoofilter_table_optimize('sets'), cuckoofilter_table_check('sets');
SELECT count(*) < min(rows) FROM grown, before;
SELECT count(*) FROM generate_series(19001, 20000) AS g WHERE cuckoofilter_table_contains('grown', g);
SELECT cuckoofilter_export('grown') = cuckoofilter_agg(g, 0.01, 30000) FROM generate_series(19001, 20000) AS g;
SELECT count(*) FROM generate_series(1, 20000) AS g WHERE cuckoofilter_table_contains('sets', g);
SELECT cuckoofilter_table_merge('grown', cuckoofilter_agg(g, 0.01, 30000, 'kind=set')) FROM generate_series(1, 10) AS g;
SELECT cuckoofilter_table_merge('grown', cuckoofilter_agg(g, 0.01, 100)) FROM generate_series(1, 5000) AS g;
SELECT cuckoofilter_table_merge('grown', cuckoofilter_agg('x' || g, 0.01, 30000)) FROM generate_series(1, 10) AS g;
SELECT cuckoofilter_table_merge('grown', cuckoofilter_agg(g, 0.01, 30000, 'seed=5')) FROM generate_series(1, 10) AS g;
SELECT cuckoofilter_export('small') = cuckoofilter_agg(g, 0.01, 1000), cuckoofilter_export(NULL) IS NULL FROM generate_series(1, 5000) AS g;
TRUNCATE grown;
SELECT cuckoofilter_export('grown') = cuckoofilter_create(30000), cuckoofilter_table_info('grown') -> 'rows';
SELECT cuckoofilter_table_optimize('grown'), cuckoofilter_table_check('grown');
DROP TABLE grown, sets, small, before;

-- decimals: those in a table are exact, and so is its filter
SELECT cuckoofilter_table_create('price', 'numeric', 1000), cuckoofilter_table_create('prices', 'numeric[]', 1000),
	cuckoofilter_table_create('whole', 'bigint', 1000), cuckoofilter_table_create('wholes', 'int[]', 1000);
SELECT cuckoofilter_table_add('price', 0.1234567890123456789), cuckoofilter_table_add('prices', ARRAY[0.1234567890123456789]),
	cuckoofilter_table_add('whole', 7), cuckoofilter_table_add('wholes', ARRAY[7]);
SELECT cuckoofilter_table_contains('price', 0.1234567890123456789), cuckoofilter_table_contains('price', 0.1234567890123456788),
	cuckoofilter_table_contains('prices', ARRAY[0.1234567890123456789]), cuckoofilter_export('price') @> 0.1234567890123456789,
	cuckoofilter_export('prices') @> ARRAY[0.1234567890123456789], cuckoofilter_export('price') @> 0.1234567890123456788;
SELECT cuckoofilter_export('price') = cuckoofilter_agg(0.1234567890123456789, 0.01, 1000), cuckoofilter_export('whole') = cuckoofilter_agg(7, 0.01, 1000),
	cuckoofilter_export('wholes') = cuckoofilter_agg(ARRAY[7], 0.01, 1000);
SELECT cuckoofilter_table_merge('price', cuckoofilter_agg(0.1234567890123456788, 0.01, 1000)), cuckoofilter_table_merge('price', cuckoofilter_export('price')),
	cuckoofilter_table_merge('price', cuckoofilter_create(1000));
SELECT cuckoofilter_table_contains('price', 0.1234567890123456788), cuckoofilter_table_copies('price', 0.1234567890123456789);
-- no filter denies: one that may hold rounded numbers is refused, or asked for those
SELECT cuckoofilter_table_merge('price', cuckoofilter_agg(7.5, 0.01, 1000));
SELECT cuckoofilter_table_merge('prices', cuckoofilter_agg(ARRAY[7.5], 0.01, 1000));
SELECT cuckoofilter_table_merge('price', cuckoofilter_agg_hash(cuckoofilter_hash(0.1234567890123456787), 0.01, 1000));
SELECT cuckoofilter_table_merge('whole', cuckoofilter_export('price'));
SELECT cuckoofilter_table_merge('whole', cuckoofilter_agg(0.1234567890123456789::float8, 0.01, 1000));
SELECT cuckoofilter_table_contains('whole', 0.1234567890123456789), cuckoofilter_table_contains('whole', 0.2234567890123456789);
SELECT cuckoofilter_table_add('whole', 0.1234567890123456789);
SELECT cuckoofilter_table_merge('prices', cuckoofilter_agg('plum'::text, 0.01, 1000));
SELECT cuckoofilter_table_merge('price', cuckoofilter_intersect(cuckoofilter_agg(7.5), cuckoofilter_agg(0.1234567890123456789)));
SELECT cuckoofilter_table_merge('whole', cuckoofilter_intersect(cuckoofilter_agg(7.5), cuckoofilter_agg(0.1234567890123456789)));
DROP TABLE price, prices, whole, wholes;
-- items that are no numbers are in an intersection of hashes as they were
SELECT cuckoofilter_table_create('word', 'text', 1000, options => 'kind=set'), cuckoofilter_table_create('letters', 'char(5)', 1000), cuckoofilter_table_create('pieces', 'char(5)[]', 1000);
SELECT cuckoofilter_table_merge('word', cuckoofilter_intersect(f, f)) FROM (SELECT cuckoofilter_agg_hash(cuckoofilter_hash('plum'::text), 0.01, 1000) AS f) s;
SELECT cuckoofilter_table_contains('word', 'plum'), cuckoofilter_table_contains('word', 'pear');
-- the types that an item is cast to keep all of it: character is character(1)
SELECT cuckoofilter_table_add('letters', 'plum'), cuckoofilter_table_add('pieces', '{plum}');
SELECT cuckoofilter_table_contains('letters', 'plum'::name);
SELECT cuckoofilter_table_contains('pieces', ARRAY['plum'::name]);
SELECT cuckoofilter_table_contains('letters', 'plum'::name::bpchar), cuckoofilter_table_contains('letters', 'plum'::character(1)), cuckoofilter_table_contains('letters', 'plum  '::text), cuckoofilter_table_contains('letters', 'plum'::char(9));
SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = 'letters'::regclass AND contype = 'c';
DROP TABLE word, letters, pieces;

-- each function and its privileges
\set VERBOSITY terse
SELECT cuckoofilter_table_create('theirs', 'int', 1000, 0.0001);
SELECT cuckoofilter_table_add('theirs', 1);
CREATE ROLE regress_cuckoofilter_other;
GRANT SELECT (id, chunk), UPDATE (chunk) ON theirs TO regress_cuckoofilter_other;
SET ROLE regress_cuckoofilter_other;
SELECT cuckoofilter_table_contains('theirs', 1);
SELECT cuckoofilter_table_copies('theirs', 1);
SELECT cuckoofilter_table_info('theirs');
SELECT cuckoofilter_table_check('theirs');
SELECT cuckoofilter_export('theirs');
RESET ROLE;
GRANT SELECT ON theirs TO regress_cuckoofilter_other;
SET ROLE regress_cuckoofilter_other;
SELECT cuckoofilter_table_contains('theirs', 1), cuckoofilter_table_copies('theirs', 1), cuckoofilter_table_info('theirs') -> 'count', cuckoofilter_table_check('theirs'), cuckoofilter_export('theirs') @> 1;
SELECT cuckoofilter_table_add('theirs', 2);
SELECT cuckoofilter_table_add_all('theirs', ARRAY[2]);
SELECT cuckoofilter_table_remove('theirs', 1);
SELECT cuckoofilter_table_remove_all('theirs', ARRAY[1]);
SELECT cuckoofilter_table_merge('theirs', cuckoofilter_create(1000));
SELECT cuckoofilter_table_optimize('theirs');
RESET ROLE;
GRANT INSERT, UPDATE ON theirs TO regress_cuckoofilter_other;
SET ROLE regress_cuckoofilter_other;
SELECT cuckoofilter_table_add('theirs', 2), cuckoofilter_table_add_all('theirs', ARRAY[3]), cuckoofilter_table_remove('theirs', 1), cuckoofilter_table_remove_all('theirs', ARRAY[3]), cuckoofilter_table_merge('theirs', cuckoofilter_create(1000));
SELECT cuckoofilter_table_optimize('theirs');
RESET ROLE;
GRANT DELETE ON theirs TO regress_cuckoofilter_other;
SET ROLE regress_cuckoofilter_other;
SELECT cuckoofilter_table_optimize('theirs'), cuckoofilter_table_contains('theirs', 2), cuckoofilter_table_contains('theirs', 1);
RESET ROLE;
ALTER TABLE theirs ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
SET ROLE regress_cuckoofilter_other;
SELECT cuckoofilter_table_add('theirs', 4);
RESET ROLE;
ALTER TABLE theirs DISABLE ROW LEVEL SECURITY;

-- who may act as the owner of a source makes a filter table of the owner's
CREATE ROLE regress_cuckoofilter_deputy;
GRANT regress_cuckoofilter_other TO regress_cuckoofilter_deputy;
CREATE SCHEMA office AUTHORIZATION regress_cuckoofilter_other;
GRANT ALL ON SCHEMA office TO regress_cuckoofilter_deputy;
CREATE TABLE office.paper (id int, title text);
ALTER TABLE office.paper OWNER TO regress_cuckoofilter_other;
SET ROLE regress_cuckoofilter_deputy;
SELECT cuckoofilter_table_follow('office.paper', 'title');
INSERT INTO office.paper VALUES (1, 'a');
SELECT relowner::regrole, cuckoofilter_table_contains('office.paper_title_filter', 'a') FROM pg_class WHERE oid = 'office.paper_title_filter'::regclass;
RESET ROLE;

-- the schema of the extension, columns of the filter, a copy of the source, its end
CREATE SCHEMA extended;
ALTER EXTENSION cuckoofilter SET SCHEMA extended;
INSERT INTO office.paper VALUES (2, 'b');
SELECT extended.cuckoofilter_table_contains('office.paper_title_filter', 'b'), extended.cuckoofilter_table_follow('office.paper', 'title');
ALTER EXTENSION cuckoofilter SET SCHEMA public;
ALTER TABLE office.paper_title_filter RENAME chunk TO bytes;
ALTER TABLE office.paper_title_filter RENAME id TO number;
CREATE TABLE office.copy (LIKE office.paper INCLUDING ALL);
INSERT INTO office.copy VALUES (3, 'c');
INSERT INTO office.paper VALUES (4, 'd');
SELECT cuckoofilter_table_contains('office.paper_title_filter', 'c'), cuckoofilter_table_contains('office.paper_title_filter', 'd');
DROP EXTENSION cuckoofilter;
DROP TABLE office.paper;
SELECT cuckoofilter_table_contains('office.paper_title_filter', 'd');
DROP SCHEMA office, extended CASCADE;

-- temporary and unlogged tables, inheritance
CREATE TEMP TABLE passing (LIKE theirs INCLUDING ALL) ON COMMIT DELETE ROWS;
BEGIN;
SELECT cuckoofilter_table_add('passing', 1), cuckoofilter_table_contains('passing', 1);
COMMIT;
SELECT cuckoofilter_table_contains('passing', 1);
CREATE TEMP TABLE brief (item int);
SELECT cuckoofilter_table_follow('brief', 'item') IS NOT NULL, cuckoofilter_table_follow('brief', 'item', name => 'briefs') IS NOT NULL;
INSERT INTO brief VALUES (1);
SELECT cuckoofilter_table_contains('brief_item_filter', 1), cuckoofilter_table_contains('briefs', 1);
ALTER TABLE theirs SET UNLOGGED;
SELECT cuckoofilter_table_add('theirs', 5), cuckoofilter_table_contains('theirs', 2);
CREATE TABLE heir () INHERITS (theirs);
INSERT INTO heir SELECT * FROM theirs;
SELECT cuckoofilter_table_contains('theirs', 5), cuckoofilter_table_info('theirs') -> 'rows';
SELECT cuckoofilter_table_contains('heir', 5);
DROP TABLE heir;
CREATE TABLE whole (id bigint, chunk bytea NOT NULL) PARTITION BY RANGE (id);
ALTER TABLE whole ATTACH PARTITION theirs DEFAULT;
SELECT cuckoofilter_table_contains('theirs', 5);
SELECT cuckoofilter_table_contains('whole', 5);
ALTER TABLE whole DETACH PARTITION theirs;
SELECT cuckoofilter_table_contains('theirs', 5);
DROP TABLE theirs, whole, passing, brief, briefs, brief_item_filter CASCADE;
DROP ROLE regress_cuckoofilter_deputy, regress_cuckoofilter_other;

-- the function of the CHECK constraint
SELECT cuckoofilter_chunk_valid(0, '', NULL::int, 0, 0.01, '');
SELECT cuckoofilter_chunk_valid(0, decode(repeat('00', 5000), 'hex'), NULL::int, 1000, 0.01, '');
SELECT cuckoofilter_chunk_valid(0, '', NULL::int, 1000, 0.01, NULL) IS NULL, cuckoofilter_chunk_valid(0, '', NULL::int, 1000, NULL, '') IS NULL, cuckoofilter_chunk_valid(0, '', NULL::int, 1000, 0.01, '');
