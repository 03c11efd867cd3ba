# Random tables with indexes, joined: the rows are the same whether blocks are skipped or not, and verify finds nothing.
# First alone, then beside two writers, which insert, update, delete, VACUUM, summarize and desummarize. Counted: in how many
# queries blocks were skipped.  SEED=n ROUNDS=percent.
use CuckooCluster;
use CuckooJoin;
use CuckooRandom;
use CuckooSession;

my $node = random_cluster("shared_buffers = 2MB\nenable_nestloop = off\nenable_mergejoin = off\n");
my $seed = seed();

# --------------------------------------------------------------------- tables

# The values of a column are SQL of a number n from 0 to 9999; types of one list join.
my @families = (
	{ types => [ 'integer', 'bigint', 'smallint' ], value => 'n', few => 1 },
	{ types => [ 'bigint' ], value => '(n - 5000)::bigint * 1000000007000', few => 1 },
	{ types => ['date'], value => "date '2020-01-01' + n", few => 1 },
	{ types => [ 'timestamp', 'timestamp(3)' ], value => "timestamp '2020-01-01' + n * interval '1 hour'", few => 1 },
	{ types => ['timestamptz'], value => "timestamptz '2020-01-01 00:00+00' + n * interval '7 minutes'", few => 1 },
	{ types => [ 'numeric', 'numeric(9,2)' ], value => "CASE WHEN n % 2 = 0 THEN n ELSE (n || '.0')::numeric END" },
	{ types => [ 'double precision', 'real' ], value => 'CASE WHEN n = 7777 THEN float8 $$NaN$$ ELSE n - 100 END' },
	{ types => ['uuid'], value => "(to_char(n, 'FM00000000') || '-0000-0000-0000-000000000000')::uuid" },
	{ types => [ 'text', 'varchar(20)' ], value => "chr(CASE WHEN n % 1000 < 500 THEN 97 ELSE 66 END) || to_char(n, 'FM000000')", collations => [ '', ' COLLATE "C"', ' COLLATE "POSIX"' ] });

push(@{ $families[-1]{collations} }, ' COLLATE "en-x-icu"') if $node->safe_psql('postgres', q{SELECT count(*) FROM pg_collation WHERE collname = 'en-x-icu' AND collencoding IN (-1, 6)}) > 0;

# A number from 0 to 9999, in the order of the table, of late rows, or in none.
sub key_sql
{
	my ($rows) = @_;
	my $in_order = pick("(g * 10000.0 / $rows)::integer % 10000", "9999 - (g * 10000.0 / $rows)::integer % 10000", "(g * 10000.0 / $rows)::integer / 500 * 500");
	my $any = '(hashint4(g) & 2147483647) % 10000';
	my $late = pick(0, 0, 5, 20, 200, 1);

	$in_order = "CASE WHEN hashint4(g + 5) % $late = 0 THEN $any ELSE $in_order END" if $late > 0;
	$in_order = "CASE WHEN hashint4(g + 9) % 30 = 0 THEN NULL ELSE $in_order END" if chance(0.3);
	return $in_order;
}

