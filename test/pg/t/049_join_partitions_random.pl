# Random partitioned tables, joined: the rows are the same whether partitions are skipped or not,
# and verify finds nothing.  Counted: how many queries had partitions skipped.  SEED=n ROUNDS=percent.
use CuckooCluster;
use CuckooJoin;
use CuckooRandom;

my $node = random_cluster();
my $seed = seed();

# --------------------------------------------------------------------- tables

# The values of a column are SQL expressions of a number from 0 to 99; types of one list join.
my %types = (
	a => { types => [ 'integer', 'bigint', 'smallint' ], value => sub { $_[0] } },
	b => { types => [ 'text', 'varchar', 'varchar(9)' ], value => sub { "'x$_[0]'" } },
	c => { types => ['date'], value => sub { "date '2020-01-01' + $_[0]" } },
	d => { types => [ 'numeric', 'numeric(9,2)' ], value => sub { $_[0] % 2 ? $_[0] : "$_[0].00" } });
my %sql = (a => 'n', b => "'x' || n", c => "date '2020-01-01' + n", d => "CASE WHEN n % 2 = 0 THEN n ELSE (n || '.0')::numeric END");
my @columns = sort keys %types;
my ($names, %type_of);

# The order of values in their type.
sub in_order
{
	my ($column, @n) = @_;
	return $column eq 'b' ? sort { "x$a" cmp "x$b" } @n : sort { $a <=> $b } @n;
}

sub some_numbers
{
	my ($most) = @_;
	my %n = map { int(rand(100)) => 1 } (1 .. 1 + int(rand($most)));
	return keys %n;
}

