# Random joins whose inner side is found by an index give the same rows and side effects with
# filters of nested loops as without.  SEED=n ROUNDS=percent.
use CuckooCluster;
use CuckooJoin;
use CuckooRandom;

my $node = random_cluster("autovacuum = off\n");
my $seed = seed();

# --------------------------------------------------------------------- tables

# Types whose values join each other, and a value of g for each.
my @families = (
	{ 'integer' => 'g', 'bigint' => 'g', 'smallint' => 'g % 30000' },
	{ 'text' => 'g::text', 'varchar' => 'g::text', 'name' => 'g::text' },
	{ 'char(8)' => 'g::text' }, { 'numeric' => "CASE WHEN g % 2 = 0 THEN g ELSE g * 1.0 END" }, { 'date' => "date '2000-01-01' + g" },
	{ 'timestamp' => "timestamp '2000-01-01' + g * interval '1 hour'" }, { 'uuid' => 'md5(g::text)::uuid' }, { 'double precision' => 'g / 4.0' }, { 'bytea' => 'g::text::bytea' });
my (%fact, %dims);

# A dimension: keys k and j, columns c and x to set conditions on, and indexes.
sub new_dimension
{
	my ($name) = @_;
	my $family = chance(0.5) ? $families[0] : pick(@families);
	my $type = pick(sort keys %$family);
	my $rows = pick(0, 1, 30, 400, 400, 2000, 2000, 5000);
	my $range = pick(1, 1, 1, 0.2);
	my $value = $family->{$type} =~ s/\bg\b/(g * $range)::integer/gr;
	my $unique = $range == 1 && chance(0.6);
	my $sql = "CREATE TABLE $name (k $type, j integer, c integer, x integer, pad text);";

	$dims{$name} = { family => $family, rows => $rows };
	$sql .= " INSERT INTO $name SELECT ($value)::$type, g % 5, g % 50, g % 11, repeat('p', 20) FROM generate_series(1, $rows) g;";
	$sql .= " INSERT INTO $name VALUES (NULL, 1, 3, 3);" if chance(0.5);
	$sql .= ' CREATE ' . ($unique ? 'UNIQUE ' : '') . "INDEX ON $name " . pick('(k)', '(k)', '(k) INCLUDE (c)', '(k, j)', '(j, k)') . ';';
	$sql .= " CREATE INDEX ON $name (j);" if chance(0.2);
	$sql .= chance(0.7) ? " VACUUM ANALYZE $name;" : ' ';
	$sql .= " DELETE FROM $name WHERE c % 4 = 1;" if chance(0.15);
	return $sql;
}

# The fact, with a key kN of a type of the family of each dimension, in some order.
sub new_fact
{
	my $rows = pick(100, 600, 3000, 3000, 8000);
	my @names = sort keys %dims;
	my (@columns, @values);

	%fact = ();
	foreach my $name (@names)
	{
		my $family = $dims{$name}{family};
		my $type = pick(sort keys %$family);
		my $of = int($dims{$name}{rows} * pick(1, 1, 3)) + 1;
		my $g = pick("(hashint4(g) & 65535) % $of", "g % $of", "g * $of / $rows", "CASE WHEN g < $rows / 5 THEN g % $of ELSE g + 9000 END");
		my $value = $family->{$type} =~ s/\bg\b/($g)/gr;

		$fact{$name} = $type;
		push(@columns, "k$name $type");
		push(@values, (chance(0.3) ? "CASE WHEN g % 17 = 0 THEN NULL ELSE ($value)::$type END" : "($value)::$type"));
	}
	return "CREATE TABLE f (id integer, j integer, few integer, " . join(', ', @columns) . ");\nINSERT INTO f SELECT g, g % 5, g % 50, " . join(', ', @values)
	  . " FROM generate_series(1, $rows) g ORDER BY " . pick('g', 'hashint4(g)') . '; ' . (chance(0.8) ? 'ANALYZE f;' : '');
}

# ---------------------------------------------------------------------- queries

sub condition
{
	my ($d, $fails) = @_;

	return "$d.c = " . int(rand(50)) if chance(0.3);
	return "$d.c < " . int(rand(60)) if chance(0.3);
	return pick(
		"$d.c IN (1, 3, 5)", "$d.x > 4", "$d.pad = repeat('p', 20)", "($d.c < 9 OR $d.x = 2)", "$d.c IS NOT NULL", "$d.x + 1 < 9", "$d.c % 3 = 0", "$d.pad LIKE 'p%'",
		"$d.c < (SELECT count(*) + 12 FROM tiny)", "$d.c < (SELECT max(id) FROM tiny WHERE id < 0)", "$d.x <> f.few", "$d.x < f.few - 5", "$d.c = f.few", "nextval('s') % 7 <> 0", "$d.x < (SELECT nextval('s') + 3)",
		"$d.x < (SELECT count(*) FROM tiny WHERE tiny.id < $d.c)", ($fails ? ("10 / ($d.x - 3) < 4", "10 / ($d.c + 1) < 4") : ()));
}