sub index_sql
{
	my ($table, $family) = @_;
	my $column = pick('a', 'a', 'b') . pick(@{ $family->{collations} // [''] });
	my $minmax = '';

	return "CREATE INDEX ON $table ($column)" if chance(0.25);
	if (chance(0.3))
	{
		my %name = (bigint => 'int8', integer => 'int4', smallint => 'int2', date => 'date', timestamp => 'timestamp', timestamptz => 'timestamptz', uuid => 'uuid', numeric => 'numeric');
		my $name = $name{ $family->{of}{ substr($column, 0, 1) } };
		$minmax = " ${name}_minmax_multi_ops" if defined $name;
	}
	return "CREATE INDEX ON $table USING brin (" . pick('', '', 'id, ') . "$column$minmax) WITH (pages_per_range = " . pick(1, 2, 4, 16, 128) . ')';
}

# What happens to a table once it has its indexes.
sub change_sql
{
	my ($table, $rows) = @_;
	my $some = 2 + int(rand(20));
	my @ids = map { int(rand($rows)) } (1, 2);

	return pick(
		"UPDATE $table SET v = v + 1 WHERE id % $some = 0",
		"UPDATE $table SET a = b WHERE id % $some = 1",
		"UPDATE $table SET a = (SELECT a FROM $table WHERE id = $ids[0] LIMIT 1) WHERE id BETWEEN $ids[1] AND $ids[1] + 5",
		"DELETE FROM $table WHERE id % $some = 2",
		"DELETE FROM $table WHERE id > $ids[0]",
		"VACUUM $table",
		"VACUUM (FREEZE, ANALYZE) $table",
		"INSERT INTO $table SELECT id + 1000000, a, b, v, filler FROM $table WHERE id % $some = 3",
		"INSERT INTO $table SELECT id + 2000000, b, a, v, filler FROM $table WHERE id BETWEEN $ids[0] AND $ids[0] + 100",
		summary_sql($table));
}

# Summarize ranges of some index, or forget a summary.
sub summary_sql
{
	my ($table) = @_;
	my $what = pick('brin_summarize_new_values(i)', 'brin_desummarize_range(i, ' . int(rand(40)) . ')', 'brin_desummarize_range(i, 0)', 'brin_summarize_range(i, ' . int(rand(40)) . ')');

	return "SELECT count($what) FROM (SELECT indexrelid::regclass AS i FROM pg_index JOIN pg_class c ON c.oid = indexrelid JOIN pg_am ON pg_am.oid = relam WHERE amname = 'brin' AND relkind = 'i' AND indrelid IN (SELECT '$table'::regclass UNION SELECT inhrelid FROM pg_inherits WHERE inhparent = '$table'::regclass)) x";
}

my $indexed; # the dimensions of the round are, so that nested loops look them up
my $loops;   # the queries have nested loops, and no hash joins

# The tables of a round: the fact, and two dimensions.
sub tables_sql
{
	my ($rows) = @_;
	my $family = pick(@families);
	my %of = map { $_ => pick(@{ $family->{types} }) } ('a', 'b', 'd', 'e');
	my $filler = pick(0, 10, 100, 400);
	my $columns = "id integer, a $of{a}, b $of{b}, v integer, filler text";
	my $with = ' WITH (fillfactor = ' . pick(30, 70, 100) . ')';
	my $value = sub { "(SELECT ($family->{value})::$of{$_[0]} FROM (SELECT ($_[1]) AS n) v)" };
	my @sql = 'DROP TABLE IF EXISTS fact, d, e';

	$indexed = chance(0.7);

	if (chance(0.25))
	{
		push(@sql, "CREATE TABLE fact ($columns) PARTITION BY HASH (id)", map { "CREATE TABLE fact_$_ PARTITION OF fact FOR VALUES WITH (MODULUS 3, REMAINDER $_)$with" } (0 .. 2));
	}
	elsif (chance(0.2))
	{
		push(@sql, "CREATE TABLE fact ($columns) PARTITION BY RANGE (id)", map { 'CREATE TABLE fact_' . $_->[0] . " PARTITION OF fact FOR VALUES FROM ($_->[1]) TO ($_->[2])$with" } ([ 0, 'MINVALUE', int($rows / 2) ], [ 1, int($rows / 2), 'MAXVALUE' ]));
	}
	else
	{
		push(@sql, pick('CREATE', 'CREATE', 'CREATE UNLOGGED') . " TABLE fact ($columns)$with");
	}
	$family->{of} = \%of;
	my @indexes = map { index_sql('fact', $family) } (1 .. pick(1, 1, 2, 3));
	push(@sql, shift(@indexes)) if chance(0.3); # before the rows: ranges are not summarized
	push(@sql, "INSERT INTO fact SELECT g, " . $value->('a', key_sql($rows)) . ', ' . $value->('b', key_sql($rows)) . ", g % 100, repeat('x', $filler) FROM generate_series(0, $rows - 1) g", @indexes);
	foreach my $table ('d', 'e')
	{
		my ($from, $to, $step) = (int(rand(10000)), pick(1, 10, 100, 500, 3000), pick(1, 1, 2, 7, 100));
		my $keys = pick(
			"SELECT $from + g * $step AS n FROM generate_series(1, $to) g WHERE $from + g * $step < 10000",
			"SELECT $from + g * $step AS n FROM generate_series(1, $to) g WHERE $from + g * $step < 10000 UNION ALL SELECT 17 UNION ALL SELECT NULL",
			"SELECT (hashint4(g + $from) & 2147483647) % 10000 AS n FROM generate_series(1, " . pick(1, 3, 20, 200) . ') g',
			"SELECT g % 40 + $from % 9000 AS n FROM generate_series(1, " . pick(5, 100, 30000) . ') g',
			'SELECT n FROM generate_series(0, 9999) n');
		push(@sql, "CREATE TABLE $table AS SELECT row_number() OVER () AS id, " . $value->($table, 'n') . " AS k, n FROM ($keys) x" . pick('', ' ORDER BY hashint4(n)', ' ORDER BY n DESC'));
		push(@sql, "CREATE INDEX ON $table (k)") if $indexed;
	}
	push(@sql, map { change_sql('fact', $rows) } (1 .. int(rand(4)))) if chance(0.7);
	push(@sql, pick('ANALYZE fact, d, e', 'ANALYZE fact', 'ANALYZE d, e'));
	return @sql;
}

# -------------------------------------------------------------------- queries

sub query_sql
{
	my ($rows) = @_;
	my $where = pick('', '', ' AND f.id > ' . int(rand($rows)), ' AND f.v < ' . int(rand(100)), ' AND d.n > ' . int(rand(10000)), ' AND d.n > (SELECT ' . int(rand(10000)) . ')');
	my $of_d = $where =~ /d\.n/ ? $where : '';
	my $on = pick('f.a = d.k', 'f.a = d.k', 'f.b = d.k', 'f.a = d.k AND f.b = d.k');
	my $what = 'count(*), sum(f.id::bigint), sum(f.v), sum(length(f.filler))';
	my $from = "fact f JOIN d ON $on";

	return pick(
		"SELECT $what FROM $from WHERE true$where",
		"SELECT $what, sum(d.id) FROM $from WHERE true$where",
		"SELECT $what FROM $from JOIN e ON " . pick('f.a', 'f.b') . " = e.k WHERE true$where",
		"SELECT $what FROM fact f WHERE f.a IN (SELECT k FROM d)",
		"SELECT $what FROM fact f WHERE EXISTS (SELECT FROM d WHERE $on AND d.id <> f.id)",
		"SELECT $what FROM fact f WHERE EXISTS (SELECT FROM d WHERE $on$of_d)",
		"SELECT $what FROM fact f WHERE NOT EXISTS (SELECT FROM d WHERE $on$of_d)",
		"SELECT $what, count(d.id), sum(d.id) FROM fact f LEFT JOIN d ON $on$of_d",
		"SELECT count(*), sum(f.id::bigint), count(f.id) FROM fact f RIGHT JOIN d ON $on",
		"SELECT f.id, d.id FROM $from WHERE true$where ORDER BY 1, 2 LIMIT " . int(rand(50)),
		"SELECT count(*) FROM (SELECT f.id FROM $from WHERE true$where LIMIT " . int(rand(50)) . ') x',
		"SELECT g, x.* FROM generate_series(1, 3) g, LATERAL (SELECT $what FROM $from WHERE true$where OFFSET g - g) x",
		"SELECT g, x.* FROM generate_series(1, 3) g, LATERAL (SELECT $what FROM $from WHERE f.v > g * 20$where OFFSET 0) x",
		"SELECT g, x.* FROM generate_series(1, 3) g, LATERAL (SELECT count(*) FROM (SELECT f.id FROM $from WHERE f.v >= g$where OFFSET 0 LIMIT g * 5) y) x",
		"SELECT sum(n) FROM (SELECT count(*) AS n FROM $from GROUP BY f.id % 7) x");
}

my %seen;

# Run a query in a mode; how many blocks it skipped is counted, if told.
sub rows_of
{
	my ($session, $mode, $query) = @_;

	$session->ask('SET statement_timeout = ' . time_limit($mode) . "; SET cuckoofilter.join_filter = $mode; $query");
	my ($out, $err) = $session->answer;
	return $err eq '' ? $out : "error: $err";
}

sub settings_sql
{
	$loops = $indexed && chance(0.7);
	return join('; ',
		'SET enable_nestloop = ' . ($loops ? 'on' : 'off'),
		'SET enable_hashjoin = ' . ($loops ? 'off' : 'on'),
		'SET enable_memoize = ' . pick('on', 'off'),
		'SET max_parallel_workers_per_gather = ' . pick(0, 0, 2),
		'SET enable_parallel_hash = ' . pick('on', 'off'),
		'SET parallel_leader_participation = ' . pick('on', 'on', 'on', 'off'),
		'SET work_mem = ' . pick("'64kB'", "'4MB'", "'4MB'"),
		'SET cuckoofilter.join_filter_memory = ' . pick("'64kB'", "'64MB'"),
		'SET synchronize_seqscans = ' . pick('on', 'off'),
		'SET enable_sort = ' . pick('on', 'off'));
}

sub skipped_blocks
{
	my ($session) = @_;
	return $session->query('SELECT blocks_skipped FROM cuckoofilter_join_stats');
}

# A query gives the same rows in all modes.
sub compare
{
	my ($session, $name, $query) = @_;
	my $before = skipped_blocks($session);
	my %rows = map { $_ => rows_of($session, $_, $query) } qw(off on auto verify);
	my @unlike = grep { $rows{$_} ne $rows{off} } qw(on auto verify);

	if ($rows{off} =~ /^error: .*57014/)
	{
		$seen{given_up}++;
		return 1;
	}
	$seen{queries}++;
	$seen{by_loops}++ if $loops && skipped_blocks($session) > $before;
	return 1 if !@unlike;
	fail($name);
	diag("SEED=$seed $query\n" . join("\n", map { "$_: $rows{$_}" } ('off', @unlike)));
	return 0;
}

my $session = CuckooSession->new($node);
$session->query('SET client_min_messages = error; LOAD $$cuckoofilter_join$$; SET cuckoofilter.join_filter_min_rows = 0');
my $round;

foreach (1 .. rounds(40))
{
	my $rows = pick(100, 3000, 20000);
	my @sql = tables_sql($rows);

	$round = $_;
	$session->query($_) foreach @sql;
	foreach (1 .. 8)
	{
		$session->query(settings_sql());
		my $query = query_sql($rows);
		if (!compare($session, "round $round: the same rows", $query))
		{
			diag(join(";\n", @sql));
			last;
		}
		# the rows of this transaction, and a cursor that is open while rows change
		if (chance(0.2))
		{
			my $change;
			do { $change = change_sql('fact', $rows) } while $change =~ /VACUUM/;
			$session->query("BEGIN; SET LOCAL cuckoofilter.join_filter = on; DECLARE c CURSOR FOR SELECT f.id FROM fact f JOIN d ON f.a = d.k; FETCH 3 FROM c");
			$session->query($change);
			my $rest = () = $session->query('FETCH ALL FROM c') =~ /\n/g;
			compare($session, "round $round: rows of this transaction", $query);
			$session->query('ROLLBACK; BEGIN; SET LOCAL cuckoofilter.join_filter = off; DECLARE c CURSOR FOR SELECT f.id FROM fact f JOIN d ON f.a = d.k; FETCH 3 FROM c');
			my $expected = () = $session->query('FETCH ALL FROM c') =~ /\n/g;
			$session->query('ROLLBACK');
			is($rest, $expected, "round $round: a cursor that is open while rows change") if $rest != $expected;
		}
	}
}

# -------------------------------------------------------------- beside writers

my @writers = map { CuckooSession->new($node) } (1, 2);

foreach (1 .. rounds(6))
{
	my $rows = pick(5000, 20000);
	my @sql = grep { !/^VACUUM/ } tables_sql($rows);

	$round = $_;
	$session->query($_) foreach @sql;
	foreach my $writer (@writers)
	{
		$writer->ask(join('; ', "SET client_min_messages = error; SET statement_timeout = '10s'", map { my $change = change_sql('fact', $rows); chance(0.3) ? summary_sql('fact') : $change } (1 .. 60)));
	}
	foreach (1 .. 10)
	{
		my $query = query_sql($rows);

		$session->query(settings_sql());
		$session->query('SET max_parallel_workers_per_gather = 2') if chance(0.5);
		$session->query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
		compare($session, "round $round, beside writers: the same rows", $query);
		$session->query('ROLLBACK');
		$_->{psql}->pump_nb foreach @writers;
	}
	foreach my $writer (@writers)
	{
		my ($out, $err) = $writer->answer;
		$seen{failed} += () = $err =~ /ERROR/g; # deadlocks and timeouts of writers
	}
}
my $skipped = skipped_blocks($session);
note("$seen{queries} queries, $skipped blocks skipped, in " . ($seen{by_loops} // 0) . " queries by nested loops, " . ($seen{given_up} // 0) . ' queries given up, ' . ($seen{failed} // 0) . ' changes of writers failed');
# few in small tables, which may be all that a few rounds draw
cmp_ok($skipped, '>', $seen{queries} * ($seen{queries} < 200 ? 0.5 : 5), 'many blocks are skipped');
cmp_ok($seen{by_loops} // 0, '>=', int($seen{queries} / 100), 'in some of the queries by nested loops');
$_->quit foreach (@writers, $session);
ok(1, 'the end is reached');

done_testing();
