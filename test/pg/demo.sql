-- A cuckoo filter at work, in PostgreSQL: `make demo-pg` runs this file.  All of
-- it is plain SQL and commands of psql, to copy from.
--
--   1. MEMBERSHIP      Is this a word?
--   2. GROUP BY        Which package has this file?
--   3. CHANGES         How does a filter follow its table?
--   4. A WEEK          Which visitors are new?
--   5. A JOIN          How much faster is a join with a filter in front of it?
--   6. A JOIN FILTER   And if PostgreSQL makes the filter by itself?

\set ON_ERROR_STOP on
\pset border 2
\pset footer off
CREATE EXTENSION cuckoofilter;

-- =====================================================================
-- 1. MEMBERSHIP: every word of a large English dictionary in a filter
-- Question: is this a word?
-- =====================================================================

CREATE UNLOGGED TABLE word (id serial, word text);
\copy word (word) FROM /usr/share/dict/american-english-insane

-- One aggregate builds it, for a false positive rate of one in a thousand.
CREATE TABLE dictionary AS SELECT cuckoofilter_agg(word, 0.001) AS filter FROM word;

SELECT cuckoofilter_count(filter) AS words,
       (SELECT sum(octet_length(word)) FROM word) AS bytes_of_words,
       octet_length(filter::bytea) AS bytes_of_filter,
       round(8.0 * octet_length(filter::bytea) / cuckoofilter_count(filter), 2) AS bits_per_word
FROM dictionary;

-- Words with two letters swapped, as long as they are no words themselves.
CREATE UNLOGGED TABLE typo AS
    SELECT substr(word, 1, 1) || substr(word, 3, 1) || substr(word, 2, 1) || substr(word, 4) AS word
    FROM word WHERE length(word) > 3
    EXCEPT SELECT word FROM word;

-- No word is missed, and few typos get through.  @> is "contains".
SELECT count(*) AS words, count(*) FILTER (WHERE NOT filter @> word) AS missed
FROM word, dictionary;

SELECT count(*) AS typos, count(*) FILTER (WHERE filter @> word) AS let_through,
       round(100.0 * count(*) FILTER (WHERE filter @> word) / count(*), 4) AS measured_percent,
       (SELECT round(100 * cuckoofilter_fpr(filter)::numeric, 4) FROM dictionary) AS expected_percent,
       0.1 AS promised_percent
FROM typo, dictionary;

-- What a better rate costs, in bits a word:
SELECT fpr AS target_fpr, round(bits, 2) AS bits_per_word, repeat('#', (2 * bits)::integer) AS "."
FROM (VALUES (0.1), (0.01), (0.001), (0.0001), (0.00001)) AS target (fpr),
     LATERAL (SELECT 8.0 * octet_length(cuckoofilter_agg(word, fpr)::bytea) / count(*) AS bits FROM word) AS built;

-- =====================================================================
-- 2. GROUP BY: a filter of the files of each installed package
-- Question: which package has this file?
-- =====================================================================

CREATE UNLOGGED TABLE line (line text);
\copy line FROM PROGRAM 'grep -aH / /var/lib/dpkg/info/*.list | iconv -c -f UTF-8 -t UTF-8' (FORMAT csv, DELIMITER E'\x01', QUOTE E'\x02')
CREATE UNLOGGED TABLE file AS
    SELECT replace(substr(line, 20, colon - 20), '.list', '') AS package,
           substr(line, colon + 1) AS path
    FROM (SELECT line, strpos(line, ':/') AS colon FROM line) AS l;

-- Filters to be merged share a capacity.
CREATE TABLE package AS
    SELECT package, cuckoofilter_agg(path, 0.001, 1000000) AS files FROM file GROUP BY package;

SELECT count(*) AS packages, sum(cuckoofilter_count(files)) AS files,
       sum(octet_length(files::bytea)) AS bytes, (SELECT sum(octet_length(path)) FROM file) AS bytes_of_paths
