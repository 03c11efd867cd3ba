# Random joins give the same rows with join filters as without, and verify finds
# nothing.  SEED=n ROUNDS=percent.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use CuckooCluster;
use CuckooJoin;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = join_cluster('main',
	conf => "statement_timeout = '10s'\nparallel_setup_cost = 0\nparallel_tuple_cost = 0\nmin_parallel_table_scan_size = 0\nmax_parallel_workers = 8\nmax_worker_processes = 10\n");
my $seed = seed();

sub pick
{
	return $_[ int(rand(@_)) ];
}

sub chance
{
	return rand() < $_[0];
}

# --------------------------------------------------------------------- tables

# Columns of one name join each other, of whichever type.
my %types = (
	id => [ 'integer', 'bigint' ], a => [ 'integer', 'smallint', 'bigint' ], b => [ 'integer', 'numeric', 'double precision' ],
	c => [ 'text', 'varchar', 'name', 'char(12)' ], d => [ 'date', 'timestamp', 'uuid', 'integer[]', 'boolean' ]);
my %values = (
	id => 'g', a => 'g * 31 % 97', b => 'g * 17 % 211', c => "'x' || g * 13 % 151",
	'date' => "date '2020-01-01' + g % 90", 'timestamp' => "timestamp '2020-01-01' + g % 90 * interval '1 day'", 'uuid' => "md5((g % 90)::text)::uuid", 'integer[]' => 'ARRAY[g % 90]', 'boolean' => 'g % 90 = 3');
my @columns = sort keys %types;
my @tables;
my %type_of; # "table.column"

sub new_table
{
	my ($name) = @_;
	my $partitioned = chance(0.3);
	my $rows = pick(0, 1, 3, 40, 300, 300, 900, 900);
	my (@definitions, @values);

	foreach my $column (@columns)
	{
		my $type = pick(@{ $types{$column} });
		my $value = $values{$column} // $values{$type};

		$type_of{"$name.$column"} = $type;
		push(@definitions, "$column $type");
		$value = "CASE WHEN hashint4(g + " . int(rand(1000)) . ") % 20 = 0 THEN NULL ELSE $value END" if $column ne 'id';
		push(@values, "($value)::$type");
	}
	my $sql = "CREATE TABLE $name (" . join(', ', @definitions) . ')';
	$sql .= $partitioned ? " PARTITION BY HASH (id); " . join(' ', map { "CREATE TABLE ${name}_$_ PARTITION OF $name FOR VALUES WITH (MODULUS 3, REMAINDER $_);" } (0 .. 2)) : ';';
	$sql .= " INSERT INTO $name SELECT " . join(', ', @values) . ' FROM generate_series(' . int(rand(200)) . ", $rows) g;";
	$sql .= " CREATE INDEX ON $name (" . pick(@columns) . ');' if chance(0.5);
	$sql .= " ANALYZE $name;" if chance(0.8);
	return $sql;
}

# ---------------------------------------------------------------------- queries

my $aliases;

# Something to select from: SQL, and the columns that it has, with their types.
sub relation
{
	my ($depth) = @_;
	my $table = pick(@tables);
	my %of = map { $_ => $type_of{"$table.$_"} } @columns;
	my $kind = $depth > 0 ? int(rand(16)) : 0;

	return ($table, \%of) if $kind < 4;
	my ($inner, $types) = chance(0.4) ? joined($depth - 1) : ($table, \%of);
	my @names = sort keys %$types;
	my @some = grep { chance(0.6) } @names;
	@some = ($names[0]) if !@some;
	my %some = map { $_ => $types->{$_} } @some;
	my $list = join(', ', @some);
	my $all = join(', ', @names);

	return ("(SELECT $list, count(*) AS n FROM $inner r GROUP BY $list)", \%some) if $kind == 4;
	return ("(SELECT DISTINCT $list FROM $inner r)", \%some) if $kind == 5;
	return ("(SELECT $all, row_number() OVER (PARTITION BY $list ORDER BY $all) AS n FROM $inner r)", $types) if $kind == 6;
	return ("(SELECT $all FROM $inner r ORDER BY $all LIMIT " . int(rand(300)) . ')', $types) if $kind == 7;
	return ("(SELECT $all FROM $inner r ORDER BY $some[0] OFFSET 0)", $types) if $kind == 8;
	return ("(WITH w AS MATERIALIZED (SELECT $all FROM $inner r) SELECT * FROM w)", $types) if $kind == 9;
	return ("(SELECT $all FROM $inner r UNION ALL SELECT $all FROM $inner q WHERE " . filter('q', $types) . ')', $types) if $kind == 10;
	return ("(SELECT DISTINCT ON ($list) $all FROM $inner r ORDER BY $list, $all)", $types) if $kind == 11;
	return (volatile("(SELECT $all FROM $inner r ORDER BY $all OFFSET 0) o", $all), $types) if $kind >= 13;
	return ("(SELECT $all FROM $inner r WHERE " . filter('r', $types) . (chance(0.5) ? ' OFFSET 0)' : ')'), $types);
}