sub outer_side
{
	my $from = pick('f', 'f', 'f', 'f', '(SELECT * FROM f ORDER BY few, id OFFSET 0) f', '(SELECT * FROM f WHERE few < 40) f', "(SELECT *, nextval('s') AS n FROM f OFFSET 0) f",
		'(SELECT * FROM f UNION ALL SELECT * FROM f WHERE few = 3) f', '(SELECT DISTINCT * FROM f) f', '(SELECT * FROM f ORDER BY id LIMIT 2000) f',
		'(SELECT * FROM f WHERE few < (SELECT max(id) FROM tiny) + 30 OFFSET 0) f', '(WITH w AS MATERIALIZED (SELECT * FROM f) SELECT * FROM w) f', '(SELECT f.* FROM tiny t LEFT JOIN f ON f.j = t.id OFFSET 0) f');

	return $from;
}

sub query
{
	my $from = outer_side();
	my @where;
	my @sum = ('f.id');
	my $fails = chance(0.15);

	foreach my $n (1 .. pick(1, 1, 2, 3))
	{
		my $name = pick(sort keys %dims);
		my $d = "d$n";
		my $on = chance(0.5) ? "$d.k = f.k$name" : "f.k$name = $d.k";

		$on .= " AND $d.j = f.j" if chance(0.25);
		$on .= " AND $d.c = f.few" if chance(0.1);
		my @conditions = map { condition($d, $fails) } (1 .. pick(0, 1, 1, 1, 2));

		if (chance(0.2))
		{
			push(@where, (chance(0.5) ? 'NOT ' : '') . "EXISTS (SELECT FROM $name $d WHERE " . join(' AND ', $on, @conditions) . ')');
			next;
		}
		if (chance(0.3))
		{
			push(@conditions, pick("f.few > 9", "f.id % 3 = 0", "$d.c + f.few > 20")) if chance(0.15);
			push(@where, pick("$d.k IS NULL", "$d.c IS DISTINCT FROM 3", "coalesce($d.x, f.few) > 4")) if chance(0.3);
			$from .= " LEFT JOIN $name $d ON " . join(' AND ', $on, @conditions);
		}
		else
		{
			$from .= " JOIN $name $d ON $on";
			push(@where, @conditions);
		}
		push(@sum, "$d.c");
	}
	my $list = join(', ', 'count(*) AS n', map { "sum($_) AS s" . ($_ =~ s/\W/_/gr) } @sum);
	my $sql = "FROM $from" . (@where ? ' WHERE ' . join(' AND ', @where) : '');
	my $form = int(rand(12));

	# The order of a HashAggregate that spills depends on its rows, and the values of a sequence on the order.
	$sql =~ s/DISTINCT \* FROM f\)/DISTINCT * FROM f ORDER BY id)/ if $sql =~ /nextval/;

	return "SELECT v.id, x.* FROM tiny v, LATERAL (SELECT $list $sql" . (@where ? ' AND' : ' WHERE') . " f.few > v.id OFFSET 0) x ORDER BY 1" if $form == 0;
	return "SELECT v.id, x.* FROM tiny v LEFT JOIN (SELECT $list $sql) x ON true ORDER BY 1" if $form == 1;
	return "SELECT (SELECT n FROM (SELECT $list $sql) x) + v.id FROM tiny v ORDER BY 1" if $form == 2;
	return "SELECT count(*) FROM (SELECT f.id $sql LIMIT " . pick(1, 50, 1000) . ') x' if $form == 3;
	return "SELECT f.few, $list $sql GROUP BY f.few ORDER BY f.few" if $form == 4;
	return "SELECT $list $sql";
}

sub settings
{
	my $sql = 'RESET ALL;';

	$sql .= ' SET enable_hashjoin = off;' if chance(0.85);
	$sql .= ' SET enable_mergejoin = off;' if chance(0.9);
	$sql .= ' SET enable_memoize = off;' if chance(0.5);
	$sql .= ' SET enable_' . pick('indexscan', 'indexonlyscan', 'bitmapscan', 'material', 'sort', 'hashagg') . ' = off;' if chance(0.4);
	$sql .= ' SET max_parallel_workers_per_gather = 2;' if chance(0.25);
	$sql .= ' SET parallel_leader_participation = off;' if chance(0.2);
	$sql .= ' SET random_page_cost = 0.05;' if chance(0.7);
	$sql .= ' SET join_collapse_limit = 1;' if chance(0.6);
	$sql .= " SET work_mem = '64kB';" if chance(0.2);
	$sql .= ' SET cuckoofilter.join_filter_max_pass = 0.5;' if chance(0.1);
	$sql .= ' SET cuckoofilter.join_filter_memory = 64;' if chance(0.05);
	return $sql;
}

