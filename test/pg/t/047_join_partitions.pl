# Partitions that no key of a join can be in are not read.  Each case counts the partitions that
# are skipped: a rule that is too strict shows in no result.
use CuckooCluster;
use CuckooJoin;
use CuckooSession;

my $node = join_cluster('main', conf => "enable_mergejoin = off\nenable_nestloop = off\nmax_worker_processes = 10\nmax_parallel_workers = 8\n");

# A query returns the same rows in every mode, and its filters skip this number of partitions: '9 of 10', or
# several in the order of the plan.
sub skips
{
	my ($name, $query, @expected) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my $rows = same_rows($name, $query);
	my $plan = explained($query);
	my @skipped = $plan =~ /Partitions Skipped: (\d+ of \d+)/g;

	is("@skipped", "@expected", "$name: skipped") or diag($plan);
	return ($rows, $plan);
}

$node->safe_psql(
	'postgres', q{
	CREATE TABLE dim AS SELECT g AS k, g::bigint AS big, g::smallint AS small, g::numeric AS n, date '2020-01-01' + g AS day, g::text AS t, g % 10 AS id FROM generate_series(0, 999) g;
	CREATE TABLE day_pair AS SELECT day, (k % 10)::text AS t, k FROM dim;
	CREATE TABLE wide AS SELECT g AS k FROM generate_series(-10, 1000, 10) g;

	-- by ranges, with NULL keys in the default partition
	CREATE TABLE r (id integer, k integer) PARTITION BY RANGE (k);
	SELECT format('CREATE TABLE r%s PARTITION OF r FOR VALUES FROM (%s) TO (%s)', g, g * 100, g * 100 + 100) FROM generate_series(0, 9) g \gexec
	CREATE TABLE r_rest PARTITION OF r DEFAULT;
	INSERT INTO r SELECT g, CASE WHEN g % 50 = 0 THEN NULL ELSE g % 1200 - 50 END FROM generate_series(1, 20000) g;

	-- gaps, no default
	CREATE TABLE gap (id integer, k integer) PARTITION BY RANGE (k);
	CREATE TABLE gap1 PARTITION OF gap FOR VALUES FROM (MINVALUE) TO (10);
	CREATE TABLE gap2 PARTITION OF gap FOR VALUES FROM (500) TO (510);
	CREATE TABLE gap3 PARTITION OF gap FOR VALUES FROM (990) TO (MAXVALUE);
	INSERT INTO gap SELECT g, CASE g % 3 WHEN 0 THEN g % 10 WHEN 1 THEN 500 + g % 10 ELSE 990 + g % 100 END FROM generate_series(1, 9000) g;

	-- by lists, NULL with other values, NULL alone, a default
	CREATE TABLE l (id integer, t text) PARTITION BY LIST (t);
	CREATE TABLE l1 PARTITION OF l FOR VALUES IN ('1', '4');
	CREATE TABLE l2 PARTITION OF l FOR VALUES IN ('2', '5', NULL);
	CREATE TABLE l3 PARTITION OF l FOR VALUES IN ('3');
	CREATE TABLE l_rest PARTITION OF l DEFAULT;
	INSERT INTO l SELECT g, nullif(g % 8, 7)::text FROM generate_series(1, 8000) g;
	CREATE TABLE ln (id integer, k integer) PARTITION BY LIST (k);
	CREATE TABLE ln0 PARTITION OF ln FOR VALUES IN (0);
	CREATE TABLE ln1 PARTITION OF ln FOR VALUES IN (1);
	CREATE TABLE lnn PARTITION OF ln FOR VALUES IN (NULL);
	INSERT INTO ln SELECT g, nullif(g % 3, 2) FROM generate_series(1, 6000) g;

	-- by hashes of uneven moduli
	CREATE TABLE h (id integer, k integer) PARTITION BY HASH (k);
	CREATE TABLE h0 PARTITION OF h FOR VALUES WITH (MODULUS 4, REMAINDER 0);
	CREATE TABLE h1 PARTITION OF h FOR VALUES WITH (MODULUS 4, REMAINDER 1);
	CREATE TABLE h2 PARTITION OF h FOR VALUES WITH (MODULUS 8, REMAINDER 2);
	CREATE TABLE h3 PARTITION OF h FOR VALUES WITH (MODULUS 8, REMAINDER 6);
	CREATE TABLE h4 PARTITION OF h FOR VALUES WITH (MODULUS 16, REMAINDER 3);
	CREATE TABLE h5 PARTITION OF h FOR VALUES WITH (MODULUS 16, REMAINDER 7);
	CREATE TABLE h6 PARTITION OF h FOR VALUES WITH (MODULUS 16, REMAINDER 11);
	CREATE TABLE h7 PARTITION OF h FOR VALUES WITH (MODULUS 16, REMAINDER 15);
	INSERT INTO h SELECT g, g % 1000 FROM generate_series(1, 20000) g;

	-- several levels, columns in another order
	CREATE TABLE m (id integer, day date, t text, k integer) PARTITION BY RANGE (day);
	CREATE TABLE m1 PARTITION OF m FOR VALUES FROM ('2020-01-01') TO ('2021-01-01') PARTITION BY LIST (t);
	CREATE TABLE m1a PARTITION OF m1 FOR VALUES IN ('0', '1');
	CREATE TABLE m1b PARTITION OF m1 DEFAULT;
	CREATE TABLE m2 (junk text, t text, k integer, day date, id integer) PARTITION BY HASH (t);
	ALTER TABLE m2 DROP COLUMN junk;
	ALTER TABLE m ATTACH PARTITION m2 FOR VALUES FROM ('2021-01-01') TO ('2022-01-01');
	CREATE TABLE m2a (x integer, k integer, id integer, t text, day date);
	ALTER TABLE m2a DROP COLUMN x;
	ALTER TABLE m2 ATTACH PARTITION m2a FOR VALUES WITH (MODULUS 2, REMAINDER 0);
	CREATE TABLE m2b PARTITION OF m2 FOR VALUES WITH (MODULUS 2, REMAINDER 1);
	CREATE TABLE m3 PARTITION OF m DEFAULT;
	INSERT INTO m SELECT g, date '2020-01-01' + g % 1000, (g % 10)::text, g % 1000 FROM generate_series(1, 20000) g;

	-- two columns
	CREATE TABLE two (id integer, k integer, t text) PARTITION BY RANGE (k, t);
	CREATE TABLE two1 PARTITION OF two FOR VALUES FROM (0, '0') TO (100, '5');
	CREATE TABLE two2 PARTITION OF two FOR VALUES FROM (100, '5') TO (100, '7');
	CREATE TABLE two3 PARTITION OF two FOR VALUES FROM (100, '7') TO (200, MINVALUE);
	CREATE TABLE two4 PARTITION OF two FOR VALUES FROM (200, MINVALUE) TO (MAXVALUE, MAXVALUE);
	INSERT INTO two SELECT g, g % 1000, (g % 10)::text FROM generate_series(1, 20000) g;
	CREATE TABLE two_hash (id integer, k integer, t text) PARTITION BY HASH (k, t);
	CREATE TABLE two_hash0 PARTITION OF two_hash FOR VALUES WITH (MODULUS 3, REMAINDER 0);
	CREATE TABLE two_hash1 PARTITION OF two_hash FOR VALUES WITH (MODULUS 3, REMAINDER 1);
	CREATE TABLE two_hash2 PARTITION OF two_hash FOR VALUES WITH (MODULUS 3, REMAINDER 2);
	INSERT INTO two_hash SELECT g, g % 1000, (g % 10)::text FROM generate_series(1, 20000) g;
	ANALYZE});

