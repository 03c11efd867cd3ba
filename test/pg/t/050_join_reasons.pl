# EXPLAIN names the reason why a join has no filter.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use CuckooCluster;
use CuckooJoin;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = join_cluster('main', conf => "enable_nestloop = off\nenable_mergejoin = off\n");

$node->safe_psql(
	'postgres', q{
	CREATE TABLE fact AS SELECT g AS id, g % 1000 AS k FROM generate_series(1, 20000) g;
	CREATE TABLE dim AS SELECT g * 10 AS k, g AS id FROM generate_series(1, 90) g;
	CREATE SEQUENCE s;
	-- gathering 4096 keys takes 64 kB
	CREATE TABLE large AS SELECT g AS k FROM generate_series(1, 200000) g;
	CREATE TABLE keys4096 AS SELECT g * 7 AS k FROM generate_series(1, 4096) g;
	CREATE TABLE keys4097 AS SELECT g * 7 AS k FROM generate_series(1, 4097) g;
	CREATE TABLE looked AS SELECT g AS k, g % 50 AS c, g AS d FROM generate_series(1, 20000) g; CREATE UNIQUE INDEX ON looked (k);
	CREATE TABLE parts (k integer) PARTITION BY RANGE (k); CREATE TABLE part1 PARTITION OF parts FOR VALUES FROM (0) TO (9000);
	CREATE TABLE part2 PARTITION OF parts FOR VALUES FROM (9000) TO (30000); INSERT INTO parts SELECT k FROM looked; CREATE UNIQUE INDEX ON parts (k);
	CREATE TABLE secret AS SELECT * FROM looked; CREATE UNIQUE INDEX ON secret (k); ALTER TABLE secret ENABLE ROW LEVEL SECURITY;
	-- its planning and running plan and run other joins
	CREATE FUNCTION inner_join() RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN (SELECT count(*) FROM fact LEFT JOIN dim USING (k)); END';
	ANALYZE});