my @modes = ('off', 'on', 'verify', 'auto');

# A query, in every mode, with its plan: it ends with a line of its number.
sub random_query
{
	my ($n) = @_;
	my $query = query();
	my $sql = settings() . "\n\\echo == $n\n\\warn == $n\nEXPLAIN (ANALYZE, TIMING OFF, SUMMARY OFF, COSTS OFF, BUFFERS OFF) $query;\n";

	foreach my $mode (@modes)
	{
		$sql .= "\\echo -- $mode\n\\warn -- $mode\nALTER SEQUENCE s RESTART; SET cuckoofilter.join_filter = $mode;\n$query;\nSELECT last_value, is_called FROM s;\n";
	}
	return $sql;
}

# ------------------------------------------------------------------------ rounds

$node->safe_psql('postgres', 'ALTER DATABASE postgres SET search_path = random, public');
my $rounds = rounds(300);
my %count = map { $_ => 0 } qw(queries with built differ errors fewer volatile both left anti);
foreach my $batch (1 .. int($rounds / 30) + 1)
{
	%dims = ();
	my $tables = join("\n", map { new_dimension("t$_") } (0 .. 3)) . "\n" . new_fact();
	my @queries = map { random_query($_) } (1 .. 30);
	my ($status, $out, $err) = $node->psql(
		'postgres', "DROP SCHEMA IF EXISTS random CASCADE; CREATE SCHEMA random; CREATE SEQUENCE s; CREATE TABLE tiny AS SELECT g AS id FROM generate_series(0, 3) g;\n$tables\n" . join("\n", @queries),
		on_error_stop => 0, extra_params => ['--quiet']);
	my @results = split(/^== \d+\n/m, "$out\n");
	my @errors = split(/^== \d+\n/m, "$err\n", -1);

	BAIL_OUT("SEED=$seed, batch $batch: $errors[0]") if $errors[0] =~ /ERROR/ || @results != 31;
	foreach my $n (0 .. $#queries)
	{
		my ($plan, $planned, %rows, %error);

		($plan, @rows{@modes}) = split(/^-- \w+\n/m, $results[ $n + 1 ]);
		($planned, @error{@modes}) = split(/^-- \w+\n/m, $errors[ $n + 1 ]);
		my $filters = () = $plan =~ /Nested Loop Filter: built/g;
		my $failed = ($error{off} // '') =~ /ERROR/;

		$count{queries}++;
		$count{built} += $filters;
		$count{with}++ if $filters;
		$count{left}++ if $plan =~ /Nested Loop Left Join.*Lookups Skipped: [1-9]/s;
		$count{anti}++ if $plan =~ /Nested Loop Anti Join.*Lookups Skipped: [1-9]/s;
		$count{volatile}++ if $queries[$n] =~ /nextval/;
		$count{both}++ if $queries[$n] =~ /nextval/ && $filters;
		$count{errors}++ if $failed;
		next if !grep { $rows{$_} ne $rows{off} } @modes;
		if (($failed && $error{off} =~ /division by zero/) || $errors[ $n + 1 ] =~ /statement timeout/)
		{
			$count{fewer}++; # an error that only a row without a match raises
			next;
		}
		$count{differ}++;
		diag("SEED=$seed, batch $batch, query " . ($n + 1) . "\n" . join('', map { "$_:\n$rows{$_}" } @modes) . "$queries[$n]\n$plan\n$errors[$n + 1]");
	}
}
note(join(', ', map { "$_ $count{$_}" } sort keys %count));
diag(join(', ', map { "$_ $count{$_}" } sort keys %count)) if $ENV{SEED};
is($count{differ}, 0, "$count{queries} random joins give the same rows with filters of nested loops");
cmp_ok($count{with}, '>', $count{queries} / 50, "$count{with} of them built one, $count{built} in all");
cmp_ok($count{left}, '>', 0, "$count{left} with a LEFT join skipped lookups");
cmp_ok($count{anti}, '>=', int($count{queries} / 300), "$count{anti} with an ANTI join did"); # about one of 43 does
cmp_ok($count{errors} + $count{fewer}, '<', $count{queries} / 5, "and few fail: $count{errors}; $count{fewer} fail without a filter only, or for time");

done_testing();
