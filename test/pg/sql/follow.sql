-- Filter tables that follow a column.
\pset format unaligned
\pset tuples_only on
CREATE TABLE account (id bigint PRIMARY KEY, email text UNIQUE NOT NULL);
INSERT INTO account VALUES (1, 'ann@x'), (2, 'bob@x'), (3, 'cleo@x');
SELECT cuckoofilter_table_follow('account', 'email');
SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgrelid = 'account'::regclass ORDER BY tgname;
SELECT cuckoofilter_table_contains('account_email_filter', 'ann@x');
INSERT INTO account SELECT g, 'm' || g FROM generate_series(4, 2000) AS g;
UPDATE account SET email = 'rob@x' WHERE id = 2;
DELETE FROM account WHERE id = 3;
SELECT item, cuckoofilter_table_contains('account_email_filter', item) FROM unnest(ARRAY['ann@x', 'bob@x', 'rob@x', 'cleo@x']) AS item;
SELECT count(*) FROM account WHERE cuckoofilter_table_contains('account_email_filter', email);

-- a change of another column writes nothing
CREATE TABLE before AS SELECT id, xmin::text AS by FROM account_email_filter;
UPDATE account SET id = id + 10000;
SELECT count(*) FROM before JOIN account_email_filter AS f USING (id) WHERE before.by <> f.xmin::text;

-- upserts, COPY, savepoints, rows that come more than once
INSERT INTO account VALUES (1, 'ann@x') ON CONFLICT (email) DO UPDATE SET email = 'ann@y';
INSERT INTO account VALUES (5, 'ann@y') ON CONFLICT DO NOTHING;
COPY account FROM STDIN;
6	eve@x
\.
BEGIN;
SAVEPOINT s;
INSERT INTO account VALUES (8, 'gus@x');
ROLLBACK TO s;
DELETE FROM account WHERE id = 6;
SAVEPOINT t;
INSERT INTO account VALUES (9, 'hal@x');
COMMIT;
SELECT item, cuckoofilter_table_contains('account_email_filter', item) FROM unnest(ARRAY['ann@x', 'ann@y', 'eve@x', 'gus@x', 'hal@x']) AS item;
SELECT cuckoofilter_export('account_email_filter') = cuckoofilter_agg(email, 0.01, 1000000), cuckoofilter_table_check('account_email_filter') FROM account;

-- names
ALTER TABLE account_email_filter RENAME TO mails;
ALTER TABLE account RENAME email TO mail;
CREATE SCHEMA there;
ALTER TABLE account SET SCHEMA there;
ALTER TABLE mails SET SCHEMA there;
SET search_path = there, public;
INSERT INTO account VALUES (77, 'new');
SELECT cuckoofilter_table_contains('mails', 'new');

-- other columns change as without the filter; the column itself does not change its type
ALTER TABLE account ADD COLUMN more int DEFAULT 7, ADD COLUMN made int GENERATED ALWAYS AS (id * 2) STORED;
ALTER TABLE account ALTER more TYPE bigint;
SELECT cuckoofilter_table_follow('account', 'id', name => 'mails');
INSERT INTO account VALUES (79, 'wider');
SELECT cuckoofilter_table_contains('mails', 'wider');
DELETE FROM account WHERE id = 79;
ALTER TABLE account DROP COLUMN more, DROP COLUMN made;

-- filled anew
ALTER TABLE account DISABLE TRIGGER USER;
DELETE FROM account WHERE id = 77;
INSERT INTO account VALUES (78, 'unseen');
ALTER TABLE account ENABLE TRIGGER USER;
SELECT cuckoofilter_table_contains('mails', 'new'), cuckoofilter_table_contains('mails', 'unseen');
SELECT cuckoofilter_table_follow('account', 'mail', name => 'mails');
SELECT cuckoofilter_table_contains('mails', 'new'), cuckoofilter_table_contains('mails', 'unseen');
SELECT count(*) FROM pg_trigger WHERE tgrelid = 'account'::regclass;

-- who writes to the source needs no right on the filter
CREATE ROLE regress_cuckoofilter_writes;
GRANT ALL ON SCHEMA there TO regress_cuckoofilter_writes;
GRANT ALL ON account TO regress_cuckoofilter_writes;
SET ROLE regress_cuckoofilter_writes;
INSERT INTO account VALUES (80, 'theirs');
SELECT cuckoofilter_table_contains('mails', 'theirs');
SELECT cuckoofilter_table_follow('account', 'id');
CREATE TABLE own (mail text);
CREATE TRIGGER own AFTER INSERT ON own REFERENCING NEW TABLE AS added FOR EACH STATEMENT
	WHEN (cuckoofilter_follows('mails'::regclass)) EXECUTE FUNCTION cuckoofilter_table_changed();