sub reasons
{
	my ($query, $options) = @_;
	return join('|', explained($query, $options // 'COSTS OFF') =~ /^No Join Filter for (.*)$/mg);
}

my $join = 'SELECT count(*) FROM fact f JOIN dim d USING (k)';
my $auto = 'SET cuckoofilter.join_filter = auto; SET cuckoofilter.join_filter_memory =';
my @cases = (
	[ 'a join with a filter', $join, '' ],
	[ 'off', "SET cuckoofilter.join_filter = off; $join", '' ],
	[ 'LEFT', 'SELECT count(*) FROM fact f LEFT JOIN dim d USING (k)', '(f.k = d.k): rows of the large side without a match are in the result' ],
	[ 'a parameter', 'SELECT (SELECT count(*) FROM fact f JOIN dim d USING (k) WHERE d.id = v.x) FROM (VALUES (1), (2)) v(x)', '(f.k = d.k): the small side is read again with other parameters' ],
	[ 'an expression', 'SELECT count(*) FROM fact f JOIN dim d ON f.k + 1 = d.k', '((f.k + 1) = d.k): no key is a plain column of a scan of the large side' ],
	[ 'LIMIT', 'SELECT count(*) FROM (SELECT * FROM fact LIMIT 10000) f JOIN dim d USING (k)', '(fact.k = d.k): no key is a plain column of a scan of the large side' ],
	[ 'few rows', "SET cuckoofilter.join_filter_min_rows = 30000; $join", '(f.k = d.k): fewer rows are expected than cuckoofilter.join_filter_min_rows' ],
	[ 'many that pass', 'SET cuckoofilter.join_filter = auto; SET cuckoofilter.join_filter_max_pass = 0.7; SELECT count(*) FROM fact f JOIN fact g USING (id)', '(f.id = g.id): more rows are expected to pass than cuckoofilter.join_filter_max_pass' ],
	[ 'many keys', 'SET cuckoofilter.join_filter = auto; SELECT count(*) FROM fact f JOIN fact g USING (id) WHERE g.k < 600', '(f.id = g.id): it is not expected to pay' ],
	[ 'keys that fit the memory', "$auto '64kB'; SELECT count(*) FROM large l JOIN keys4096 d USING (k)", '' ],
	[ 'one key more', "$auto '64kB'; SELECT count(*) FROM large l JOIN keys4097 d USING (k)", '(l.k = d.k): its keys are expected to exceed cuckoofilter.join_filter_memory' ],
	[ 'and more memory', "$auto '65kB'; SELECT count(*) FROM large l JOIN keys4097 d USING (k)", '' ],
	[ 'one key more, on', "$auto '64kB'; SET cuckoofilter.join_filter = on; SELECT count(*) FROM large l JOIN keys4097 d USING (k)", '' ],
	[ 'one key more, and many that pass', "$auto '64kB'; SET cuckoofilter.join_filter_max_pass = 0.01; SELECT count(*) FROM large l JOIN keys4097 d USING (k)", '(l.k = d.k): more rows are expected to pass than cuckoofilter.join_filter_max_pass' ],
	[ 'keys that would not pay with more memory either', "$auto '64kB'; SELECT count(*) FROM fact f JOIN fact g USING (id) WHERE g.k < 600", '(f.id = g.id): it is not expected to pay' ],
	[ 'volatile', "SELECT count(*) FROM fact f JOIN (SELECT k, nextval('s') AS n FROM dim OFFSET 0) d USING (k)", '(f.k = d.k): one side of the join has a volatile function' ],
	[ 'a LIMIT that is read again', 'SELECT (SELECT count(*) FROM fact f JOIN (SELECT k FROM dim LIMIT 50) d USING (k) WHERE f.id > v.x) FROM (VALUES (1), (2)) v(x)', '(f.k = dim.k): the small side may have other rows each time it is read' ],
	[ 'a merge join', "SET enable_hashjoin = off; SET enable_mergejoin = on; $join", '(d.k = f.k): merge joins have none' ],
	[ 'FOR UPDATE', 'SELECT * FROM fact f JOIN dim d USING (k) FOR UPDATE', '(f.k = d.k): the statement locks rows, or changes them other than by INSERT' ],
	[ 'UPDATE', 'UPDATE fact f SET id = 0 FROM dim d WHERE f.k = d.k', '(f.k = d.k): the statement locks rows, or changes them other than by INSERT' ],
	[ 'two of three', 'SET join_collapse_limit = 1; SELECT count(*) FROM fact f LEFT JOIN dim d USING (k) JOIN dim e ON e.k = f.k LEFT JOIN dim g ON g.id = f.id', '(f.k = d.k): rows of the large side without a match are in the result|(f.id = g.id): rows of the large side without a match are in the result' ],
	[ 'a recursive query', 'WITH RECURSIVE r AS (SELECT 1 AS k UNION ALL SELECT r.k + 1 FROM r LEFT JOIN dim d USING (k) WHERE r.k < 9) SELECT count(*) FROM r', '(d.k = r_1.k): the small side is read again with other parameters' ],
	[ 'a recursive query in a subquery', 'SELECT (WITH RECURSIVE r AS (SELECT d.k FROM dim d UNION SELECT f.k + 1 FROM r LEFT JOIN fact f USING (k) WHERE r.k < 9) SELECT count(*) FROM r)', '(r.k = f.k): rows of the large side without a match are in the result' ],
	[ 'joins of a function that is run while planning', "$join WHERE f.id < inner_join()", '' ]);

is(reasons($_->[1]), $_->[2], $_->[0]) foreach @cases;

my $loop = 'SET enable_nestloop = on; SET enable_hashjoin = off; SET join_collapse_limit = 1; SELECT count(*) FROM (SELECT * FROM fact WHERE id < 500 OFFSET 0) f';
my $looked = 'SET enable_nestloop = on; SET enable_hashjoin = off; SELECT count(*) FROM looked f JOIN looked l ON l.k = f.d';
my @loops = (
	[ 'one with a filter', "$loop JOIN looked l USING (k)", '' ],
	[ 'LEFT', "$loop LEFT JOIN looked l ON l.k = f.k AND l.c = 3 WHERE l.d IS NULL OR f.id > 0", '' ],
	[ 'ANTI', "$loop WHERE NOT EXISTS (SELECT FROM looked l WHERE l.k = f.k AND l.c = 3)", '' ],
	[ 'an expression', "$loop JOIN looked l ON l.k = f.k + 1", '(l.k = (fact.k + 1)): a condition on both sides is not an equality of plain columns' ],
	[ 'OR', "$loop JOIN looked l ON l.k = f.k AND (l.c = 3 OR f.id = 4)", '((l.k = fact.k) AND ((l.c = 3) OR (fact.id = 4))): a condition on both sides is not an equality of plain columns' ],
	[ 'one after the lookup', "$loop JOIN looked m ON m.k = f.id WHERE EXISTS (SELECT FROM looked l WHERE l.k = f.k AND l.c <> m.c)", qr/^\(l\.k = fact\.k\).*: a condition (?:of the join is tested after the lookup|on both sides is not )/m ],
	[ 'LEFT with one after the lookup', "$loop LEFT JOIN looked l ON l.k = f.k AND l.c = 3 AND f.id > 9 WHERE l.d IS NULL OR f.id > 0", '(l.k = fact.k): a condition of the join is tested after the lookup' ],
	[ 'no lookup', "$loop JOIN dim d ON d.k < f.k", '(d.k < fact.k): the loop\'s inner side is not the scan of an index' ],
	[ 'partitions', "$loop JOIN parts p ON p.k = f.k", 'lookups of fact.k: the loop\'s inner side is not the scan of an index' ],
	[ 'a condition that may fail', "$loop JOIN looked l ON l.k = f.k AND 10 / l.c > 2", '(l.k = fact.k): a scan of the inner side cannot test its conditions' ],
	[ 'a volatile one', "$loop JOIN looked l ON l.k = f.k AND l.c = 3 AND l.d > nextval('s')", '(l.k = fact.k): the loop\'s inner side has a volatile function' ],
	[ 'the row of a key, auto', "SET cuckoofilter.join_filter = auto; $looked WHERE f.k = 7", '(l.k = f.d): the outer side has one row at most' ],
	[ 'and rows joined to it, auto', "SET cuckoofilter.join_filter = auto; $looked JOIN looked m ON m.k = l.d WHERE f.k = 7", '(l.k = f.d): the outer side has one row at most|(m.k = l.d): the outer side has one row at most' ],
	[ 'the row of a key', "SET cuckoofilter.join_filter = on; $looked WHERE f.k = 7", '' ],
	[ 'a row for each row of another table, auto', 'SET cuckoofilter.join_filter = auto; ' . $looked =~ s/SELECT/SELECT (SELECT/r . ' WHERE f.k = v.x) FROM (VALUES (7), (9)) v(x)', '' ],
	[ 'rows of two keys, auto', "SET cuckoofilter.join_filter = auto; $looked WHERE f.k IN (7, 9)", '' ],
	[ 'row security', "$loop JOIN secret l ON l.k = f.k", '(l.k = fact.k): row security or a security barrier may hide rows' ],
	[ 'a product', "$loop JOIN dim d ON true", '' ],
	[ 'FOR UPDATE', "SET enable_nestloop = on; SET enable_hashjoin = off; SELECT * FROM dim d JOIN looked l USING (k) FOR UPDATE", '(l.k = d.k): the statement locks rows, or changes them other than by INSERT' ]);

foreach my $case (@loops)
{
	my ($name, $query, $expected) = @$case;
	my $given = reasons($query);

	like($given, ref $expected ? $expected : qr/^\Q$expected\E$/, "a nested loop, $name") or diag(explained($query, 'COSTS OFF'));
}
is(reasons("$join WHERE f.id < (SELECT inner_join() + min(id) FROM dim)", 'ANALYZE, COSTS OFF'), '', 'joins of a function that is run');
is(reasons($cases[2][1], 'ANALYZE, COSTS OFF'), $cases[2][2], 'ANALYZE');
like(explained($cases[2][1], 'COSTS OFF, FORMAT JSON'), qr/^\[.*\]\s*$/s, 'JSON stays as it is');
is($node->safe_psql('postgres', "SET cuckoofilter.join_filter = off; EXPLAIN (COSTS OFF) $cases[2][1]"), $node->safe_psql('postgres', "EXPLAIN (COSTS OFF) $cases[2][1]") =~ s/\nNo Join Filter.*//r, 'the plan is the same without it');
my ($status, undef, $err) = $node->psql('postgres', "EXPLAIN SELECT count(*) FROM fact f LEFT JOIN dim d USING (k) WHERE 1 / (f.k - f.k) = 1 AND 1 / 0 = 1; SELECT 1");
like($err, qr/division by zero/, 'an error while EXPLAIN plans');
is(reasons($cases[2][1]), $cases[2][2], 'and again');

done_testing();
