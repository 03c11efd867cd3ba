-- The filters of `make demo-web`.  JSON has a filter as base64, and as `plain` the bytes of its items alone.
CREATE EXTENSION cuckoofilter;

CREATE TABLE word (word text);
\copy word FROM '/usr/share/dict/american-english-insane'
CREATE TABLE demo AS
SELECT 1 AS number, 'words' AS name, 'English words' AS title, 'text' AS input,
  'Is it a word?' AS question, ARRAY['cuckoo', 'serendipity', 'rhythm', 'glorptastic', 'covfefe', 'zyzzyva'] AS examples,
  'SELECT cuckoofilter_agg(word, 0.001) FROM word' AS sql, cuckoofilter_agg(word, 0.001) AS f,
  sum(octet_length(word)) AS plain FROM word;

-- The sieve of Eratosthenes
CREATE TABLE composite AS
  SELECT DISTINCT p * m AS n FROM generate_series(2, 1414) AS p, LATERAL generate_series(p, 2000000 / p) AS m;
INSERT INTO demo
SELECT 2, 'primes', 'Prime numbers below 2 million', 'number',
  'Is it a prime number?', ARRAY['2', '97', '1001', '7919', '1299709', '1999999'],
  'SELECT cuckoofilter_agg(n, 0.01) FROM prime', cuckoofilter_agg(n, 0.01), sum(pg_column_size(n))
FROM (SELECT n FROM generate_series(2, 2000000) AS n EXCEPT SELECT n FROM composite) AS prime;

INSERT INTO demo
SELECT 3, 'sundays', 'Sundays from 1900 to 2100', 'date',
  'Is it a Sunday?', ARRAY['1969-07-20', '2026-11-22', '2000-01-01', '1989-11-09', '2038-01-19', '1900-01-07'],
  'SELECT cuckoofilter_agg(day, 0.0001) FROM sunday', cuckoofilter_agg(day, 0.0001), sum(pg_column_size(day))
FROM generate_series('1900-01-07 00:00+00'::timestamptz, '2100-12-31 00:00+00', '7 days') AS day;

-- A false positive of each: words whose fifth and sixth letter are swapped, odd numbers, days.
SET timezone = 'UTC';
CREATE TABLE wrong AS
  (SELECT 'words' AS name, typo AS item FROM demo,
     (SELECT substr(word, 1, 4) || substr(word, 6, 1) || substr(word, 5, 1) || substr(word, 7) AS typo FROM word
      WHERE word ~ '^[a-z]{8,}(ing|ed|ness)$' EXCEPT SELECT word FROM word) AS typos
   WHERE name = 'words' AND f @> typo ORDER BY typo COLLATE "C" LIMIT 1)
  UNION ALL
  (SELECT name, n::text FROM demo, composite WHERE name = 'primes' AND n % 2 = 1 AND f @> n ORDER BY composite.n LIMIT 1)
  UNION ALL
  (SELECT name, to_char(day, 'YYYY-MM-DD')
   FROM demo, generate_series('1900-01-01'::timestamptz, '2100-12-31', '1 day') AS day
   WHERE name = 'sundays' AND extract(dow FROM day) <> 0 AND f @> day ORDER BY day LIMIT 1);

\pset format unaligned
\pset tuples_only on
\o out/filters.json
SELECT json_build_object('server', split_part(version(), ' on ', 1), 'filters',
  (SELECT json_agg(json_build_object('name', name, 'title', title, 'input', input, 'question', question,
    'examples', examples, 'wrong', item, 'sql', sql, 'plain', plain, 'filter', f) ORDER BY number) FROM demo JOIN wrong USING (name)));
\o