# Some rows of a relation, by a sequence that numbers them, or that is asked once.  The relation is
# ordered by all of its columns, so that the numbers are the same each time.
sub volatile
{
	my ($from, $all) = @_;
	my $n = pick("nextval('s')", "(SELECT nextval('s'))", "(SELECT nextval('s') + 0 * o.id)", "(SELECT max(n) FROM (WITH v AS MATERIALIZED (SELECT nextval('s') AS n FROM t0 LIMIT 3) SELECT n FROM v) q)");
	my $numbered;

	$n = "nextval('s')" if $n =~ /o\.id/ && $all !~ /\bid\b/;
	$numbered = "SELECT $all, $n AS n FROM $from" . (chance(0.3) ? " WHERE (SELECT nextval('s')) % 5 <> 0" : '');
	$numbered = pick("($numbered OFFSET 0) v", "(WITH v AS MATERIALIZED ($numbered) SELECT * FROM v) v");
	return "(SELECT $all FROM $numbered WHERE n % " . pick(2, 3, 5) . ' <> 0' . (chance(0.5) ? ' OFFSET 0)' : ')');
}

sub filter
{
	my ($alias, $types) = @_;

	return "$alias.id % " . pick(2, 3, 7) . ' = 0' if exists $types->{id} && chance(0.5);
	return "$alias.a < " . int(rand(97)) if exists $types->{a};
	return "$alias.b > " . int(rand(211)) if exists $types->{b};
	return 'true';
}

# The types that "=" compares.
my %family = map { my $f = $_; map { $_ => $f->[0] } @$f }
  ([ 'integer', 'smallint', 'bigint', 'numeric', 'double precision' ], [ 'text', 'varchar', 'name', 'char(12)' ], ['date', 'timestamp'], ['uuid'], ['integer[]'], ['boolean']);

# Conditions that join two relations; at least one.
sub condition
{
	my ($left, $left_types, $right, $right_types) = @_;
	my @pairs = grep { exists $right_types->{$_} && $family{ $left_types->{$_} } eq $family{ $right_types->{$_} } } sort keys %$left_types;
	my @on;

	@pairs = grep { $_ ne 'd' || $left_types->{d} ne 'boolean' } @pairs;
	return if !@pairs;
	foreach (0 .. (chance(0.3) ? 1 : 0))
	{
		my $column = pick(@pairs);

		push(@on, chance(0.1) && $column =~ /[ab]/ ? "$left.$column + 1 = $right.$column" : "$left.$column = $right.$column");
	}
	push(@on, "$left.id <> $right.id") if chance(0.1) && exists $left_types->{id} && exists $right_types->{id};
	return join(' AND ', @on);
}

# A join, as a relation.
sub joined
{
	my ($depth) = @_;
	my ($from, $types) = relation($depth);
	my $alias = 'r' . $aliases++;
	my %of = map { $_ => $types->{$_} } keys %$types;
	my %where = map { $_ => "$alias.$_" } keys %$types;
	my @where;

	$from .= " $alias";
	foreach (0 .. int(rand(3)))
	{
		my ($other, $other_types) = relation($depth);
		my $right = 'r' . $aliases++;
		my $on = condition($alias, $types, $right, $other_types) // next;
		my $kind = int(rand(9));

		if ($kind < 2)
		{
			push(@where, (chance(0.5) ? 'NOT ' : '') . "EXISTS (SELECT FROM $other $right WHERE $on)");
			next;
		}
		$from .= ' ' . ('', '', 'JOIN', 'JOIN', 'JOIN', 'LEFT JOIN', 'RIGHT JOIN', 'FULL JOIN', 'JOIN')[$kind] . " $other $right ON $on";
		foreach my $column (keys %$other_types)
		{
			($of{$column}, $where{$column}) = ($other_types->{$column}, "$right.$column") if !exists $of{$column} || chance(0.3);
		}
		($alias, $types) = ($right, $other_types) if chance(0.4);
	}
	push(@where, filter($alias, $types)) if chance(0.4);
	my $list = join(', ', map { "$where{$_} AS $_" } sort keys %of);
	my $where = @where ? ' WHERE ' . join(' AND ', @where) : '';
	my $sql = "SELECT $list FROM $from$where";

	return ("($sql)", \%of);
}

