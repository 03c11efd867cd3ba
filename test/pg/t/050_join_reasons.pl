# EXPLAIN names the reason why a join has no filter.
use CuckooCluster;
use CuckooJoin;
use JSON::PP;

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
	CREATE TABLE kept AS SELECT g AS id, '2024-01-01'::timestamp + g * interval '1 hour' AS at, (g / 100)::text::varchar AS code FROM generate_series(1, 20000) g;
	CREATE INDEX kept_at ON kept (at); CREATE INDEX kept_code ON kept USING brin (code);
	CREATE TABLE days AS SELECT '2024-01-01'::date + g AS day, g AS n, g::text::char(5) AS code FROM generate_series(1, 90) g;
	CREATE TABLE secret AS SELECT * FROM looked; CREATE UNIQUE INDEX ON secret (k); ALTER TABLE secret ENABLE ROW LEVEL SECURITY;
	-- its planning and running plan and run other joins
	CREATE FUNCTION inner_join() RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN (SELECT count(*) FROM fact LEFT JOIN dim USING (k)); END';
	ANALYZE});

sub reasons
{
	my ($query, $options) = @_;
	return join('|', explained($query, $options // 'COSTS OFF') =~ /^No Join Filter for (.*)$/mg);
}

my $unmapped = 'the key is an expression that cannot be mapped to its column';
my $join = 'SELECT count(*) FROM fact f JOIN dim d USING (k)';
my $auto = 'SET cuckoofilter.join_filter = auto; SET cuckoofilter.join_filter_memory =';
my @cases = (
	[ 'a join with a filter', $join, '' ],
	[ 'off', "SET cuckoofilter.join_filter = off; $join", '' ],
	[ 'LEFT', 'SELECT count(*) FROM fact f LEFT JOIN dim d USING (k)', '(f.k = d.k): rows of the large side without a match are in the result' ],
	[ 'a parameter', 'SELECT (SELECT count(*) FROM fact f JOIN dim d USING (k) WHERE d.id = v.x) FROM (VALUES (1), (2)) v(x)', '(f.k = d.k): the hashed side is read again with other parameters' ],
	[ 'an expression', 'SELECT count(*) FROM fact f JOIN dim d ON f.k + 1 = d.k', '((f.k + 1) = d.k): the key is an expression that cannot be mapped to its column: (f.k + 1)' ],
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
	[ 'a LIMIT that reads few rows', "$auto '64MB'; SELECT l.k FROM large l JOIN keys4096 d USING (k) LIMIT 10", '(l.k = d.k): it is not expected to pay' ],
	[ 'one that reads most', "$auto '64MB'; SELECT l.k FROM large l JOIN keys4096 d USING (k) LIMIT 4000", '' ],
	[ 'one above a node that reads all', "$auto '64MB'; SELECT l.k FROM large l JOIN keys4096 d USING (k) ORDER BY k LIMIT 10", '' ],
	[ 'a LIMIT, on', "$auto '64MB'; SET cuckoofilter.join_filter = on; SELECT l.k FROM large l JOIN keys4096 d USING (k) LIMIT 10", '' ],
	[ 'EXISTS', "$auto '64MB'; SELECT EXISTS (SELECT FROM large l JOIN keys4096 d USING (k))", '(l.k = d.k): it is not expected to pay' ],
	[ 'EXISTS of a count', "$auto '64MB'; SELECT EXISTS (SELECT count(*) FROM large l JOIN keys4096 d USING (k) OFFSET 0)", '' ],
	[ 'volatile', "SELECT count(*) FROM fact f JOIN (SELECT k, nextval('s') AS n FROM dim OFFSET 0) d USING (k)", '(f.k = d.k): one side of the join has a volatile function' ],
	[ 'a LIMIT that is read again', 'SELECT (SELECT count(*) FROM fact f JOIN (SELECT k FROM dim LIMIT 50) d USING (k) WHERE f.id > v.x) FROM (VALUES (1), (2)) v(x)', '(f.k = dim.k): the hashed side may have other rows each time it is read' ],
	[ 'a merge join', "SET enable_hashjoin = off; SET enable_mergejoin = on; $join", '(d.k = f.k): merge joins have none' ],
	[ 'a merge join without a condition', 'SELECT count(*) FROM fact f FULL JOIN dim d ON true', 'true: merge joins have none' ],
	[ 'FOR UPDATE', 'SELECT * FROM fact f JOIN dim d USING (k) FOR UPDATE', '(f.k = d.k): the statement locks rows, or changes them other than by INSERT' ],
	[ 'UPDATE', 'UPDATE fact f SET id = 0 FROM dim d WHERE f.k = d.k', '(f.k = d.k): the statement locks rows, or changes them other than by INSERT' ],
	[ 'two of three', 'SET join_collapse_limit = 1; SELECT count(*) FROM fact f LEFT JOIN dim d USING (k) JOIN dim e ON e.k = f.k LEFT JOIN dim g ON g.id = f.id', '(f.k = d.k), (f.id = g.id): rows of the large side without a match are in the result' ],
	[ 'types that cannot be hashed, in a merge join', 'SET enable_mergejoin = on; SELECT count(*) FROM kept f JOIN days d ON f.at = d.day', '(f.at = d.day): PostgreSQL cannot hash timestamp without time zone = date: cast the small side, or the timestamp to date to join by the day' ],
	[ 'with another one that can', 'SET enable_hashjoin = off; SET enable_mergejoin = on; SELECT count(*) FROM kept f JOIN days d ON f.id = d.n AND f.at = d.day', qr/^[^:]*: merge joins have none$/ ],
	[ 'the larger side hashed, by an expression', 'SELECT count(*) FROM fact f JOIN keys4096 d ON d.k + 1 = f.k', '((d.k + 1) = f.k): the larger side is hashed: CREATE STATISTICS ON the expression of the other side' ],
	[ 'the smaller side hashed, by an expression', 'SELECT count(*) FROM fact f JOIN dim d ON d.k + 1 = f.k', '' ],
	[ 'the larger side hashed, by a column', 'SELECT count(*) FROM fact f JOIN (SELECT k + 1 AS k FROM keys4096 OFFSET 0) d USING (k)', qr/^(?:|.*: the larger side is hashed.*)$/ ],
	[ 'the larger side hashed, and few rows in the other one', 'SET cuckoofilter.join_filter_min_rows = 1000; CREATE TEMP TABLE same AS SELECT 7 AS k FROM generate_series(1, 500); ANALYZE same; SELECT count(*) FROM large l JOIN same d USING (k)', qr/: the larger side is hashed, and fewer rows of the other one are expected than cuckoofilter.join_filter_min_rows$/ ],
	[ 'a Gather on the large side', "SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SELECT count(*) FROM fact f JOIN (SELECT k FROM dim WHERE id <= 90 + 0 * pg_backend_pid() OFFSET 0) d USING (k) WHERE f.id % 7 = 3", '(f.k = dim.k): parallel workers read the large side, and they do not have the hash table' ],
	[ 'a recursive query', 'WITH RECURSIVE r AS (SELECT 1 AS k UNION ALL SELECT r.k + 1 FROM r LEFT JOIN dim d USING (k) WHERE r.k < 9) SELECT count(*) FROM r', '(d.k = r_1.k): the hashed side is read again with other parameters' ],
	[ 'a recursive query in a subquery', 'SELECT (WITH RECURSIVE r AS (SELECT d.k FROM dim d UNION SELECT f.k + 1 FROM r LEFT JOIN fact f USING (k) WHERE r.k < 9) SELECT count(*) FROM r)', '(r.k = f.k): the larger side is hashed, and rows of the other one without a match are in the result' ],
	[ 'joins of a function that is run while planning', "$join WHERE f.id < inner_join()", '' ]);

like(reasons($_->[1]), ref $_->[2] ? $_->[2] : qr/^\Q$_->[2]\E$/, $_->[0]) foreach @cases;

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
	[ 'partitions', "$loop JOIN parts p ON p.k = f.k", 'lookups of fact.k: the loop\'s inner side reads several tables' ],
	[ 'types that cannot be hashed', "SET enable_nestloop = on; SET enable_hashjoin = off; SELECT count(*) FROM days d JOIN kept f ON f.at = d.day", '(f.at = d.day): PostgreSQL cannot hash timestamp without time zone = date: cast the small side, or the timestamp to date to join by the day' ],
	[ 'the same without an index', "SET enable_nestloop = on; SET enable_hashjoin = off; SELECT count(*) FROM days d JOIN days f ON f.day = d.day + interval '1 day'", qr/^[^:]*'1 day'::interval[^:]*: PostgreSQL cannot hash timestamp without time zone = date: cast the small side, or the timestamp to date to join by the day$/ ],
	[ 'types that cannot be hashed, with others', "SET enable_nestloop = on; SET enable_hashjoin = off; SELECT count(*) FROM days d JOIN kept f ON f.at = d.day AND f.id = d.n", qr/^[^:]*: PostgreSQL cannot hash timestamp without time zone = date: cast the small side, or the timestamp to date to join by the day$/ ],
	[ 'a condition that may fail', "$loop JOIN looked l ON l.k = f.k AND 10 / l.c > 2", '(l.k = fact.k): a scan of the inner side cannot test its conditions' ],
	[ 'a volatile one', "$loop JOIN looked l ON l.k = f.k AND l.c = 3 AND l.d > nextval('s')", '(l.k = fact.k): the loop\'s inner side has a volatile function' ],
	[ 'the row of a key, auto', "SET cuckoofilter.join_filter = auto; $looked WHERE f.k = 7", '(l.k = f.d): the outer side has one row at most' ],
	[ 'and rows joined to it, auto', "SET cuckoofilter.join_filter = auto; $looked JOIN looked m ON m.k = l.d WHERE f.k = 7", '(l.k = f.d), (m.k = l.d): the outer side has one row at most' ],
	[ 'the row of a key, sorted, auto', "SET cuckoofilter.join_filter = auto; SET enable_nestloop = on; SET enable_hashjoin = off; SELECT count(*) FROM (SELECT * FROM looked WHERE k = 7 ORDER BY d) f JOIN looked l ON l.k = f.d", '(l.k = looked.d): the outer side has one row at most' ],
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

# ----------------------------------------------------------- the formats with groups

my $left = $cases[2][1];
my $join_left = 'SELECT count(*) FROM fact f LEFT JOIN dim d USING (k) LEFT JOIN dim e ON e.k = f.k LEFT JOIN dim g ON g.id = f.id LEFT JOIN dim h ON h.k = f.id JOIN looked l ON l.k + 1 = f.id + 1';
my $rows = 'rows of the large side without a match are in the result';

my %group = (JSON => qr/,\n    "Joins Without Filter": \[.*?\n    \]/s, YAML => qr/\n  Joins Without Filter: .*/s, XML => qr{    <Joins-Without-Filter>.*?</Joins-Without-Filter>\n}s);

# The reasons of a plan in JSON: reason, number of joins, conditions.
sub groups
{
	my ($plan) = @_;
	return join('|', map { $_->{Reason} . " $_->{Joins} " . join(' ', @{ $_->{Conditions} }) } @{ $plan->{'Joins Without Filter'} // [] });
}

my $json = decode_json(explained($left, 'COSTS OFF, FORMAT JSON'));
is(scalar(@$json), 1, 'JSON: one query') or diag(explain($json));
is_deeply([ sort keys %{ $json->[0] } ], [ 'Joins Without Filter', 'Plan' ], 'JSON: a group beside the plan');
is(groups($json->[0]), "$rows 1 (f.k = d.k)", 'JSON: the reason');
$json = decode_json(explained($left, 'ANALYZE, COSTS OFF, FORMAT JSON'));
is(groups($json->[0]), "$rows 1 (f.k = d.k)", 'JSON, ANALYZE');
ok(defined $json->[0]{'Execution Time'}, 'JSON, ANALYZE: the rest is as before');
is_deeply([ keys %{ decode_json(explained($join, 'COSTS OFF, FORMAT JSON'))->[0] } ], ['Plan'], 'JSON: no reason, no group');
is_deeply([ keys %{ decode_json(explained("SET cuckoofilter.join_filter = off; $left", 'COSTS OFF, FORMAT JSON'))->[0] } ], ['Plan'], 'JSON: off');
is($node->safe_psql('postgres', "SET cuckoofilter.join_filter = off; EXPLAIN (COSTS OFF, FORMAT $_) $left"), $node->safe_psql('postgres', "EXPLAIN (COSTS OFF, FORMAT $_) $left") =~ s/$group{$_}//r, "$_: the rest is as before") foreach sort keys %group;
like(explained($left, 'COSTS OFF, FORMAT YAML'), qr/^  Joins Without Filter: \n    - Reason: "\Q$rows\E"\n      Joins: 1\n      Conditions: \n        - "\(f\.k = d\.k\)"\s*$/m, 'YAML');
like(explained($left, 'COSTS OFF, FORMAT XML'), qr{</Plan>\n    <Joins-Without-Filter>\n      <Join-Without-Filter>\n        <Reason>\Q$rows\E</Reason>\n        <Joins>1</Joins>\n        <Conditions>\n          <Item>\(f\.k = d\.k\)</Item>\n        </Conditions>\n      </Join-Without-Filter>\n    </Joins-Without-Filter>\n  </Query>\n</explain>\s*$}, 'XML');

# A statement that a rule makes two of has two groups. The second query has the joins of the first, too.
$node->safe_psql('postgres', 'CREATE TABLE once (n bigint); CREATE TABLE doubled (n bigint); CREATE RULE twice AS ON INSERT TO doubled DO ALSO INSERT INTO once SELECT count(*) FROM fact f LEFT JOIN dim d USING (k)');
$json = decode_json(explained("INSERT INTO doubled SELECT count(*) FROM fact f JOIN dim d ON f.k + 1 = d.k + 1", 'COSTS OFF, FORMAT JSON'));
is(join('; ', map { groups($_) } @$json), "$unmapped: (f.k + 1) 1 ((f.k + 1) = (d.k + 1)); $unmapped: (f_1.k + 1) 1 ((f_1.k + 1) = (d_1.k + 1))|$rows 1 (f.k = d.k)", 'two queries, JSON');
is(reasons('INSERT INTO doubled SELECT count(*) FROM fact f JOIN dim d ON f.k + 1 = d.k + 1'), "((f.k + 1) = (d.k + 1)): $unmapped: (f.k + 1)|((f_1.k + 1) = (d_1.k + 1)): $unmapped: (f_1.k + 1)|(f.k = d.k): $rows", 'two queries, text');

# --------------------------------------------------------------- many joins

# Joins with the same reason are in one line, which names three of them.
is(reasons("SET join_collapse_limit = 1; $join_left"), "(f.k = d.k), (f.k = e.k), (f.id = g.id) and 1 other: $rows|((f.id + 1) = (l.k + 1)): $unmapped: (f.id + 1)", 'five joins, two reasons');
is(groups(decode_json(explained("SET join_collapse_limit = 1; $join_left", 'COSTS OFF, FORMAT JSON'))->[0]), "$rows 4 (f.k = d.k) (f.k = e.k) (f.id = g.id)|$unmapped: (f.id + 1) 1 ((f.id + 1) = (l.k + 1))", 'the same in JSON');
$node->safe_psql('postgres', join('; ', map { my $table = $_; "CREATE TABLE $table (k integer, n integer) PARTITION BY RANGE (k)", map { "CREATE TABLE $table$_ PARTITION OF $table FOR VALUES FROM (" . $_ * 10 . ') TO (' . ($_ + 1) * 10 . ')' } (0 .. 59) } ('many', 'much')));
is(reasons('SET enable_partitionwise_join = on; SELECT count(*) FROM many LEFT JOIN much USING (k)'), "(many_1.k = much_1.k), (many_2.k = much_2.k), (many_3.k = much_3.k) and 57 others: $rows", 'a line for 60 partitionwise joins');
is($node->safe_psql('postgres', "SET cuckoofilter.join_filter = off; EXPLAIN (COSTS OFF) $cases[2][1]"), $node->safe_psql('postgres', "EXPLAIN (COSTS OFF) $cases[2][1]") =~ s/\nNo Join Filter.*//r, 'the plan is the same without it');
my ($status, undef, $err) = $node->psql('postgres', "EXPLAIN SELECT count(*) FROM fact f LEFT JOIN dim d USING (k) WHERE 1 / (f.k - f.k) = 1 AND 1 / 0 = 1; SELECT 1");
like($err, qr/division by zero/, 'an error while EXPLAIN plans');
is(reasons($cases[2][1]), $cases[2][2], 'and again');

# ------------------------------------------------- plans that EXPLAIN does not make

# The reasons are found when a plan is shown: also in the log of auto_explain, and of a cached plan.
is($node->safe_psql('postgres', "EXPLAIN (COSTS OFF) SELECT k FROM dim"), 'Seq Scan on dim', 'no join');
SKIP:
{
	skip('no hook of EXPLAIN EXECUTE and auto_explain before PostgreSQL 18', 8) if server_version($node) < 180000;
	my $prepared = "PREPARE p AS $left; SET plan_cache_mode = force_generic_plan";

	is($node->safe_psql('postgres', "$prepared; EXPLAIN (COSTS OFF) EXECUTE p") =~ s/.*(?=No Join)//sr, "No Join Filter for (f.k = d.k): $rows", 'EXECUTE');
	is(groups(decode_json($node->safe_psql('postgres', "$prepared; EXPLAIN (COSTS OFF, FORMAT JSON) EXECUTE p"))->[0]), "$rows 1 (f.k = d.k)", 'EXECUTE, JSON');
	foreach my $format ('text', 'json')
	{
		my $before = -s $node->logfile;
		my ($out, $text, $plan);

		$node->safe_psql('postgres', "LOAD 'auto_explain'; SET auto_explain.log_min_duration = 0; SET auto_explain.log_format = $format; SELECT count(*) FROM (VALUES (1)) v; $left");
		$text = substr(slurp_file($node->logfile), $before);
		like($text, qr/Hash Left Join|"Hash Join"/, "auto_explain, $format: the plan");
		is(scalar(() = $text =~ /No Join Filter for \(f\.k = d\.k\): \Q$rows\E|"Joins Without Filter"/g), 1, "auto_explain, $format: the reason, once") or diag($text);
		if ($format eq 'json')
		{
			($plan) = map { /^(\t\{.*LEFT JOIN.*?^\t\})/ms } split(/plan:\n/, $text);
			$plan = eval { decode_json(($plan // '') =~ s/^\t//mgr) };
			is(groups($plan->{Plan}), "$rows 1 (f.k = d.k)", 'auto_explain, json: valid, in the node at the top') or diag($text);
		}
		$before = -s $node->logfile;
		$node->safe_psql('postgres', "LOAD 'auto_explain'; SET auto_explain.log_min_duration = 0; SET auto_explain.log_format = $format; SET cuckoofilter.join_filter = off; $left");
		unlike(substr(slurp_file($node->logfile), $before), qr/No Join Filter|Joins Without/, "auto_explain, $format: off");
	}
}

# --------------------------------------------------------- blocks that are not skipped

my $blocks = explained('SELECT count(*) FROM kept f JOIN days d ON f.code = d.code', 'COSTS OFF');
like($blocks, qr/Filtered Scan: f\.code of kept f\n\s*Blocks Not Skipped: index kept_code lacks the equality of the join\n/, 'varchar = char(n)');
unlike(explained('SELECT count(*) FROM kept f JOIN days d ON f.code = d.code::varchar', 'COSTS OFF'), qr/Blocks Not Skipped/, 'varchar = varchar');
$node->safe_psql('postgres', 'CREATE INDEX kept_bpchar ON kept USING brin ((code::bpchar))');
like(explained('SELECT count(*) FROM kept f JOIN days d ON f.code = d.code', 'COSTS OFF'), qr/index kept_code lacks/, 'and an index of an expression');
unlike(explained('SELECT count(*) FROM fact f JOIN dim d USING (k)', 'COSTS OFF'), qr/Blocks/, 'no index at all');

done_testing();