INSERT INTO own VALUES ('forged');
DROP TABLE own;
RESET ROLE;
SELECT cuckoofilter_table_contains('mails', 'theirs'), cuckoofilter_table_contains('mails', 'forged');

-- TRUNCATE, DROP
TRUNCATE account;
SELECT cuckoofilter_table_info('mails') -> 'count';
INSERT INTO account VALUES (1, 'again');
SELECT cuckoofilter_table_contains('mails', 'again');
\set VERBOSITY terse
DROP TABLE mails;
ALTER TABLE account DROP COLUMN mail;
ALTER TABLE account ALTER mail TYPE varchar;
BEGIN;
ALTER TABLE account DROP COLUMN mail CASCADE;
INSERT INTO account VALUES (3);
ROLLBACK;
DROP TABLE mails CASCADE;
SELECT count(*) FROM pg_trigger WHERE tgrelid = 'account'::regclass;
INSERT INTO account VALUES (2, 'free');

-- partitions: rows that come through the parent, into a partition, and from one to another
CREATE TABLE parted (part int, gone text, key int) PARTITION BY LIST (part);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES IN (1);
CREATE TABLE parted_2 (key int, gone text, part int);
ALTER TABLE parted_2 DROP COLUMN gone, ADD COLUMN gone text;
ALTER TABLE parted ATTACH PARTITION parted_2 FOR VALUES IN (2);
INSERT INTO parted SELECT 1 + g % 2, 'x', g FROM generate_series(1, 3000) AS g;
SELECT cuckoofilter_table_follow('parted', 'key', 0.001, 20000, 'keys');
INSERT INTO parted VALUES (1, 'x', 5001), (2, 'x', 5002);
INSERT INTO parted_2 VALUES (5003, 2, 'x');
UPDATE parted SET part = 3 - part WHERE key IN (1, 2, 5003);
UPDATE parted_1 SET key = key + 10000 WHERE key IN (1, 3);
DELETE FROM parted WHERE key BETWEEN 10 AND 100;
DELETE FROM parted_2 WHERE key BETWEEN 100 AND 110;
SELECT cuckoofilter_export('keys') = cuckoofilter_agg(key, 0.001, 20000), count(*) FROM parted;
TRUNCATE parted_1;
SELECT cuckoofilter_export('keys') = cuckoofilter_agg(key, 0.001, 20000), count(*) FROM parted;
TRUNCATE parted;
SELECT cuckoofilter_table_info('keys') -> 'count';

-- a partition that was detached keeps its triggers, and its items; not once the filter is filled anew
INSERT INTO parted SELECT 1 + g % 2, 'x', g FROM generate_series(1, 100) AS g;
ALTER TABLE parted DETACH PARTITION parted_2;
TRUNCATE parted_2;
SELECT count(*) FROM parted WHERE cuckoofilter_table_contains('keys', key);
INSERT INTO parted_2 VALUES (2, 2, 'x'), (5, 2, 'x');
SELECT cuckoofilter_table_follow('parted', 'key', name => 'keys');
DELETE FROM parted_2;
SELECT count(*) FROM parted WHERE cuckoofilter_table_contains('keys', key);
-- a trigger that was dropped
DROP TRIGGER keys_inserted ON parted;
SELECT cuckoofilter_table_follow('parted', 'key', name => 'keys');
INSERT INTO parted VALUES (1, 'x', 7777);
SELECT cuckoofilter_table_contains('keys', 7777);