# A table, or a partition of `parent` for `bound`, with partitions of its own, `depth` levels deep. Tables with the
# same `like` are divided in the same way.
sub table_sql
{
	my ($name, $parent, $bound, $depth, $types, $like) = @_;
	$like //= {};
	my $kind = $like->{kind} //= $depth > 0 ? pick('RANGE', 'LIST', 'HASH', 'RANGE', 'LIST', 'HASH', 'none') : 'none';
	my $attach = defined $parent && chance(0.4);
	my @order = $attach ? sort { rand() <=> 0.5 } ('id', @columns) : ('id', @columns);
	my $definition = join(', ', map { $_ eq 'id' ? 'id integer' : "$_ $types->{$_}" } @order);
	my @sql;
	my (@key, $by);

	if ($kind ne 'none')
	{
		@key = (pick(@columns));
		push(@key, grep { $_ ne $key[0] } pick(@columns)) if $kind ne 'LIST' && chance(0.3);
		@key = @{ $like->{key} //= [@key] };
		$by = " PARTITION BY $kind (" . join(', ', @key) . ')';
	}
	if ($attach)
	{
		push(@sql, "CREATE TABLE $name (junk integer, $definition)" . ($by // ''), "ALTER TABLE $name DROP COLUMN junk");
	}
	else
	{
		push(@sql, "CREATE TABLE $name" . (defined $parent ? " PARTITION OF $parent $bound" : " ($definition)") . ($by // ''));
	}
	if ($kind ne 'none')
	{
		my $alike = chance(0.5) ? {} : undef;

		$like->{bounds} //= [ bounds_sql($kind, \@key) ];
		push(@sql, map { table_sql('p' . $names++, $name, $_, $depth - 1, $types, $alike) } @{ $like->{bounds} });
	}
	push(@sql, "ALTER TABLE $parent ATTACH PARTITION $name $bound") if $attach;
	return @sql;
}

sub bounds_sql
{
	my ($kind, $key) = @_;
	my $value = $types{ $key->[0] }{value};
	my @bounds = ('DEFAULT');

	if ($kind eq 'HASH')
	{
		my $modulus = 1 + int(rand(5));

		@bounds = map { "FOR VALUES WITH (MODULUS $modulus, REMAINDER $_)" } (0 .. $modulus - 1);
		if (chance(0.5))
		{
			my $last = pop(@bounds);
			my $remainder = $modulus - 1;
			push(@bounds, map { 'FOR VALUES WITH (MODULUS ' . 2 * $modulus . ", REMAINDER $_)" } ($remainder, $remainder + $modulus));
		}
	}
	elsif ($kind eq 'LIST')
	{
		my @n = some_numbers(20);

		while (@n)
		{
			my @some = map { $value->($_) } splice(@n, 0, 1 + int(rand(4)));
			push(@some, 'NULL') if !@n && chance(0.5);
			push(@bounds, 'FOR VALUES IN (' . join(', ', map { "($_)" } @some) . ')');
		}
	}
	else
	{
		my @n = in_order($key->[0], some_numbers(9));
		my @ends = map {
			my $end = '(' . $value->($_) . ')';
			$end .= ', ' . pick('MINVALUE', 'MAXVALUE', map { '(' . $types{ $key->[1] }{value}->($_) . ')' } (int(rand(100)))) if @$key > 1;
			"($end)"
		} @n;
		my $all = join(', ', ('MINVALUE') x @$key);

		unshift(@ends, "($all)") if chance(0.5);
		push(@ends, '(' . join(', ', ('MAXVALUE') x @$key) . ')') if chance(0.5);
		foreach my $i (1 .. $#ends)
		{
			push(@bounds, "FOR VALUES FROM $ends[$i - 1] TO $ends[$i]") if chance(0.85); # or there is a gap
		}
	}
	return @bounds;
}

sub new_table
{
	my ($name, $depth, $rows) = @_;
	my %of = map { $_ => pick(@{ $types{$_}{types} }) } @columns;
	my @values = map { my $c = $_; my $n = "hashint4(g * 7 + " . int(rand(1000)) . ") & 127"; "CASE WHEN hashint4(g + " . int(rand(1000)) . ") % 25 = 0 THEN NULL ELSE (SELECT ($sql{$c})::$of{$c} FROM (SELECT ($n) % 100 AS n) v) END" } @columns;

	$type_of{$name} = \%of;
	return (table_sql($name, undef, undef, $depth, \%of),
		"INSERT INTO $name (id, " . join(', ', @columns) . ') SELECT g, ' . join(', ', @values) . " FROM generate_series(1, $rows) g", "ANALYZE $name");
}

# ---------------------------------------------------------------------- queries

sub query
{
	my ($big, $small) = @_;
	my @on = (pick(@columns));
	push(@on, grep { $_ ne $on[0] } pick(@columns)) if chance(0.35);
	my $on = join(' AND ', map { chance(0.5) ? "f.$_ = s.$_" : "s.$_ = f.$_" } @on);
	my $first = int(rand(50));
	my $where = pick("s.id < $first", "s.id BETWEEN $first AND " . ($first + 3), "s.id = $first", "s.id % 10 = 3", 'true', 'false');
	my $from = pick($big, $big, $big, "(SELECT * FROM $big ORDER BY id OFFSET 0)", "(SELECT * FROM $big UNION ALL SELECT * FROM $big WHERE id < 500)");
	my $sum = 'count(*), sum(f.id), sum(s.id)';

	$where .= ' AND f.id > ' . int(rand(2000)) if chance(0.3);
	$where .= ' AND ' . pick("f.a > $first", "f.c < date '2020-01-01' + $first", "f.b <> 'x1'") if chance(0.3);
	return "SELECT count(*), sum(f.id) FROM $from f WHERE EXISTS (SELECT FROM $small s WHERE $on AND $where)" if chance(0.15);
	return "SELECT count(*), sum(f.id), sum(s.id) FROM (SELECT * FROM $small s WHERE id < $first) s LEFT JOIN $from f ON $on" if chance(0.1);
	return "SELECT $sum, count(t.id) FROM $from f JOIN $small s ON $on JOIN $small t ON t." . ($on[0] eq 'a' ? 'b = f.b' : 'a = f.a') . " AND t.id < 30 WHERE $where" if chance(0.2);
	return "SELECT $sum FROM $from f JOIN $small s ON $on WHERE $where";
}

sub settings
{
	my $sql = 'RESET ALL; SET enable_mergejoin = off; SET enable_nestloop = off;';

	$sql .= ' SET max_parallel_workers_per_gather = 2;' if chance(0.3);
	$sql .= ' SET enable_parallel_hash = off;' if chance(0.3);
	$sql .= ' SET enable_partitionwise_join = on;' if chance(0.2);
	$sql .= ' SET enable_sort = off;' if chance(0.2);
	$sql .= ' SET cuckoofilter.join_filter_max_pass = 0.3;' if chance(0.1);
	$sql .= ' SET join_collapse_limit = 1;' if chance(0.3);
	return $sql;
}

# ------------------------------------------------------------------------ rounds

my $rounds = rounds(200);
my %count = map { $_ => 0 } qw(queries filters with skipped differ errors);
my $batch = 20;
foreach my $round (1 .. int($rounds / $batch) + 1)
{
	my $sql = "DROP SCHEMA IF EXISTS random CASCADE; CREATE SCHEMA random; SET search_path = random;\n";
	my @queries;

	($names, %type_of) = (0);
	foreach my $n (1 .. 3)
	{
		$sql .= "$_;\n" foreach new_table("big$n", 1 + int(rand(3)), 4000), new_table("small$n", chance(0.2) ? 1 : 0, pick(5, 50, 50));
	}
	foreach my $n (1 .. $batch)
	{
		my $query = query('big' . (1 + int(rand(3))), 'small' . (1 + int(rand(3))));

		push(@queries, settings() . " SET search_path = random;\n\\echo == $n\n\\warn == $n\nSET cuckoofilter.join_filter = on; EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) $query;\n"
			  . join('', map { "\\echo -- $_\nSET cuckoofilter.join_filter = $_;\n$query;\n" } qw(off on verify auto)));
	}
	my ($status, $out, $err) = $node->psql('postgres', $sql . join('', @queries), on_error_stop => 0, extra_params => ['--quiet']);
	my @results = split(/^== \d+\n/m, $out);
	my @errors = split(/^== \d+\n/m, "$err\n", -1);

	shift(@results);
	my $setup = shift(@errors);
	BAIL_OUT("the server is gone: $err") if $status != 0 || @results != $batch;
	# rows that no partition takes are errors of an INSERT, and its table is empty; nothing else is
	$setup =~ s/^.*(?:NOTICE|DETAIL|no partition of relation).*\n?//gm;
	$setup =~ s/^\s*\n//gm;
	$setup =~ s/^(?:LINE|HINT|drop cascades|and \d+ other).*\n?//gm;
	is($setup, '', "SEED=$seed, round $round: tables") or diag($sql);
	foreach my $n (0 .. $#results)
	{
		my ($plan, $off, $on, $verify, $auto) = map { s/\s+$//r } split(/^-- \w+\n/m, $results[$n], -1);

		$count{queries}++;
		$count{filters} += filters_of($plan);
		$count{with}++ if filters_of($plan);
		$count{skipped}++ if $plan =~ /Partitions Skipped: [1-9]/;
		$count{errors}++ if $off eq '';
		next if $off eq $on && $off eq $verify && $off eq $auto && $off ne '';
		$count{differ}++;
		diag("SEED=$seed, round $round, query " . ($n + 1) . "\noff: $off\non: $on\nverify: $verify\nauto: $auto\n$queries[$n]\n$plan\n$errors[$n]");
	}
}
note(join(', ', map { "$_ $count{$_}" } sort keys %count));
diag(join(', ', map { "$_ $count{$_}" } sort keys %count)) if $ENV{SEED};
is($count{differ}, 0, "$count{queries} random joins of partitions give the same rows");
cmp_ok($count{with}, '>', $count{queries} / 3, "$count{with} of them have a filter");
cmp_ok($count{skipped}, '>', $count{queries} / 20, "$count{skipped} of them skip partitions");

done_testing();
