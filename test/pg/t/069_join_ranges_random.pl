# Random conditions beside a join: none, on the key's column, on another one, open, closed, empty, contradictory, with OR, with
# parameters, beside each kind of index. The scan is a Bitmap Heap Scan, an Index Scan or another one, serial or parallel. The rows
# are the same in every mode: alone, after changes of the same transaction, in a cursor while rows change, and beside writers.
# Counted: in how many queries such scans skipped blocks.  SEED=n ROUNDS=percent.
use CuckooCluster;
use CuckooJoin;
use CuckooRandom;
use CuckooSession;

my $node = random_cluster("shared_buffers = 2MB\nenable_mergejoin = off\n");
my $seed = seed();
my $session = CuckooSession->new($node);
my @modes = qw(off on auto verify);
my %seen = map { $_ => 0 } qw(queries bitmaps unordered skipped given_up errors failed);

# ---------------------------------------------------------------------- tables

# The columns x and y are functions of a number n from 0 to 9999; the key is x, or a function of it.
my @kinds = (
	{ type => 'integer', value => 'n', keys => [ [ 'f.x', 'integer', 'n' ], [ 'f.x', 'bigint', 'n::bigint' ], [ 'f.x / 10', 'integer', 'n / 10' ] ] },
	{ type => 'bigint', value => '(n - 5000)::bigint * 1000000007', keys => [ [ 'f.x', 'bigint', '(n - 5000)::bigint * 1000000007' ] ] },
	{ type => 'smallint', value => '(n - 5000)::smallint', keys => [ [ 'f.x', 'integer', 'n - 5000' ], [ 'f.x', 'smallint', '(n - 5000)::smallint' ] ] },
	{ type => 'date', value => "date '2020-01-01' + n / 10", other => 'timestamp', keys => [ [ 'f.x', 'date', "date '2020-01-01' + n / 10" ] ] },
	{ type => 'timestamp', value => "timestamp '2020-01-01' + n * interval '100 minutes'", other => 'date', keys => [ [ 'f.x', 'timestamp', "timestamp '2020-01-01' + n * interval '100 minutes'" ], ([ 'f.x::date', 'date', "date '2020-01-01' + n * 100 / 1440" ]) x 3 ] },
	{ type => 'timestamptz', value => "timestamptz '2020-01-01 00:00+00' + n * interval '7 minutes'", other => 'timestamp', keys => [ [ 'f.x', 'timestamptz', "timestamptz '2020-01-01 00:00+00' + n * interval '7 minutes'" ], [ 'f.x::date', 'date', "(timestamptz '2020-01-01 00:00+00' + n * interval '7 minutes')::date" ] ] },
	{ type => 'text', value => "to_char(n, 'FM000000')", keys => [ [ 'f.x', 'text', "to_char(n, 'FM000000')" ] ] });
my ($kind, $key);

sub number_sql
{
	my ($rows) = @_;
	my $in_order = "(g * 10000.0 / $rows)::integer % 10000";
	my $any = '(hashint4(g) & 2147483647) % 10000';
	my $late = pick(0, 0, 0, 20, 200, 1);

	$in_order = "CASE WHEN hashint4(g + 5) % $late = 0 THEN $any ELSE $in_order END" if $late > 0;
	$in_order = "CASE WHEN hashint4(g + 9) % 30 = 0 THEN NULL ELSE $in_order END" if chance(0.2);
	return $in_order;
}

sub index_sql
{
	my ($column) = @_;
	my %multi = (bigint => 'int8', integer => 'int4', smallint => 'int2', date => 'date', timestamp => 'timestamp', timestamptz => 'timestamptz');
	my $minmax = chance(0.2) && defined $multi{ $kind->{type} } ? " $multi{ $kind->{type} }_minmax_multi_ops" : '';
	my $pages = ' WITH (pages_per_range = ' . pick(1, 2, 4, 16) . ')';

	return 'CREATE INDEX ON fact ' . pick(
		("USING brin ($column$minmax)$pages") x 4, "USING brin (x, y, v)$pages",
		("($column)") x 4, "($column DESC)", "($column, v)", "(v, $column)",
		"($column) WHERE v < 50", "USING brin ($column) WHERE id > 200", '((v % 7))', "USING hash ($column)", '(id)');
}