# ------------------------------------------------------------------------ strategies

my ($rows, $plan) = skips('a range', 'SELECT count(*), sum(r.id) FROM r JOIN dim USING (k) WHERE dim.k BETWEEN 210 AND 290', '10 of 11');
like($plan, qr/Seq Scan on r2 r_3 \(actual rows=1\d{3} /, 'the partition with the keys is read');
is(scalar(() = $plan =~ /\(never executed\)/g), 9, 'the others are not; the join had a row of the first one before it had the keys') or diag($plan);
my $json = explained('SELECT count(*) FROM r JOIN dim USING (k) WHERE dim.k BETWEEN 210 AND 290', 'ANALYZE, FORMAT JSON');
like($json, qr/"Partitions": 11,\s*"Partitions Skipped": 10,/, 'in JSON');
skips('two ranges', 'SELECT count(*), sum(r.id) FROM r JOIN dim USING (k) WHERE dim.k IN (150, 151, 850)', '9 of 11');
skips('a range and the default', 'SELECT count(*), sum(r.id) FROM r JOIN (SELECT k * 10 AS k FROM dim) d USING (k) WHERE d.k IN (150, 1010)', '9 of 11');
skips('the default', 'SELECT count(*), sum(r.id) FROM r JOIN (SELECT k + 1000 AS k FROM dim WHERE k < 10) d USING (k)', '10 of 11');
skips('all ranges', 'SELECT count(*), sum(r.id) FROM r JOIN dim USING (k)', '1 of 11');
skips('all of all', 'SELECT count(*), sum(r.id) FROM r JOIN wide USING (k)', '0 of 11');
skips('only NULL keys', 'SELECT count(*), sum(r.id) FROM r JOIN (SELECT nullif(k, 5) AS k FROM dim WHERE k = 5) d USING (k)', '11 of 11');
skips('NULL keys and others', 'SELECT count(*), sum(r.id) FROM r JOIN (SELECT nullif(k, 5) AS k FROM dim WHERE k IN (5, 6)) d USING (k)', '10 of 11');
skips('no keys', 'SELECT count(*), sum(r.id) FROM r JOIN (SELECT k FROM dim WHERE id < -5) d USING (k)', '11 of 11');
skips('a gap', 'SELECT count(*), sum(gap.id) FROM gap JOIN dim USING (k) WHERE dim.k BETWEEN 100 AND 505', '2 of 3');
skips('only a gap', 'SELECT count(*), sum(gap.id) FROM gap JOIN dim USING (k) WHERE dim.k BETWEEN 100 AND 400', '3 of 3');
skips('open ends', 'SELECT count(*), sum(gap.id) FROM gap JOIN (SELECT k - 500 AS k FROM dim WHERE k IN (0, 509)) d USING (k)', '2 of 3');
skips('a list', "SELECT count(*), sum(l.id) FROM l JOIN dim USING (t) WHERE dim.t IN ('1', '4')", '3 of 4');
skips('a list with NULL', "SELECT count(*), sum(l.id) FROM l JOIN dim USING (t) WHERE dim.k = 2", '3 of 4');
skips('the default of lists', "SELECT count(*), sum(l.id) FROM l JOIN dim USING (t) WHERE dim.t IN ('6', '77')", '3 of 4');
skips('a list of NULL alone', 'SELECT count(*), sum(ln.id) FROM ln JOIN dim USING (k)', '1 of 3');
skips('hashes', 'SELECT count(*), sum(h.id) FROM h JOIN dim USING (k) WHERE dim.small = 77', '7 of 8');
($rows, $plan) = skips('two hashes', 'SELECT count(*), sum(h.id) FROM h JOIN dim USING (k) WHERE dim.k IN (77, 78)', $node->safe_psql('postgres', 'SELECT 8 - count(DISTINCT tableoid) FROM h WHERE k IN (77, 78)') . ' of 8');

# Several levels, by one column of the key, by both, and by columns that are none.
skips('the first level', "SELECT count(*), sum(m.id) FROM m JOIN dim USING (day) WHERE dim.day < '2020-03-01'", '3 of 5');
skips('the last partition', "SELECT count(*), sum(m.id) FROM m JOIN dim USING (day) WHERE dim.day > '2022-03-01'", '4 of 5');
skips('the second level', "SELECT count(*), sum(m.id) FROM m JOIN dim USING (t) WHERE dim.k = 1", '2 of 4');
skips('both levels', "SELECT count(*), sum(m.id) FROM m JOIN dim ON m.day = dim.day AND m.t = dim.t WHERE dim.k = 1", '4 of 5');
skips('both levels, of tables of another order', "SELECT count(*), sum(m.id) FROM m JOIN day_pair d USING (day, t) WHERE d.k = 517", '4 of 5');
skips('a column that is none', 'SELECT count(*), sum(m.id) FROM m JOIN dim USING (k) WHERE dim.small = 1');

# Two columns: both, the first, the second.
skips('both columns, of which one is an expression', "SELECT count(*), sum(two.id) FROM two JOIN dim ON two.k = dim.k AND two.t = dim.id::text WHERE dim.k IN (30, 31)", '3 of 4');
skips('the first column', 'SELECT count(*), sum(two.id) FROM two JOIN dim USING (k) WHERE dim.small = 99', '3 of 4');
skips('the first column, at bounds', 'SELECT count(*), sum(two.id) FROM two JOIN dim USING (k) WHERE dim.small = 100', '1 of 4');
skips('the first column, at another bound', 'SELECT count(*), sum(two.id) FROM two JOIN dim USING (k) WHERE dim.small = 200', '2 of 4');
$node->safe_psql('postgres', 'CREATE TABLE two_rest PARTITION OF two DEFAULT; INSERT INTO two SELECT g, g % 1000, NULL FROM generate_series(1, 3000) g; ANALYZE two');
skips('the first column, and NULL in the second one', 'SELECT count(*), sum(two.id) FROM two JOIN dim USING (k) WHERE dim.small = 99', '3 of 5');
$node->safe_psql('postgres', 'DROP TABLE two_rest');
skips('both columns of the key', "CREATE TEMP TABLE pair AS SELECT k, (k % 10)::text AS t FROM dim WHERE k IN (106, 100); ANALYZE pair; SELECT count(*), sum(two.id) FROM two JOIN pair USING (k, t)", '2 of 4');
skips('the second column', "SELECT count(*), sum(two.id) FROM two JOIN dim USING (t) WHERE dim.k = 5");
skips('hashes of both columns', "CREATE TEMP TABLE pair AS SELECT k, (k % 10)::text AS t FROM dim WHERE k = 106; ANALYZE pair; SELECT count(*), sum(p.id) FROM two_hash p JOIN pair USING (k, t)", '2 of 3');
skips('hashes of both columns, of which one is known', 'SELECT count(*), sum(p.id) FROM two_hash p JOIN dim USING (k) WHERE dim.small = 106');

# ------------------------------------------------------------------------------ keys

skips('bigint', 'SELECT count(*), sum(r.id) FROM r JOIN dim ON r.k = dim.big WHERE dim.k BETWEEN 210 AND 290', '10 of 11');
skips('smallint', 'SELECT count(*), sum(r.id) FROM r JOIN dim ON dim.small = r.k WHERE dim.k BETWEEN 210 AND 290', '10 of 11');
skips('a bigint that is no integer', 'SELECT count(*), sum(r.id) FROM r JOIN (SELECT big + 5000000000 AS k FROM dim WHERE k < 10) d USING (k)', '10 of 11');
skips('hashes of a bigint', 'SELECT count(*), sum(h.id) FROM h JOIN dim ON h.k = dim.big WHERE dim.small = 77', '7 of 8');
skips('hashes of a smallint', 'SELECT count(*), sum(h.id) FROM h JOIN dim ON h.k = dim.small WHERE dim.big = 77', '7 of 8');
skips('an expression of the build side', 'SELECT count(*), sum(r.id) FROM r JOIN dim ON r.k = dim.k * 2 WHERE dim.k BETWEEN 110 AND 120', '10 of 11');

done_testing();