FROM package;

-- The answer, by a scan over filters instead of over files.
SELECT package FROM package WHERE files @> '/usr/bin/psql'::text;

-- All of them as one:
CREATE TABLE machine AS SELECT cuckoofilter_union_agg(files) AS files FROM package;

SELECT (SELECT count(DISTINCT path) FROM file) AS distinct_paths,
       cuckoofilter_count(files) AS in_the_union,
       (SELECT count(*) FROM file WHERE NOT files @> path) AS missed,
       octet_length(files::bytea) AS bytes
FROM machine;

-- =====================================================================
-- 3. CHANGES: a filter table follows a column
-- Question: how does a filter learn new words, and forget them?
-- =====================================================================

-- One call creates a table of the filter, fills it, and makes triggers that keep it in step.  Its
-- rows are small pieces of the filter, so that many sessions can write.
SELECT cuckoofilter_table_follow('word', 'word', 0.001);

SELECT cuckoofilter_table_contains('word_word_filter', 'semisorting') AS before,
       cuckoofilter_table_info('word_word_filter') -> 'count' AS words;

INSERT INTO word (word) VALUES ('semisorting'), ('fingerprinty');
SELECT cuckoofilter_table_contains('word_word_filter', 'semisorting') AS added,
       cuckoofilter_table_info('word_word_filter') -> 'count' AS words;

DELETE FROM word WHERE word IN ('semisorting', 'fingerprinty');
SELECT cuckoofilter_table_contains('word_word_filter', 'semisorting') AS removed,
       cuckoofilter_table_info('word_word_filter') -> 'count' AS words;

-- All that there is to tell about a filter:
SELECT key, value FROM dictionary, jsonb_each(cuckoofilter_info(filter)::jsonb) ORDER BY key;

-- =====================================================================
-- 4. A WEEK: a filter for each day, and one of them all, as README.md has it
-- Question: which visitors of day 8 are new?
-- =====================================================================

CREATE TABLE click AS SELECT 1 + value % 8 AS day, 500 * (value % 8) + value / 8 % 2500 AS person
  FROM generate_series(0, 79999) AS value;

-- Filters to be merged share a capacity: the number of items in all of them together.
CREATE TABLE click_day AS SELECT day, cuckoofilter_agg(person, 0.01, 10000) AS f FROM click GROUP BY day;
CREATE TABLE click_week AS SELECT cuckoofilter_union_agg(f) AS f FROM click_day WHERE day <= 7;

-- 500 people are new.  A wrong "yes" may hide one in a hundred of them.
SELECT count(DISTINCT person) FROM click, click_week
  WHERE day = 8 AND NOT cuckoofilter_contains(f, person);

-- Which days had person 1234?
SELECT day FROM click_day WHERE cuckoofilter_contains(f, 1234) ORDER BY day;

-- =====================================================================
-- 5. A JOIN: 3 million page views, 400,000 pages of interest
-- Question: how often were the watched pages viewed, and how long did it take?
-- =====================================================================

-- A page's address is two words of the dictionary, 5 million of them.
ANALYZE word;
CREATE UNLOGGED TABLE page_view AS
    SELECT 'https://wiki.example.org/' || a.word || '/' || b.word AS url, page % 1000 AS ms
    FROM (SELECT abs(cuckoofilter_hash(n) % 5000000) AS page FROM generate_series(1, 3000000) AS n) AS p
    JOIN word AS a ON a.id = page % 663000 + 1
    JOIN word AS b ON b.id = page / 10 + 1;

CREATE UNLOGGED TABLE watched AS
    SELECT 'https://wiki.example.org/' || a.word || '/' || b.word AS url, page % 100 AS owner
    FROM generate_series(0, 399999) AS page
    JOIN word AS a ON a.id = page % 663000 + 1
    JOIN word AS b ON b.id = page / 10 + 1;
VACUUM ANALYZE page_view, watched;

