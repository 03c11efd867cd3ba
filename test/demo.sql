-- A cuckoo filter at work, in SQLite: `make demo` runs this file.  All of it is
-- plain SQL and commands of the sqlite3 shell, to copy from.
--
--   1. MEMBERSHIP   Is this a word?
--   2. GROUP BY     Which package has this file?
--   3. CHANGES      How does a filter follow its table?
--   4. A WEEK       Which visitors are new?
--   5. A JOIN       How much faster is a join with a filter in front of it?

.bail on
.load build/sqlite/cuckoofilter
.mode box
.echo on

-- =====================================================================
-- 1. MEMBERSHIP: every word of a large English dictionary in a filter
-- Question: is this a word?
-- =====================================================================

CREATE TABLE word (word TEXT);
.import /usr/share/dict/american-english-insane word

-- One aggregate builds it, for a false positive rate of one in a thousand.
CREATE TABLE dictionary AS
    SELECT cuckoofilter_agg(word, 0.001) AS filter FROM word;

SELECT cuckoofilter_count(filter) AS words,
       (SELECT sum(length(CAST(word AS BLOB))) FROM word) AS bytes_of_words,
       length(filter) AS bytes_of_filter,
       round(8.0 * length(filter) / cuckoofilter_count(filter), 2) AS bits_per_word
FROM dictionary;

-- Words with two letters swapped, as long as they are no words themselves.
CREATE TABLE typo AS
    SELECT substr(word, 1, 1) || substr(word, 3, 1) || substr(word, 2, 1) || substr(word, 4) AS word
    FROM word WHERE length(word) > 3
    EXCEPT SELECT word FROM word;

-- No word is missed, and few typos get through.
SELECT count(*) AS words, sum(NOT found) AS missed
FROM (SELECT cuckoofilter_contains(
        (SELECT cuckoofilter_open(filter) FROM dictionary), word) AS found FROM word);

SELECT count(*) AS typos, sum(found) AS let_through,
       round(100 * avg(found), 4) AS measured_percent,
       (SELECT round(100 * cuckoofilter_fpr(filter), 4) FROM dictionary) AS expected_percent,
       0.1 AS promised_percent
FROM (SELECT cuckoofilter_contains(
        (SELECT cuckoofilter_open(filter) FROM dictionary), word) AS found FROM typo);

-- What a better rate costs, in bits a word:
WITH target (fpr) AS (VALUES (0.1), (0.01), (0.001), (0.0001), (0.00001)),
     built AS (SELECT fpr, (SELECT length(cuckoofilter_agg(word, fpr)) FROM word) * 8.0
                           / (SELECT count(*) FROM word) AS bits FROM target)
SELECT fpr AS target_fpr, round(bits, 2) AS bits_per_word, printf('%.*c', 2 * bits, '#') AS ''
FROM built;

-- =====================================================================
-- 2. GROUP BY: a filter of the files of each installed package
-- Question: which package has this file?
-- =====================================================================

CREATE TABLE line (line TEXT);
.import '|grep -H / /var/lib/dpkg/info/*.list' line
CREATE TABLE file AS
    SELECT replace(substr(line, 20, colon - 20), '.list', '') AS package,
           substr(line, colon + 1) AS path
    FROM (SELECT line, instr(line, ':/') AS colon FROM line);

-- Filters to be merged share a capacity.
CREATE TABLE package AS
    SELECT package, cuckoofilter_agg(path, 0.001, 1000000) AS files FROM file GROUP BY package;

SELECT count(*) AS packages, sum(cuckoofilter_count(files)) AS files, sum(length(files)) AS bytes,
       (SELECT sum(length(path)) FROM file) AS bytes_of_paths
FROM package;

-- The answer, by a scan over filters instead of over files.
SELECT package FROM package WHERE cuckoofilter_contains(files, '/usr/bin/sqlite3');

-- All of them as one:
CREATE TABLE machine AS SELECT cuckoofilter_union_agg(files) AS files FROM package;

SELECT (SELECT count(DISTINCT path) FROM file) AS distinct_paths,
       cuckoofilter_count(files) AS in_the_union,
       (SELECT count(*) FROM file WHERE NOT cuckoofilter_contains(
            (SELECT cuckoofilter_open(files) FROM machine), path)) AS missed,
       length(files) AS bytes