sub settings
{
	my $sql = 'RESET ALL;';

	$sql .= ' SET enable_mergejoin = off;' if chance(0.7);
	$sql .= ' SET enable_nestloop = off;' if chance(0.6);
	$sql .= ' SET enable_' . pick('hashagg', 'sort', 'material', 'memoize', 'seqscan', 'indexscan', 'bitmapscan') . ' = off;' if chance(0.4);
	$sql .= " SET work_mem = '64kB';" if chance(0.3);
	$sql .= ' SET max_parallel_workers_per_gather = 2;' if chance(0.3);
	$sql .= ' SET enable_parallel_hash = off;' if chance(0.3);
	$sql .= ' SET join_collapse_limit = 1;' if chance(0.2);
	$sql .= ' SET enable_partitionwise_join = on;' if chance(0.2);
	$sql .= ' SET cuckoofilter.join_filter_max_pass = 0.5;' if chance(0.1);
	return $sql;
}

# A query, in every mode, with its plan: it ends with a line of its number.
sub random_query
{
	my ($n) = @_;

	$aliases = 0;
	my ($query) = joined(2);
	my $rows = "SELECT '$n', count(*), sum(hashtextextended(x::text, 0)::numeric) FROM $query x";
	my $sql = settings() . "\n\\echo == $n\n\\warn == $n\nEXPLAIN (COSTS OFF) $rows;\n";

	foreach my $mode ('off', 'on', 'verify')
	{
		$sql .= "\\echo -- $mode\nALTER SEQUENCE s RESTART; SET cuckoofilter.join_filter = $mode;\n$rows;\nSELECT last_value, is_called FROM s;\n";
	}
	return $sql;
}

# ------------------------------------------------------------------------ rounds

$node->safe_psql('postgres', 'ALTER DATABASE postgres SET search_path = random, public');
my $rounds = rounds(300);
my %count = map { $_ => 0 } qw(queries filters with differ errors timeouts volatile both);
foreach my $batch (1 .. int($rounds / 30) + 1)
{
	my @queries = ();

	@tables = map { "t$_" } (0 .. 4);
	my $tables = join("\n", map { new_table($_) } @tables);
	push(@queries, random_query($_)) foreach (1 .. 30);
	my ($status, $out, $err) = $node->psql('postgres', "DROP SCHEMA IF EXISTS random CASCADE; CREATE SCHEMA random; CREATE SEQUENCE s;\n$tables\n" . join("\n", @queries), on_error_stop => 0, extra_params => ['--quiet']);
	my @results = split(/^== \d+\n/m, $out);
	my @errors = split(/^== \d+\n/m, "$err\n", -1);

	shift(@results);
	shift(@errors);
	BAIL_OUT("the server is gone: $err") if $status != 0 || @results != 30 || @errors != 30;
	foreach my $n (0 .. $#results)
	{
		my ($plan, $off, $on, $verify) = map { s/\s+$//r } split(/^-- \w+\n/m, $results[$n], -1);
		my $filters = filters_of($plan);

		$count{queries}++;
		$count{filters} += $filters;
		$count{with}++ if $filters;
		$count{volatile}++ if $queries[$n] =~ /nextval/;
		$count{both}++ if $queries[$n] =~ /nextval/ && $filters;
		$count{errors}++ if $off !~ /\n/; # only the sequence
		next if $off eq $on && $off eq $verify;
		if ($off !~ /\n/ || $errors[$n] =~ /statement timeout/)
		{
			$count{timeouts}++;
			next;
		}
		$count{differ}++;
		diag("SEED=$seed, batch $batch, query " . ($n + 1) . "\noff: $off on: $on verify: $verify$queries[$n]\n$plan\n$errors[$n]");
	}
}
note(join(', ', map { "$_ $count{$_}" } sort keys %count));
diag(join(', ', map { "$_ $count{$_}" } sort keys %count)) if $ENV{SEED};
is($count{differ}, 0, "$count{queries} random joins give the same rows with a filter");
cmp_ok($count{with}, '>', $count{queries} / 4, "$count{with} of them have one, $count{filters} in all");
cmp_ok($count{errors} + $count{timeouts}, '<', $count{queries} / 10, "and few fail: $count{errors}, and $count{timeouts} for time");

cmp_ok($count{both}, '>', $count{queries} / 50, "$count{volatile} ask a sequence, $count{both} of them with filters");

done_testing();
