# Random joins whose key is an expression of a column, such as ts::date: the rows are the same in every mode, and a mode
# has no error that `off` has not. Counted: how many joins map their keys to ranges of the column, and what these skip.
# SEED=n ROUNDS=percent.
use CuckooCluster;
use CuckooDays;
use CuckooJoin;
use CuckooRandom;
use CuckooSession;

my $node = random_cluster("enable_nestloop = off\nenable_mergejoin = off\nshared_buffers = 16MB\n");
my $seed = seed();
my $session = CuckooSession->new($node);
my @modes = qw(off on auto verify);
my %seen = map { $_ => 0 } qw(queries errors vanished mapped skipped timeouts);

$node->safe_psql('postgres', objects_sql());
$session->query('SET client_min_messages = error; LOAD $$cuckoofilter_join$$; SET cuckoofilter.join_filter_min_rows = 0');
read_changes($session);

# --------------------------------------------------------------------- tables

my %table; # of the round: its columns, keys and layout

# A number from 0 to 1 of row g, in the order of the table, of late rows, or in none.
sub share_sql
{
	my ($rows) = @_;
	my $any = '((hashint4(g + ' . int(rand(1000)) . ') & 2147483647) / 2147483648.0::float8)';
	my $in_order = "(g::float8 / $rows)";

	return pick(($in_order) x 4, "(1 - $in_order)", "CASE WHEN hashint4(g + 7) % 20 = 0 THEN $in_order * $any ELSE $in_order END", $any, "(floor($in_order * 20) / 20)");
}

# The values of column x.
sub value_sql
{
	my ($rows) = @_;
	my $value = values_sql(\%table, share_sql($rows));
	my $some = 2 + int(rand(30));

	$value = "CASE WHEN hashint4(g + 3) % $some = 0 THEN " . near_change_sql(\%table) . " ELSE $value END" if $table{temporal} && chance(0.5);
	$value = "CASE WHEN hashint4(g + 4) % 40 = 0 THEN NULL ELSE $value END" if chance(0.3);
	if (chance(0.3) && $table{type} ne 'small')
	{
		my @ends = ends_of($table{base}, chance(0.3) && !$table{guarded});
		my $many = chance(0.5) ? 20 : 2000;

		$value = "CASE WHEN hashint4(g + 6) % $many = 0 THEN (array[" . join(', ', map { "'$_'::$table{base}" } @ends) . '])[1 + (hashint4(-g) & 1023) % ' . @ends . "] ELSE $value END";
	}
	return "($value)::$table{type}";
}

sub brin_sql
{
	my %multi = (timestamp => 'timestamp', timestamptz => 'timestamptz', date => 'date', smallint => 'int2', integer => 'int4', bigint => 'int8');
	my $class = chance(0.2) && $table{type} eq $table{base} ? " $multi{$table{base}}_minmax_multi_ops" : '';

	return 'CREATE INDEX ON fact USING brin (' . pick('', '', 'id, ') . "x$class) WITH (pages_per_range = " . pick(1, 1, 2, 4, 16, 128) . ')';
}

sub index_sql
{
	return pick((map { brin_sql() } (1 .. 6)), 'CREATE INDEX ON fact (x)', 'CREATE INDEX ON fact (x)', 'CREATE INDEX ON fact (x, id)', 'CREATE INDEX ON fact (id)');
}