FROM machine;

-- =====================================================================
-- 3. CHANGES: a stored filter follows its table
-- Question: how does the filter of the dictionary learn new words, and forget them?
-- =====================================================================

CREATE TRIGGER word_insert AFTER INSERT ON word BEGIN
    UPDATE dictionary SET filter = cuckoofilter_add(filter, new.word);
END;
CREATE TRIGGER word_delete AFTER DELETE ON word BEGIN
    UPDATE dictionary SET filter = cuckoofilter_remove(filter, old.word);
END;

SELECT cuckoofilter_contains(filter, 'semisorting') AS before, cuckoofilter_count(filter) AS words
FROM dictionary;

INSERT INTO word VALUES ('semisorting'), ('fingerprinty');
SELECT cuckoofilter_contains(filter, 'semisorting') AS added, cuckoofilter_count(filter) AS words
FROM dictionary;

DELETE FROM word WHERE word IN ('semisorting', 'fingerprinty');
SELECT cuckoofilter_contains(filter, 'semisorting') AS removed, cuckoofilter_count(filter) AS words
FROM dictionary;

-- All that there is to tell about a filter:
SELECT key, value FROM dictionary, json_each(cuckoofilter_info(filter)) ORDER BY key;

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
CREATE TABLE page_view AS
    SELECT 'https://wiki.example.org/' || a.word || '/' || b.word AS url, page % 1000 AS ms
    FROM (SELECT abs(cuckoofilter_hash(value) % 5000000) AS page FROM generate_series(1, 3000000))
    JOIN word AS a ON a.rowid = page % 663000 + 1
    JOIN word AS b ON b.rowid = page / 10 + 1;

CREATE TABLE watched (url TEXT PRIMARY KEY, owner INTEGER) WITHOUT ROWID;
INSERT INTO watched
    SELECT DISTINCT 'https://wiki.example.org/' || a.word || '/' || b.word, page % 100
    FROM (SELECT value AS page FROM generate_series(0, 399999))
    JOIN word AS a ON a.rowid = page % 663000 + 1
    JOIN word AS b ON b.rowid = page / 10 + 1;

-- The stopwatch is read by a statement of its own before and after each query.
CREATE TABLE answer (step TEXT, views INTEGER, ms INTEGER);
CREATE TABLE stopwatch (at REAL);
INSERT INTO stopwatch VALUES (julianday('now'));

-- Without a filter:
INSERT INTO answer
    SELECT 'join', count(*), sum(ms) FROM page_view JOIN watched USING (url);
INSERT INTO stopwatch VALUES (julianday('now'));

-- With a filter of the watched pages, made by the same query.  Views that it does
-- not let through are never looked up:
INSERT INTO answer
    SELECT 'join, prefiltered', count(*), sum(ms) FROM page_view JOIN watched USING (url)
    WHERE cuckoofilter_contains(
        (SELECT cuckoofilter_open(cuckoofilter_agg(url)) FROM watched), page_view.url);
INSERT INTO stopwatch VALUES (julianday('now'));

-- With the filter alone, and no join:
INSERT INTO answer
    SELECT 'filter alone', count(*), sum(ms) FROM page_view
    WHERE cuckoofilter_contains(
        (SELECT cuckoofilter_open(cuckoofilter_agg(url)) FROM watched), url);
INSERT INTO stopwatch VALUES (julianday('now'));

-- The prefiltered join has the same rows.  The filter alone also lets one in a
-- hundred of the other views through.
CREATE TABLE timed AS
    SELECT step, views, ms, (b.at - a.at) * 86400 AS seconds
    FROM answer JOIN stopwatch AS a ON a.rowid = answer.rowid
    JOIN stopwatch AS b ON b.rowid = answer.rowid + 1;

SELECT step, views, ms, round(seconds, 2) AS seconds,
       printf('%.*c', 1 + 40 * seconds / max(seconds) OVER (), '#') AS ''
FROM timed;

SELECT round(a.seconds, 2) AS seconds_without_filter, round(b.seconds, 2) AS seconds_with_filter,
       round(a.seconds / b.seconds, 2) AS times_as_fast
FROM timed AS a JOIN timed AS b ON a.step = 'join' AND b.step = 'join, prefiltered';