-- The stopwatch is read by a statement of its own before and after each query.
CREATE TABLE answer (id serial, step text, views bigint, ms bigint);
CREATE TABLE stopwatch (id serial, at timestamptz);
INSERT INTO stopwatch (at) VALUES (clock_timestamp());

-- Without a filter:
INSERT INTO answer (step, views, ms)
    SELECT 'join', count(*), sum(ms) FROM page_view JOIN watched USING (url);
INSERT INTO stopwatch (at) VALUES (clock_timestamp());

-- With a filter of the watched pages, made by the same query.  Views that it does
-- not let through are never looked up:
INSERT INTO answer (step, views, ms)
    SELECT 'join, prefiltered', count(*), sum(ms) FROM page_view JOIN watched USING (url)
    WHERE cuckoofilter_contains((SELECT cuckoofilter_agg(url) FROM watched), page_view.url);
INSERT INTO stopwatch (at) VALUES (clock_timestamp());

-- With the filter alone, and no join:
INSERT INTO answer (step, views, ms)
    SELECT 'filter alone', count(*), sum(ms) FROM page_view
    WHERE cuckoofilter_contains((SELECT cuckoofilter_agg(url) FROM watched), url);
INSERT INTO stopwatch (at) VALUES (clock_timestamp());

-- The prefiltered join has the same rows.  The filter alone also lets one in a
-- hundred of the other views through.
CREATE VIEW timed AS
    SELECT answer.id, step, views, ms, extract(epoch FROM b.at - a.at)::numeric AS seconds
    FROM answer JOIN stopwatch AS a USING (id) JOIN stopwatch AS b ON b.id = answer.id + 1;

CREATE VIEW seconds AS
    SELECT step, views, ms, round(seconds, 2) AS seconds,
           repeat('#', 1 + (40 * seconds / max(seconds) OVER ())::integer) AS "."
    FROM timed ORDER BY id;

-- The first two steps compared.
CREATE VIEW verdict AS
    SELECT round(a.seconds, 2) AS seconds_without_filter, round(b.seconds, 2) AS seconds_with_filter,
           round(a.seconds / b.seconds, 2) AS times_as_fast
    FROM timed AS a JOIN timed AS b ON a.id = 1 AND b.id = 2;

SELECT * FROM seconds;
SELECT * FROM verdict;

-- =====================================================================
-- 6. A JOIN FILTER: the same, and no word of filters in the query
-- Question: views and time of each owner of watched pages, and how long did it take?
-- =====================================================================

TRUNCATE answer, stopwatch RESTART IDENTITY;
INSERT INTO stopwatch (at) VALUES (clock_timestamp());

-- Without a filter, as anybody would write it:
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) CREATE TABLE plain AS
    SELECT owner, count(*) AS views, sum(ms) AS ms FROM page_view JOIN watched USING (url) GROUP BY owner;
INSERT INTO stopwatch (at) VALUES (clock_timestamp());

-- With a join filter the hash join fills a filter while it reads `watched`, and the scan of
-- `page_view` looks up each row in it: see "Rows Tested", "Removed", and what the scan hands
-- on.  A session has join filters once it has loaded them.
SELECT cuckoofilter_join_load();
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) CREATE TABLE filtered AS
    SELECT owner, count(*) AS views, sum(ms) AS ms FROM page_view JOIN watched USING (url) GROUP BY owner;
INSERT INTO stopwatch (at) VALUES (clock_timestamp());

INSERT INTO answer (step, views, ms) SELECT 'join', sum(views), sum(ms) FROM plain;
INSERT INTO answer (step, views, ms) SELECT 'join, with a join filter', sum(views), sum(ms) FROM filtered;

-- The same rows:
SELECT count(*) AS owners, count(*) FILTER (WHERE filtered IS DISTINCT FROM plain) AS different
FROM plain FULL JOIN filtered USING (owner, views, ms);

-- Sooner:
SELECT * FROM seconds;
SELECT * FROM verdict;