# The partitions of a table between bounds, which are sorted.
sub partitions_sql
{
	my ($with, @bounds) = @_;
	my @sql;

	foreach my $n (1 .. $#bounds)
	{
		my $values = "PARTITION OF fact FOR VALUES FROM ($bounds[$n - 1]) TO ($bounds[$n])";

		push(@{ $table{partitions} }, [ "fact_$n", "FOR VALUES FROM ($bounds[$n - 1]) TO ($bounds[$n])" ]);
		if (chance(0.1))
		{
			push(@sql, "CREATE TABLE fact_$n $values PARTITION BY HASH (id)", map { "CREATE TABLE fact_${n}_$_ PARTITION OF fact_$n FOR VALUES WITH (MODULUS 2, REMAINDER $_)$with" } (0, 1));
		}
		elsif (chance(0.1) && $n < $#bounds)
		{
			push(@sql, "CREATE TABLE fact_$n $values PARTITION BY RANGE (x)", map { "CREATE TABLE fact_${n}_$_ PARTITION OF fact_$n $_$with" } ('DEFAULT'));
			$sql[-1] =~ s/_DEFAULT/_d/;
		}
		else
		{
			push(@sql, "CREATE TABLE fact_$n $values$with");
		}
	}
	return @sql;
}

# An empty table: a heap, or of partitions.
sub layout_sql
{
	my ($rows) = @_;
	my $columns = "id integer, x $table{type}, v integer, filler text";
	my $with = ' WITH (fillfactor = ' . pick(30, 70, 100) . ')';

	$table{partitions} = [];
	return pick('CREATE', 'CREATE', 'CREATE UNLOGGED') . " TABLE fact ($columns)$with" if chance(0.6);
	return ("CREATE TABLE fact ($columns) PARTITION BY HASH (id)", map { "CREATE TABLE fact_$_ PARTITION OF fact FOR VALUES WITH (MODULUS 2, REMAINDER $_)$with" } (0, 1)) if chance(0.1);

	my $n = pick(1, 3, 12, 40);
	my @bounds = split(/\n/, $session->query("SELECT DISTINCT quote_literal(b::text) FROM (SELECT b, ntile($n) OVER (ORDER BY b) AS t FROM (SELECT " . value_sql($rows) . " AS b FROM generate_series(0, $rows - 1, greatest(1, $rows / 300)) g) v WHERE b::text !~ 'infinity') w WHERE t % 2 = " . int(rand(2)) . ' LIMIT ' . ($n + 1)));
	@bounds = split(/\n/, $session->query('SELECT quote_literal(b::text) FROM unnest(array[' . join(', ', @bounds) . "]::$table{base}\[]) b ORDER BY b")) if @bounds;
	my $and = pick('', '', '', ', id');
	my $lowest = pick('MINVALUE', 'MINVALUE', $table{temporal} ? "'-infinity'" : 'MINVALUE');
	my $highest = pick('MAXVALUE', 'MAXVALUE', $table{temporal} ? "'infinity'" : 'MAXVALUE');

	unshift(@bounds, $lowest) if chance(0.7);
	push(@bounds, $highest) if chance(0.7);
	@bounds = map { $_ . ($and eq '' ? '' : /^(M\w+)$/ ? ", $1" : ', ' . int(rand(1000))) } @bounds;
	return ("CREATE TABLE fact ($columns) PARTITION BY RANGE (x$and)", partitions_sql($with, @bounds), "CREATE TABLE fact_default PARTITION OF fact DEFAULT$with");
}

# What happens to a table once it has its rows.
sub change_sql
{
	my ($rows) = @_;
	my $some = 2 + int(rand(20));
	my $id = int(rand($rows));
	my $brin = "FROM pg_index JOIN pg_class c ON c.oid = indexrelid JOIN pg_am a ON a.oid = relam WHERE amname = 'brin' AND relkind = 'i'";

	return pick(
		"UPDATE fact SET v = v + 1 WHERE id % $some = 0", # HOT if there is room
		"UPDATE fact SET x = (SELECT x FROM fact WHERE id = $id LIMIT 1) WHERE id % 50 = 1",
		"DELETE FROM fact WHERE id % $some = 2",
		"DELETE FROM fact WHERE id > $id",
		'VACUUM fact',
		"INSERT INTO fact SELECT id + 1000000, x, v, filler FROM fact WHERE id % $some = 3",
		"SELECT count(brin_summarize_new_values(indexrelid)) $brin",
		"SELECT count(brin_desummarize_range(indexrelid, " . pick(0, 4, 16) . ")) $brin");
}

# The keys of the other side: those of some rows, their neighbours, and the ends of the type.
sub keys_sql
{
	my ($name, $key, $rows) = @_;
	my $first = '(SELECT x FROM fact WHERE x IS NOT NULL ORDER BY hashint4(id) LIMIT 1)';
	my $n = pick(1, 3, 30, 300, 3000);
	my $from = pick(
		("SELECT x, v FROM fact WHERE x >= $first ORDER BY x LIMIT $n") x 3,
		"SELECT x, v FROM fact ORDER BY hashint4(id) LIMIT $n",
		"SELECT x, v FROM fact WHERE id >= " . int(rand($rows)) . " ORDER BY id LIMIT $n");
	my $keys = "SELECT key_of_$name(x) AS k, v FROM ($from) f";

	$keys = "SELECT k, v FROM ($keys) k UNION ALL (SELECT near_to_$name(k, o), v FROM ($keys) k, generate_series(-1, 2) o LIMIT 500)" if chance(0.3);
	$keys .= ' UNION ALL SELECT NULL, 3' if chance(0.2);
	$keys .= ' UNION ALL ' . join(' UNION ALL ', map { "SELECT '$_'::$key->{type}, 5" } ends_of($key->{type}, 1)) if chance(0.15);
	$keys = "SELECT DISTINCT ON (k) k, v FROM ($keys) k" if $n > 30 || chance(0.4); # else a join has millions of rows
	return (
		"DROP TABLE IF EXISTS $name",
		functions_sql($name, $table{type}, $key),
		"CREATE TABLE $name AS SELECT row_number() OVER () AS n, k, v FROM ($keys) k" . pick('', ' ORDER BY hashint8(v)', ' ORDER BY k DESC'));
}

sub tables_sql
{
	my ($rows) = @_;

	%table = draw_column();
	my @sql = ('RESET ROLE; RESET search_path; SET TimeZone = ' . $table{zone}, 'DROP TABLE IF EXISTS fact CASCADE');
	$session->query($_) foreach @sql;
	my $value = value_sql($rows);
	push(@sql, layout_sql($rows));
	push(@sql, index_sql()) if chance(0.3); # before the rows: ranges are not summarized
	push(@sql, "INSERT INTO fact SELECT g, $value, g % 100, repeat('x', " . pick(0, 10, 100, 400) . ") FROM generate_series(0, $rows - 1) g");
	push(@sql, index_sql()) if chance(0.85);
	push(@sql, map { change_sql($rows) } (1 .. int(rand(4)))) if chance(0.6);
	$table{$_} = draw_key(\%table) foreach ('d', 'e');
	push(@sql, keys_sql('d', $table{d}, $rows), keys_sql('e', $table{e}, $rows));
	push(@sql, views_sql(), pick('ANALYZE fact, d, e', 'ANALYZE fact, d, e', 'ANALYZE d, e'));
	return @sql;
}

# Views that hide rows, and one that computes the key.
sub views_sql
{
	return (
		'CREATE VIEW hidden WITH (security_barrier) AS SELECT * FROM fact WHERE leaks(v)',
		'CREATE VIEW computed AS SELECT ' . expression($table{d}, 'x') . ' AS k, * FROM fact',
		'CREATE POLICY thirds ON fact TO reader USING (v % 3 <> 1 AND leaks(v))',
		chance(0.2) ? 'ALTER TABLE fact ENABLE ROW LEVEL SECURITY' : (), # else by functions that are not leakproof, too
		'GRANT SELECT ON fact, d, e, hidden, computed TO reader');
}

# -------------------------------------------------------------------- queries

# A query; what comes before and after it.
sub query_sql
{
	my ($rows) = @_;
	my $of = sub { expression($table{ $_[0] }, $_[1]) };
	my $d = $of->('d', 'f.x');
	my $e = $of->('e', 'f.x');
	my $where = pick('', '', ' AND f.id > ' . int(rand($rows)), ' AND f.v < ' . int(rand(100)), ' AND d.n < ' . pick(2, 5, 50), ' AND d.n > (SELECT ' . int(rand(50)) . ')', ' AND d.n % 7 = 3');
	my $of_d = $where =~ /d\.n/ ? $where : '';
	my $on = pick("$d = d.k", "$d = d.k", "$d = d.k", "d.k = $d", "$d = d.k AND f.v = d.v", "$d = d.k AND f.v % 3 <> d.v % 5");
	my $what = 'count(*), sum(f.id::bigint), sum(f.v), sum(length(f.filler))';
	my $from = pick('fact', 'fact', 'fact', 'fact', 'hidden', '(SELECT * FROM fact OFFSET 0)', '(SELECT * FROM fact UNION ALL SELECT * FROM fact WHERE id % 3 = 0)', '(SELECT * FROM fact ORDER BY v, id OFFSET 0)') . " f JOIN d ON $on";
	my ($inner, $outer) = halves($table{d}, 'x');

	return pick(
		("SELECT $what, sum(d.n) FROM $from WHERE true$where") x 6,
		"SELECT $what, sum(d.n) FROM $from JOIN e ON $e = e.k WHERE true$where",
		"SELECT $what, sum(d.n), sum(e.n) FROM $from JOIN e ON f.v = e.n WHERE true$where",
		"SELECT $what FROM fact f WHERE $d IN (SELECT k FROM d)",
		"SELECT $what FROM fact f WHERE EXISTS (SELECT FROM d WHERE $on$of_d)",
		"SELECT $what FROM fact f WHERE NOT EXISTS (SELECT FROM d WHERE $on$of_d)",
		"SELECT $what, count(d.n), sum(d.n) FROM fact f LEFT JOIN d ON $on$of_d",
		"SELECT count(*), sum(f.id::bigint), count(f.id) FROM fact f RIGHT JOIN d ON $on",
		"SELECT f.id, d.n FROM $from WHERE true$where ORDER BY 1, 2 LIMIT " . int(rand(50)),
		"SELECT count(*) FROM (SELECT f.id FROM $from WHERE true$where LIMIT " . int(rand(50)) . ') x',
		"SELECT g, x.* FROM generate_series(1, 3) g, LATERAL (SELECT $what FROM $from WHERE f.v > g * 20$where OFFSET 0) x",
		"SELECT g, x.* FROM generate_series(1, 4) g, LATERAL (SELECT $what FROM $from WHERE d.n % 4 = g - 1$where OFFSET 0) x",
		"SELECT $what, sum(d.n) FROM computed f JOIN d USING (k) WHERE true$where",
		"SELECT $what, sum(d.n) FROM (SELECT $inner AS y, * FROM fact OFFSET 0) f JOIN d ON $outer = d.k WHERE true$where",
		"SELECT count(*), sum(f.c), sum(f.s), sum(d.n) FROM (SELECT " . $of->('d', 'x') . ' AS k, count(*) AS c, sum(id::bigint) AS s, min(v) AS v FROM fact GROUP BY 1) f JOIN d USING (k) WHERE true' . ($where =~ s/f\.id/f.s/r),
		"SELECT count(*), sum(f.c), sum(d.n) FROM (SELECT x, count(*) AS c FROM fact GROUP BY 1) f JOIN d ON $d = d.k",
		"SELECT count(*), sum(f.r), sum(d.n) FROM (SELECT x, row_number() OVER (PARTITION BY x ORDER BY id) AS r FROM fact) f JOIN d ON $d = d.k",
		"WITH f AS MATERIALIZED (SELECT * FROM fact) SELECT $what FROM f JOIN d ON $on WHERE true$where",
		"SELECT sum(n) FROM (SELECT count(*) AS n FROM $from GROUP BY f.id % 7) x",
		"SELECT $what FROM fact f JOIN fact g ON $d = " . $of->('d', 'g.x') . ' WHERE g.id % 500 = 7 AND f.v < 9');
}

sub settings_sql
{
	return join('; ',
		'RESET ROLE',
		'SET search_path = ' . pick(('public') x 9, 'mine, pg_catalog, public'),
		"SET timezone_abbreviations = '" . pick('Default', 'Default', 'India') . "'",
		'SET max_parallel_workers_per_gather = ' . pick(0, 0, 2),
		'SET enable_parallel_hash = ' . pick('on', 'off'),
		'SET parallel_leader_participation = ' . pick('on', 'on', 'off'),
		'SET enable_partitionwise_join = ' . pick('on', 'off'),
		'SET enable_hashagg = ' . pick('on', 'off'),
		'SET enable_sort = ' . pick('on', 'off'),
		'SET enable_nestloop = ' . pick('off', 'off', 'off', 'on'),
		'SET join_collapse_limit = ' . pick(1, 8),
		'SET work_mem = ' . pick("'64kB'", "'4MB'", "'4MB'"),
		'SET synchronize_seqscans = off',
		'SET cuckoofilter.join_filter_memory = ' . pick("'64kB'", "'64MB'", "'64MB'"),
		'SET cuckoofilter.join_filter_blocks = ' . pick('on', 'on', 'on', 'off'),
		'SET cuckoofilter.join_filter_max_pass = ' . pick(1, 1, 0.5),
		'SET ROLE ' . pick('NONE', 'NONE', 'NONE', 'NONE', 'reader'));
}

# Statements with a query: alone; prepared, with another zone when it is executed, and with a partition that is attached in
# between; a cursor that is read in two zones; a zone that the rows themselves set.
sub statements_sql
{
	my ($query, $rows) = @_;
	my ($first, $second) = (pick($table{zone}, $table{zone}, draw_zone()), draw_zone());
	my $zone = "SET TimeZone = $first; ";
	my $prepare = "SET plan_cache_mode = force_generic_plan; PREPARE p AS $query; ";
	my $simple = 'SELECT f.id, d.n FROM ' . pick('fact', 'fact', '(SELECT * FROM fact ORDER BY id OFFSET 0)') . ' f JOIN d ON ' . expression($table{d}, 'f.x') . ' = d.k';
	my $partition = pick(@{ $table{partitions} });

	return $zone . $query if chance(0.7);
	return "${zone}BEGIN; ALTER TABLE fact DETACH PARTITION $partition->[0]; ${prepare}EXECUTE p; ALTER TABLE fact ATTACH PARTITION $partition->[0] $partition->[1]; EXECUTE p; ROLLBACK; DEALLOCATE p"
	  if defined $partition && chance(0.5);
	return pick(
		"$zone${prepare}EXECUTE p; SET TimeZone = $second; EXECUTE p; EXECUTE p; DEALLOCATE p",
		"${zone}BEGIN; DECLARE c CURSOR FOR $simple; FETCH " . pick(1, 10, 100) . " FROM c; SET TimeZone = $second; FETCH 50 FROM c; SET TimeZone = $first; FETCH ALL FROM c; ROLLBACK",
		"${zone}SELECT count(*), sum(id::bigint), sum(n) FROM (SELECT *, set_config('timezone', CASE WHEN id % 3 = 0 THEN $second ELSE $first END, false) AS z FROM ($simple) s OFFSET 0) x WHERE z <> ''");
}

# ------------------------------------------------------------------- comparison

# The output of statements in a mode, and the errors.
sub result_of
{
	my ($mode, $statements) = @_;

	$session->ask('SET statement_timeout = ' . time_limit($mode) . "; SET cuckoofilter.join_filter = $mode; $statements");
	my ($out, $err, $alive) = $session->answer;
	BAIL_OUT("SEED=$seed, $mode: the server is gone: $statements") if !$alive;
	return ($out, join("\n", sort keys %{ { map { $_ => 1 } grep { !/current transaction is aborted|ERROR:  26000/ } $err =~ /(ERROR: .*)/g } }));
}

# Statements give the same rows in all modes. If `off` has an error, another mode may have the same one or, as it does not
# read all rows, none.
sub compare
{
	my ($name, $statements, @before) = @_;
	my %result = map { $_ => [ result_of($_, $statements) ] } @modes;
	my ($off, $off_error) = @{ $result{off} };

	if ($off_error =~ /57014/)
	{
		$seen{timeouts}++;
		return 1;
	}
	$seen{queries}++;
	$seen{errors}++ if $off_error ne '';
	my @unlike = grep { my ($out, $error) = @{ $result{$_} }; $error eq $off_error ? $off_error eq '' && $out ne $off : $off_error eq '' || $error ne '' } qw(on auto verify);
	$seen{vanished}++ if grep { $_->[1] ne $off_error } values %result;
	return 1 if !@unlike;
	fail($name);
	diag("SEED=$seed $name\n$statements\n" . join("\n", map { "$_: @{ $result{$_} }" } ('off', @unlike)) . "\n" . join(";\n", @before));
	return 0;
}

# Count the queries whose keys are mapped, by the functions of the key.
sub count_mapped
{
	my ($query) = @_;

	$session->ask("SET cuckoofilter.join_filter = on; EXPLAIN (COSTS OFF) $query");
	my ($plan) = $session->answer;
	return if $plan !~ /by ranges of/;
	$seen{mapped}++;
	$seen{functions}{ join(' ', @{ $table{d}{names} }) }++;
	return;
}

sub skipped
{
	return $session->query('RESET ROLE; SELECT blocks_skipped + partitions_skipped FROM cuckoofilter_join_stats');
}

my $round;
foreach (1 .. rounds(100))
{
	my $rows = pick(8, 300, 3000, 3000, 10000, 10000, 10000, chance(0.5) ? 60000 : 20000); # a filter is built after 512 rows
	my @sql = tables_sql($rows);

	$round = $_;
	foreach my $sql (@sql[ 2 .. $#sql ])
	{
		$session->ask($sql);
		my ($out, $err) = $session->answer;
		BAIL_OUT("SEED=$seed, round $round: $err: $sql") if $err =~ /ERROR|FATAL/ && $err !~ /23514|22008/; # rows that have no partition
	}
	foreach (1 .. 6)
	{
		my $settings = settings_sql();
		my $query = query_sql($rows);
		my $statements = statements_sql($query, $rows);
		my $before = skipped();

		$session->query($settings);
		count_mapped($query);
		last if !compare("round $round: the same rows", $statements, @sql, $settings);
		$seen{skipped}++ if skipped() > $before;
	}
}
my %functions = %{ delete $seen{functions} // {} };
note(join(', ', map { "$_ $seen{$_}" } sort keys %seen));
note("$_: $functions{$_}") foreach sort keys %functions;
cmp_ok($seen{errors}, '<', $seen{queries} / 3, 'most queries have no error');
# few rounds may draw none
cmp_ok($seen{mapped}, '>=', int(($seen{queries} - 30) / 8), 'many joins map their keys to ranges');
cmp_ok($seen{skipped}, '>=', int(($seen{queries} - 30) / 20), 'some of these skip blocks or partitions');
$session->quit;
ok(1, 'the end is reached');

done_testing();