sub change_sql
{
	my ($rows) = @_;
	my $some = 2 + int(rand(20));
	my @ids = map { int(rand($rows)) } (1, 2);
	my $brin = "FROM pg_index JOIN pg_class c ON c.oid = indexrelid JOIN pg_am a ON a.oid = relam WHERE amname = 'brin' AND relkind = 'i'";

	return pick(
		"UPDATE fact SET v = (v + 1) % 100 WHERE id % $some = 0", # HOT if there is room
		"UPDATE fact SET x = y WHERE id % $some = 1",
		"UPDATE fact SET x = (SELECT x FROM fact WHERE id = $ids[0] LIMIT 1) WHERE id BETWEEN $ids[1] AND $ids[1] + 5",
		"DELETE FROM fact WHERE id % $some = 2",
		"DELETE FROM fact WHERE id > $ids[0]",
		'VACUUM fact',
		"INSERT INTO fact SELECT id + 1000000, x, y, v, filler FROM fact WHERE id % $some = 3",
		"SELECT count(brin_summarize_new_values(indexrelid)) $brin",
		'SELECT count(brin_desummarize_range(indexrelid, ' . pick(0, 4, 16) . ")) $brin");
}

sub keys_sql
{
	my ($name) = @_;
	my ($from, $to, $step) = (int(rand(10000)), pick(1, 10, 100, 500, 3000), pick(1, 1, 2, 7, 100));
	my $keys = pick(
		"SELECT $from + g * $step AS n FROM generate_series(1, $to) g WHERE $from + g * $step < 10000",
		'SELECT (hashint4(g + ' . $from . ') & 2147483647) % 10000 AS n FROM generate_series(1, ' . pick(1, 3, 20, 200) . ') g',
		'SELECT n FROM generate_series(0, 9999, ' . pick(1, 50, 400) . ') n');

	return ("CREATE TABLE $name AS SELECT DISTINCT $key->[2] AS k, " . ($key->[2] =~ /:date|\// ? '0' : 'n') . " AS n FROM ($keys) x", chance(0.6) ? "CREATE INDEX ON $name (k)" : ());
}

sub tables_sql
{
	my ($rows) = @_;
	my $with = ' WITH (fillfactor = ' . pick(30, 70, 100) . ')';
	my $value = sub { "(SELECT $kind->{value} FROM (SELECT ($_[0]) AS n) v)" };
	my $columns = "id integer, x $kind->{type}, y $kind->{type}, v integer, filler text";
	my @sql = ('DROP TABLE IF EXISTS fact, d, e');

	push(@sql, chance(0.2)
		? ("CREATE TABLE fact ($columns) PARTITION BY RANGE (id)", map { "CREATE TABLE fact_$_->[0] PARTITION OF fact FOR VALUES FROM ($_->[1]) TO ($_->[2])$with" } ([ 0, 'MINVALUE', int($rows / 2) ], [ 1, int($rows / 2), 'MAXVALUE' ]))
		: pick('CREATE', 'CREATE UNLOGGED') . " TABLE fact ($columns)$with");
	my @indexes = map { index_sql($_) } ('x', pick('x', 'y'), 'y');
	push(@sql, shift(@indexes)) if chance(0.3);
	push(@sql, 'INSERT INTO fact SELECT g, ' . $value->(number_sql($rows)) . ', ' . $value->(number_sql($rows)) . ", g % 100, repeat('x', " . pick(0, 100, 400) . ") FROM generate_series(0, $rows - 1) g", @indexes);
	push(@sql, keys_sql('d'), keys_sql('e'));
	push(@sql, map { change_sql($rows) } (1 .. int(rand(4)))) if chance(0.6);
	push(@sql, pick('ANALYZE fact, d, e', 'VACUUM ANALYZE fact, d, e', 'ANALYZE d, e'));
	return @sql;
}

# -------------------------------------------------------------------- queries

sub literal
{
	my ($n, $type) = @_;
	my $value = $kind->{value} =~ s/\bn\b/($n)/gr;

	return "NULL::$kind->{type}" if chance(0.02);
	return "($value)::$type" if defined $type;
	return pick(map { ("'infinity'::$_", "'-infinity'::$_") } $kind->{type}) if $kind->{type} =~ /date|time/ && chance(0.04);
	return "($value)";
}

# The conditions of a query. Numbers become parameters in prepared statements.
my @parameters;

sub value_sql
{
	my ($n) = @_;
	my $value = literal($n, defined $kind->{other} && chance(0.25) ? $kind->{other} : $kind->{type} =~ /int/ && $kind->{type} ne 'smallint' && chance(0.2) ? 'bigint' : undef);

	return $value if chance(0.7);
	if (chance(0.6))
	{
		push(@parameters, $value);
		return '$' . scalar(@parameters) . "::$kind->{type}";
	}
	return "(SELECT $value)";
}

sub bounds_sql
{
	my ($column) = @_;
	my $from = int(rand(10000));
	my $to = $from + pick(1, 50, 1000, 5000);
	my ($low, $high) = (pick('>=', '>=', '>'), pick('<', '<='));

	return pick(
		(sub { "f.$column $low " . value_sql($from) . " AND f.$column $high " . value_sql($to) }) x 4,
		(sub { "f.$column $low " . value_sql($from) }) x 2,
		sub { "f.$column $high " . value_sql($to) },
		sub { value_sql($from) . " < f.$column" },
		sub { "f.$column BETWEEN " . value_sql($from) . ' AND ' . value_sql($to) },
		sub { "f.$column = " . value_sql($from) },
		sub { "f.$column > " . value_sql($to) . " AND f.$column < " . value_sql($from) }, # contradictory
		sub { "f.$column >= " . value_sql(20000) }, # empty
		sub { "f.$column " . pick('<', '<=', '>', '>=', '=') . ' ' . pick('ANY', 'ANY', 'ALL') . ' (ARRAY[' . join(', ', map { literal($_) } @{ pick([ $from, $to, 5 ], [ 9000, $from, $from + 300 ], [ $from, $from + 4000, $to ]) }) . '])' },
		sub { "f.$column IN (" . join(', ', map { literal($from + $_) } (0, 7, 300)) . ')' },
		sub { "(f.$column < " . value_sql($from) . " OR f.$column > " . value_sql($to) . ')' },
		sub { "(f.$column BETWEEN " . literal($from) . ' AND ' . literal($to) . ' OR f.' . pick('x', 'y', 'v') . ' IS NULL)' })->();
}

sub where_sql
{
	return pick(
		sub { 'true' },
		(sub { bounds_sql('x') }) x 5,
		(sub { bounds_sql('y') }) x 2,
		sub { bounds_sql('x') . ' AND ' . bounds_sql('y') },
		sub { bounds_sql('x') . ' AND ' . bounds_sql('x') },
		sub { bounds_sql('x') . ' AND f.v < ' . pick(3, 50) },
		sub { bounds_sql(pick('x', 'y')) . ' AND f.v % 7 = 3' },
		sub { 'f.id > 200 AND ' . bounds_sql('x') })->();
}

sub query_sql
{
	my ($rows) = @_;
	my $where = where_sql();
	my $on = "$key->[0] = d.k";
	my $what = 'count(*), sum(f.id::bigint), sum(f.v), sum(length(f.filler))';

	return pick(
		("SELECT $what, sum(d.n) FROM fact f JOIN d ON $on WHERE $where") x 6,
		"SELECT $what, sum(d.n) FROM fact f JOIN d ON $on JOIN e ON $key->[0] = e.k WHERE $where",
		"SELECT $what, sum(d.n) FROM fact f JOIN d ON $on JOIN generate_series(0, 99, 3) s ON s = f.v WHERE $where",
		"SELECT $what FROM fact f WHERE $key->[0] IN (SELECT k FROM d) AND $where",
		"SELECT $what FROM fact f WHERE NOT EXISTS (SELECT FROM d WHERE $on) AND $where",
		"SELECT $what, count(d.k) FROM fact f LEFT JOIN d ON $on WHERE $where",
		"SELECT count(*), count(f.id) FROM (SELECT * FROM fact f WHERE $where) f RIGHT JOIN d ON $on",
		"SELECT f.id, d.n FROM fact f JOIN d ON $on WHERE $where ORDER BY f.id, d.n LIMIT " . int(rand(50)),
		"SELECT count(*) FROM (SELECT f.id FROM fact f JOIN d ON $on WHERE $where LIMIT " . int(rand(50)) . ') x',
		"SELECT g, x.* FROM generate_series(1, 3) g, LATERAL (SELECT $what FROM fact f JOIN d ON $on WHERE f.v >= g * 5 AND $where OFFSET 0) x",
		"SELECT g, x.* FROM (SELECT g, " . literal('g * 900') . " AS low, " . literal('g * 900 + 1500') . " AS high FROM generate_series(1, 4) g) g, LATERAL (SELECT $what FROM fact f JOIN d ON $on WHERE f." . pick('x', 'x', 'y') . " BETWEEN g.low AND g.high OFFSET 0) x",
		"SELECT $what FROM (SELECT * FROM fact f WHERE $where ORDER BY f.x, f.id OFFSET 0) f JOIN d ON $on",
		"SELECT count(*), sum(f.c), sum(f.s) FROM (SELECT f.x, count(*) AS c, sum(f.id) AS s FROM fact f WHERE $where GROUP BY f.x) f JOIN d ON $on",
		"SELECT count(*), sum(f.r) FROM (SELECT f.x, row_number() OVER (PARTITION BY f.x ORDER BY f.id) AS r FROM fact f WHERE $where) f JOIN d ON $on",
		"SELECT $what, sum(g.v) FROM fact f JOIN d ON $on JOIN fact g ON g.id = f.id WHERE $where");
}

sub settings_sql
{
	return join('; ',
		'SET enable_seqscan = ' . pick('off', 'off', 'on'),
		'SET enable_indexscan = ' . pick('off', 'on'),
		'SET random_page_cost = ' . pick(0, 1, 4), # without a cost, an Index Scan is better than a bitmap
		'SET enable_nestloop = ' . pick('off', 'off', 'off', 'on'),
		'SET enable_mergejoin = ' . pick('off', 'off', 'off', 'off', 'on'),
		'SET enable_hashjoin = ' . pick('on', 'on', 'on', 'on', 'off'),
		'SET enable_hashagg = ' . pick('on', 'off'),
		'SET enable_memoize = ' . pick('on', 'off'),
		'SET max_parallel_workers_per_gather = ' . pick(0, 0, 2),
		'SET enable_parallel_hash = ' . pick('on', 'off'),
		'SET parallel_leader_participation = ' . pick('on', 'on', 'off'),
		'SET effective_io_concurrency = ' . pick(0, 1, 20),
		'SET work_mem = ' . pick("'64kB'", "'4MB'"),
		'SET cuckoofilter.join_filter_min_rows = ' . pick(0, 0, 100),
		'SET plan_cache_mode = ' . pick('auto', 'force_generic_plan', 'force_custom_plan'));
}

# A statement with the query: prepared, if it has parameters.
sub statements_sql
{
	my ($query) = @_;
	my $values = join(', ', @parameters);
	my $again = join(', ', reverse(@parameters));

	return $query if !@parameters;
	return "PREPARE p AS $query; EXECUTE p($values); EXECUTE p($again); EXECUTE p($values); DEALLOCATE p";
}

# ------------------------------------------------------------------- comparison

sub rows_of
{
	my ($mode, $statements) = @_;

	$session->ask("SET cuckoofilter.join_filter = $mode; $statements");
	my ($out, $err, $alive) = $session->answer;
	BAIL_OUT("SEED=$seed, $mode: the server is gone: $statements") if !$alive;
	foreach my $statement ($err eq '' ? () : ('ROLLBACK TO s', 'DEALLOCATE ALL')) # the first is for a transaction
	{
		$session->ask($statement);
		$session->answer;
	}
	return $err eq '' ? $out : "error: $err";
}

sub skipped_blocks
{
	return $session->query('SELECT blocks_skipped FROM cuckoofilter_join_stats');
}

# Count the plans whose scans are of these kinds.
sub count_plan
{
	my ($query) = @_;

	return if @parameters;
	$session->ask("SET cuckoofilter.join_filter = on; EXPLAIN (COSTS OFF) $query");
	my ($plan) = $session->answer;
	$session->ask("SET cuckoofilter.join_filter = off; EXPLAIN (COSTS OFF) $query");
	my ($before) = $session->answer;

	return if $plan !~ /Cuckoo/;
	$seen{bitmaps}++ if $plan =~ /Bitmap Heap Scan on fact/;
	$seen{unordered}++ if $plan =~ /Bitmap Heap Scan on fact/ && $before !~ /Bitmap Heap Scan on fact/;
	return;
}

# No more blocks are skipped than a scan has.
sub check_counts
{
	my ($query) = @_;

	return if @parameters;
	$session->ask("SET cuckoofilter.join_filter = on; EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) $query");
	my ($plan) = $session->answer;
	fail("SEED=$seed: $1 of $2 blocks") or diag("$query\n$plan") if $plan =~ /Blocks Skipped: (\d+) of (\d+)/ && $1 > $2;
	return;
}

sub compare
{
	my ($name, $statements, @before) = @_;
	my $skipped = skipped_blocks();
	my %rows = map { $_ => rows_of($_, $statements) } @modes;
	my @unlike = grep { $rows{$_} ne $rows{off} } qw(on auto verify);

	if (grep { /^error: .*57014/ } values %rows)
	{
		$seen{given_up}++;
		return 1;
	}
	$seen{queries}++;
	$seen{errors}++ if $rows{off} =~ /^error/;
	$seen{skipped}++ if skipped_blocks() > $skipped;
	return 1 if !@unlike;
	fail($name);
	diag("SEED=$seed $name\n$statements\n" . join("\n", map { "$_: $rows{$_}" } ('off', @unlike)) . "\n" . join(";\n", @before));
	return 0;
}

# The number of rows that a cursor returns, which is open while rows of its table change; or its error.
sub cursor_of
{
	my ($mode, $query, $change) = @_;

	$session->query("BEGIN; SET LOCAL enable_indexscan = off; SET LOCAL cuckoofilter.join_filter = $mode; DECLARE c CURSOR FOR $query; FETCH 3 FROM c");
	$session->query($change);
	$session->ask('FETCH ALL FROM c');
	my ($rows, $err) = $session->answer;
	$session->query('ROLLBACK');
	return $err eq '' ? scalar(() = $rows =~ /\d+/g) : $err;
}

sub compare_cursor
{
	my ($rows, @before) = @_;

	@parameters = ();
	my $query = "SELECT f.id FROM fact f JOIN d ON $key->[0] = d.k WHERE " . where_sql();
	my $change = chance(0.3) ? "SET LOCAL TimeZone = 'Asia/Tokyo'" : change_sql($rows);

	return if @parameters || $change =~ /VACUUM/;
	my %rows = map { $_ => cursor_of($_, $query, $change) } ('off', 'on');
	return if $rows{on} eq $rows{off} || grep { /57014/ } values %rows;
	fail('a cursor that is open while rows change') or diag("SEED=$seed $query\n$change\noff: $rows{off}\non: $rows{on}\n" . join(";\n", @before));
	return;
}

sub draw_round
{
	my ($rows, $changes) = @_;

	$kind = pick(@kinds);
	$key = pick(@{ $kind->{keys} });
	my @sql = grep { $changes || !/^VACUUM/ } tables_sql($rows);

	$session->query($_) foreach @sql;
	return @sql;
}

$session->query('SET client_min_messages = error; LOAD $$cuckoofilter_join$$');
foreach my $round (1 .. rounds(60))
{
	my $rows = pick(300, 3000, 20000, 20000);
	my @sql = draw_round($rows, 1);

	foreach (1 .. 8)
	{
		my $settings = settings_sql();

		@parameters = ();
		my $query = query_sql($rows);

		$session->query($settings);
		count_plan($query);
		last if !compare("round $round: the same rows", statements_sql($query), @sql, $settings);
		if (chance(0.15))
		{
			my $change;

			do { $change = change_sql($rows) } while $change =~ /VACUUM/;
			$session->query("BEGIN; $change; SAVEPOINT s");
			compare("round $round: rows of this transaction", statements_sql($query), @sql, $settings, $change);
			$session->query('ROLLBACK');
		}
		compare_cursor($rows, @sql, $settings) if chance(0.15);
	}
}

# A table of 100,000 blocks, nearly all of them empty, with rows at both ends: for all rounds, as a scan of it takes long.
{
	my @sql = draw_round(3000, 1);
	my ($large) = $session->query("SELECT relname FROM pg_class WHERE relname IN ('fact', 'fact_1') AND relkind = 'r'") =~ /(\w+)/;

	grow_table($large, 100000 + int(rand(200)));
	$session->query($_) foreach (my @more = ("INSERT INTO $large SELECT id + 2000000, x, y, v, filler FROM fact WHERE id % 5 = 0", "SELECT count(brin_summarize_new_values(indexrelid)) FROM pg_index JOIN pg_class c ON c.oid = indexrelid JOIN pg_am a ON a.oid = relam WHERE amname = 'brin' AND relkind = 'i'", "ANALYZE $large"));
	foreach my $round (1 .. rounds(40))
	{
		my $settings = settings_sql() . '; SET enable_seqscan = off';

		@parameters = ();
		my $query = query_sql(3000);

		$session->query($settings);
		last if !compare("a large table, query $round: the same rows", statements_sql($query), @sql, "-- 100,000 blocks", @more, $settings);
		check_counts($query);
	}
}

my @writers = map { CuckooSession->new($node) } (1, 2);

foreach my $round (1 .. rounds(8))
{
	my $rows = pick(5000, 20000);
	my @sql = draw_round($rows, 0);

	$_->ask(join('; ', "SET client_min_messages = error; SET statement_timeout = '10s'", map { change_sql($rows) } (1 .. 40))) foreach @writers;
	foreach (1 .. 8)
	{
		@parameters = ();
		my $query = query_sql($rows);

		$session->query(settings_sql());
		$session->query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1; SAVEPOINT s');
		compare("round $round, beside writers: the same rows", statements_sql($query), @sql);
		$session->query('ROLLBACK');
		$_->{psql}->pump_nb foreach @writers;
	}
	foreach my $writer (@writers)
	{
		my ($out, $err) = $writer->answer;
		$seen{failed} += () = $err =~ /ERROR/g; # deadlocks and timeouts of writers
	}
}
note(join(', ', map { "$_ $seen{$_}" } sort keys %seen));
cmp_ok($seen{errors}, '<=', $seen{queries} / 10, 'few queries have an error');
# few rounds may draw none
cmp_ok($seen{bitmaps}, '>=', int(($seen{queries} - 30) / 10), 'many scans are Bitmap Heap Scans');
cmp_ok($seen{unordered}, '>=', int(($seen{queries} - 30) / 500), 'some of these were Index Scans');
cmp_ok($seen{skipped}, '>=', int(($seen{queries} - 30) / 15), 'many queries skip blocks');
$_->quit foreach (@writers, $session);
ok(1, 'the end is reached');

done_testing();