-- inheritance, cascades, generated columns, copies of an item
CREATE TABLE city (name text PRIMARY KEY, low text GENERATED ALWAYS AS (lower(name)) STORED);
CREATE TABLE capital (of text) INHERITS (city);
INSERT INTO city VALUES ('Rome'), ('Oslo'), ('Kiel');
INSERT INTO capital VALUES ('Paris', DEFAULT, 'France');
SELECT cuckoofilter_table_follow('city', 'low', name => 'cities');
INSERT INTO capital VALUES ('Bern', DEFAULT, 'Switzerland');
UPDATE city SET name = 'OSLO' WHERE name = 'Oslo';
DELETE FROM city WHERE name IN ('Paris', 'Kiel');
SELECT item, cuckoofilter_table_copies('cities', item) FROM unnest(ARRAY['rome', 'oslo', 'kiel', 'paris', 'bern']) AS item;
CREATE TABLE visit (city text REFERENCES city ON DELETE CASCADE ON UPDATE CASCADE);
INSERT INTO visit VALUES ('Rome'), ('Rome'), ('OSLO'), (NULL);
SELECT cuckoofilter_table_follow('visit', 'city', name => 'visits');
DELETE FROM city WHERE name = 'OSLO';
UPDATE city SET name = 'Roma' WHERE name = 'Rome';
DELETE FROM visit WHERE ctid = (SELECT ctid FROM visit WHERE city = 'Roma' LIMIT 1);
SELECT item, cuckoofilter_table_copies('visits', item) FROM unnest(ARRAY['Rome', 'Roma', 'OSLO']) AS item;

-- what is refused
SELECT cuckoofilter_table_follow('city', 'lower(name)');
SELECT cuckoofilter_table_follow('city', 'ctid');
SELECT cuckoofilter_table_follow('city', 'name', name => 'visit');
CREATE VIEW towns AS SELECT * FROM city;
SELECT cuckoofilter_table_follow('towns', 'name');
ALTER TABLE visit ADD COLUMN doc json;
SELECT cuckoofilter_table_follow('visit', 'doc');
SELECT cuckoofilter_table_follow('visit', 'city', 0.01, 0, 'none');
SELECT cuckoofilter_table_follow(NULL, 'city');
SELECT cuckoofilter_table_contains('visit', 'Rome');
-- parameters and names of a filter that there is
SELECT cuckoofilter_table_follow('visit', 'city', 0.02);
SELECT cuckoofilter_table_follow('visit', 'city', 0.01, 2000000, 'visits');
SELECT cuckoofilter_table_follow('visit', 'city', 0.01, 1000000);
ALTER TABLE visit RENAME city TO town;
SELECT cuckoofilter_table_follow('visit', 'town');
CREATE TABLE swap (a text, b text);
SELECT cuckoofilter_table_follow('swap', 'a'), cuckoofilter_table_follow('swap', 'b', NULL, 1000);
ALTER TABLE swap RENAME TO swapped;
CREATE TABLE swap (a text, b text);
SELECT cuckoofilter_table_follow('swap', 'a');
ALTER TABLE swapped RENAME b TO c;
ALTER TABLE swapped ADD b text;
SELECT cuckoofilter_table_follow('swapped', 'b', name => 'swap_b_filter');
SELECT cuckoofilter_table_follow('swapped', 'c');
SELECT cuckoofilter_table_changed();
CREATE TABLE loose (a int);
CREATE TRIGGER loose AFTER INSERT ON loose EXECUTE FUNCTION cuckoofilter_table_changed();
INSERT INTO loose VALUES (1);
DROP TRIGGER loose ON loose;
CREATE TRIGGER loose AFTER INSERT ON loose REFERENCING NEW TABLE AS added FOR EACH ROW WHEN (cuckoofilter_follows('visits')) EXECUTE FUNCTION cuckoofilter_table_changed();
INSERT INTO loose VALUES (1);
DROP TRIGGER loose ON loose;
CREATE TRIGGER loose AFTER INSERT ON loose FOR EACH STATEMENT WHEN (cuckoofilter_follows('visits')) EXECUTE FUNCTION cuckoofilter_table_changed();
INSERT INTO loose VALUES (1);

-- what an integer type cannot hold is not added; a lookup says that it is not there
SELECT cuckoofilter_table_create('small', 'int', 1000, 0.000001);
SELECT cuckoofilter_table_add('small', 7::bigint), cuckoofilter_table_add('small', 8.0), cuckoofilter_table_add('small', 9::float8), cuckoofilter_table_contains('small', 8);
SELECT cuckoofilter_table_add('small', 5000000000);
SELECT cuckoofilter_table_add('small', 50000000000000000000);
SELECT cuckoofilter_table_add('small', 1e300::float8);
SELECT cuckoofilter_table_add('small', 12.5);
SELECT cuckoofilter_table_add_all('small', '{1,12.5}'::numeric[]);
SELECT cuckoofilter_table_contains('small', 5000000000), cuckoofilter_table_contains('small', 12.5), cuckoofilter_table_info('small') -> 'count';

SET search_path = public;
DROP SCHEMA there CASCADE;
DROP TABLE before;
DROP ROLE regress_cuckoofilter_writes;
