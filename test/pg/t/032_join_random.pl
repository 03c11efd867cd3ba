# Random joins give the same rows with and without join filters, and the mode verify reports no error:
# over partitioned tables, by hash joins and by nested loops; also while another session or triggers
# change the rows. SEED=n ROUNDS=percent.
use CuckooCluster;
use CuckooJoin;
use CuckooRandom;
use CuckooSession;

my $node = random_cluster();
my $seed = seed();

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

# The bounds of a random set of partitions by a column, with room for every value.
sub bounds
{
	my ($column, $type) = @_;
	my @strategies = ('HASH', $type =~ /date|timestamp/ ? 'RANGE' : (), $column =~ /^(id|a|b)$/ ? ('RANGE', 'LIST') : ());
	my $strategy = pick(@strategies);
	my @bounds;

	if ($strategy eq 'HASH')
	{
		@bounds = pick([ '2 0', '2 1' ], [ '3 0', '3 1', '3 2' ], [ '2 0', '4 1', '4 3' ], [ '2 1', '4 0', '8 2', '8 6' ])->@*;
		return ($strategy, map { 'FOR VALUES WITH (MODULUS ' . s/ /, REMAINDER /r . ')' } @bounds);
	}
	if ($strategy eq 'RANGE')
	{
		my $most = { id => 1000, a => 97, b => 211, d => 90 }->{$column};
		my %cut = map { int(rand($most)) => 1 } (1 .. 1 + int(rand(12)));
		my @cuts = ('MINVALUE', (map { $column eq 'd' ? "'" . ('2020-01-01', '2020-01-15', '2020-02-01', '2020-02-10', '2020-03-01', '2020-03-09')[ $_ / 15 ] . "'" : $_ } sort { $a <=> $b } keys %cut), 'MAXVALUE');
		my %seen;

		@cuts = grep { !$seen{$_}++ } @cuts;
		@bounds = map { "FOR VALUES FROM ($cuts[ $_ - 1 ]) TO ($cuts[$_])" } (1 .. $#cuts);
		splice(@bounds, int(rand(@bounds)), 1) if chance(0.5); # its rows go to the default partition
		return ($strategy, @bounds, 'DEFAULT');
	}
	my @lists = map { [] } (1 .. pick(1, 4, 20));

	push(@{ pick(@lists) }, $_) foreach ('NULL', grep { chance(0.9) } 0 .. 96);
	return ($strategy, (map { 'FOR VALUES IN (' . join(', ', @$_) . ')' } grep { @$_ } @lists), 'DEFAULT');
}

# A table, which may have partitions, and these again; some are attached, with their columns in another order.
sub create_table
{
	my ($name, $depth, $of, @definitions) = @_;
	my $attached = $of ne '' && chance(0.3);
	my $sql = "CREATE TABLE $name " . ($of eq '' ? '(' . join(', ', @definitions) . ')' : $attached ? '(' . join(', ', reverse @definitions) . ')' : $of);

	if (chance($depth > 0 ? 0.15 : $name eq 't4' ? 0.6 : 0.3) && $depth < 2)
	{
		my ($column, $type) = pick(@definitions) =~ /^(\w+) (.*)/;
		my ($strategy, @parts) = bounds($column, $type);
		my $n = 0;

		$sql .= " PARTITION BY $strategy ($column);";
		$sql .= create_table($name . '_' . $n++, $depth + 1, "PARTITION OF $name $_", @definitions) foreach @parts;
	}
	$sql .= ';';
	$sql .= ' ALTER TABLE ' . ($of =~ /PARTITION OF (\w+)/)[0] . " ATTACH PARTITION $name " . ($of =~ /PARTITION OF \w+ (.*)/)[0] . ';' if $attached;
	return $sql;
}

sub new_table
{
	my ($name) = @_;
	my $rows = $name eq 't4' ? pick(900, 3000, 5000) : pick(0, 3, 40, 300, 300, 900, 900, 2500);
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
	my $sql = create_table($name, 0, '', @definitions);
	$sql .= " INSERT INTO $name SELECT " . join(', ', @values) . ' FROM generate_series(' . int(rand(200)) . ", $rows) g;";
	$sql .= " CREATE INDEX ON $name ($_" . (chance(0.2) ? ', ' . pick('a', 'id') : '') . ');' foreach grep { chance($name eq 't4' ? 0.1 : $_ eq 'id' ? 0.9 : 0.4) } @columns;
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

	return "$alias.id % " . pick(2, 3, 7) . ' = 0' if exists $types->{id} && chance(0.3);
	return "$alias.id BETWEEN " . int(rand(300)) . ' AND ' . int(rand(2000)) if exists $types->{id} && chance(0.3);
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
		push(@where, filter($right, $other_types)) if chance(0.3);
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

# The largest table, with one or two others that it looks up: a star.
sub star
{
	my $fact = $tables[-1];
	my %of = map { $_ => $type_of{"$fact.$_"} } @columns;
	my ($from, @where) = ("$fact f");

	foreach my $n (1 .. pick(1, 1, 2))
	{
		my $table = pick(@tables[ 0 .. $#tables - 1 ]);
		my %other = map { $_ => $type_of{"$table.$_"} } @columns;
		my $on = chance(0.6) ? 'f.' . pick('id', 'id', 'a') . " = d$n.id" : condition('f', \%of, "d$n", \%other);
		my $kind = pick('JOIN', 'JOIN', 'JOIN', 'LEFT JOIN', 'RIGHT JOIN', 'EXISTS', 'NOT EXISTS');
		my $filter = filter("d$n", \%other);

		if ($kind =~ /EXISTS/)
		{
			push(@where, "$kind (SELECT FROM $table d$n WHERE $on AND $filter)");
			next;
		}
		$from .= " $kind $table d$n ON $on";
		push(@where, $filter) if chance(0.8);
	}
	push(@where, filter('f', \%of)) if chance(0.3);
	return '(SELECT f.* FROM ' . $from . (@where ? ' WHERE ' . join(' AND ', @where) : '') . ')';
}

sub settings
{
	my ($query) = @_;
	my $sql = 'RESET ALL;';
	my $loops = chance($query =~ /f\.\*/ ? 0.6 : 0.2);

	if ($loops)
	{
		$sql .= ' SET enable_hashjoin = off; SET enable_mergejoin = off;';
		$sql .= ' SET enable_' . pick('memoize', 'material', 'seqscan', 'bitmapscan', 'indexonlyscan') . ' = off;' if chance(0.6);
	}
	else
	{
		$sql .= ' SET enable_mergejoin = off;' if chance(0.7);
		$sql .= ' SET enable_nestloop = off;' if chance(0.6);
		$sql .= ' SET enable_' . pick('hashagg', 'sort', 'material', 'memoize', 'seqscan', 'indexscan', 'bitmapscan') . ' = off;' if chance(0.4);
	}
	$sql .= " SET work_mem = '64kB';" if chance(0.3);
	$sql .= ' SET max_parallel_workers_per_gather = 2;' if chance(0.3);
	$sql .= ' SET enable_parallel_hash = off;' if chance(0.3);
	$sql .= ' SET join_collapse_limit = 1;' if chance(0.2);
	$sql .= ' SET enable_partitionwise_join = on;' if chance(0.2);
	$sql .= ' SET cuckoofilter.join_filter_max_pass = 0.5;' if chance(0.1);
	return $sql;
}

# What a mode does with the rows of a query: in a batch that other sessions or triggers disturb, each
# mode sees the same rows, and what it changes is undone.
my %around = (
	plain => [ '', '' ],
	changed => [ '', '' ],
	triggers => [ 'SAVEPOINT changes;', 'ROLLBACK TO changes;' ]);

# A query, in every mode, with its plan: it ends with a line of its number.
sub random_query
{
	my ($n, $kind) = @_;
	my $query;

	do
	{
		$aliases = 0;
		($query) = chance(0.4) ? star() : joined(2);
	} while ($kind ne 'plain' && $query =~ /nextval/); # tables grow, so plans may differ, and with them what a sequence gives
	my $sums = 'count(*), sum(hashtextextended(x::text, 0)::numeric)';
	my $rows = "SELECT '$n', $sums FROM $query x";
	my $does = $rows;
	my ($before, $after) = $around{$kind}->@*;

	if ($kind eq 'triggers')
	{
		$does = "INSERT INTO sink SELECT hashtextextended(x::text, 0) FROM $query x; SELECT '$n', count(*), sum(h) FROM sink; " . join(' ', map { "SELECT $sums FROM $_ x;" } @tables);
	}
	my $sql = settings($query) . "\n\\echo == $n\n\\warn == $n\n" . ($kind eq 'plain' ? '' : "BEGIN ISOLATION LEVEL REPEATABLE READ;\n") . 'EXPLAIN (COSTS OFF) ' . ($does =~ /^(INSERT .*?);/ ? $1 : $rows) . ";\n";
	foreach my $mode ('off', 'on', 'verify')
	{
		$sql .= "\\echo -- $mode\n" . ($kind eq 'plain' ? 'ALTER SEQUENCE s RESTART;' : $before) . " SET cuckoofilter.join_filter = $mode;\n";
		$sql .= "$does;\nSELECT last_value, is_called FROM s;\n$after\n";
		$sql .= "\\echo -- counters\nSELECT built, nested_loops, partitions_skipped FROM cuckoofilter_join_stats;\n" if $mode eq 'on';
		$sql .= "SELECT cuckoofilter_join_stats_reset();\n" if $mode eq 'off';
	}
	return $sql . ($kind eq 'plain' ? '' : "COMMIT;\n");
}

# The rows that triggers change while a query inserts what it found. In any order of its rows the
# tables end the same.
my $triggers = q{
	CREATE TABLE sink (h bigint);
	CREATE FUNCTION changes() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN
		IF NEW.h % 16 = 0 THEN
			UPDATE t0 SET a = 96 - a WHERE id = abs(NEW.h / 16 % 300);
			DELETE FROM t1 WHERE id = abs(NEW.h / 16 % 300);
			INSERT INTO t2 (id, a, b) VALUES (abs(NEW.h / 16 % 300), 7, 7);
			UPDATE t3 SET id = -id WHERE id = abs(NEW.h / 16 % 300);
			NEW.h = NEW.h + 1;
		END IF;
		RETURN NEW;
	END$$;
	CREATE TRIGGER changes BEFORE INSERT ON sink FOR EACH ROW EXECUTE FUNCTION changes();
};

# What another session does to the tables meanwhile, until it is cancelled.
my $changes = q{
	SET statement_timeout = 0; SET search_path = random, public;
	DO $$DECLARE n int := 0; BEGIN
		LOOP
			n := n + 1;
			UPDATE t0 SET a = 96 - a, id = id + n % 3 - 1 WHERE id % 37 = n % 37;
			COMMIT;
			UPDATE t1 SET b = 210 - b WHERE id % 23 = n % 23;
			DELETE FROM t2 WHERE id % 31 = n % 31;
			INSERT INTO t2 (id, a, b) SELECT id, a, b FROM t3 WHERE id % 31 = n % 31;
			COMMIT;
			UPDATE t3 SET id = 900 - id WHERE id % 41 = n % 41;
			COMMIT;
			PERFORM pg_sleep(0.005);
		END LOOP;
	END$$};

# ------------------------------------------------------------------------ rounds

$node->safe_psql('postgres', 'ALTER DATABASE postgres SET search_path = random, public');
my $rounds = rounds(300);
my %count = map { $_ => 0 } qw(queries filters with differ errors timeouts volatile both built loops skipped changed triggers);

# The counters of one query.
sub count_filters
{
	my ($filters, $counters, $query) = @_;
	my ($built, $loops, $skipped) = $counters =~ /^(\d+)\|(\d+)\|(\d+)$/m;

	$count{queries}++;
	$count{filters} += $filters;
	$count{with}++ if $filters || $built;
	$count{built}++ if $built;
	$count{loops}++ if $loops;
	$count{skipped}++ if $skipped;
	$count{volatile}++ if $query =~ /nextval/;
	$count{both}++ if $query =~ /nextval/ && $filters;
	return;
}

foreach my $batch (1 .. int($rounds / 30) + 1)
{
	my $kind = ('plain', 'changed', 'plain', 'triggers')[ $batch % 4 ];

	@tables = map { "t$_" } (0 .. 4);
	my $tables = join("\n", map { new_table($_) } @tables);
	my @queries = map { random_query($_, $kind) } (1 .. 30);
	$tables = "DROP SCHEMA IF EXISTS random CASCADE; CREATE SCHEMA random; CREATE SEQUENCE s;\n$tables\n" . ($kind eq 'triggers' ? $triggers : '');
	$node->safe_psql('postgres', "SET client_min_messages = warning; $tables");
	my $other = CuckooSession->new($node);
	if ($kind eq 'changed')
	{
		$other->ask($changes);
		$node->poll_query_until('postgres', "SELECT state = 'active' AND query LIKE 'DO%' FROM pg_stat_activity WHERE pid = $other->{pid}") or die 'the other session does not begin';
	}
	my ($status, $out, $err) = $node->psql('postgres', "\\set ON_ERROR_ROLLBACK on\n" . join("\n", @queries), on_error_stop => 0, extra_params => ['--quiet']);
	if ($kind eq 'changed')
	{
		$node->safe_psql('postgres', "SELECT pg_cancel_backend($other->{pid})");
		like(($other->answer)[1], qr/canceling statement due to user request/, "batch $batch: another session changed the rows until the end");
	}
	$other->quit;
	my @results = split(/^== \d+\n/m, $out);
	my @errors = split(/^== \d+\n/m, "$err\n", -1);

	shift(@results);
	shift(@errors);
	BAIL_OUT("the server is gone: $err") if $status != 0 || @results != 30 || @errors != 30;
	foreach my $n (0 .. $#results)
	{
		my ($plan, $off, $on, $counters, $verify) = map { s/\s+$//r } split(/^-- \w+\n/m, $results[$n], -1);

		$off =~ s/\n$//;
		count_filters(filters_of($plan), $counters, $queries[$n]);
		$count{$kind}++ if $kind ne 'plain' && filters_of($plan);
		my $failed = $errors[$n] =~ /ERROR/ && $off !~ /\n/; # only the sequence
		$count{errors}++ if $failed;
		next if $off eq $on && $off eq $verify;
		if ($off !~ /\n/ || $errors[$n] =~ /statement timeout/)
		{
			$count{timeouts}++;
			next;
		}
		$count{differ}++;
		diag("SEED=$seed, batch $batch, $kind, query " . ($n + 1) . "\noff: $off\non: $on\nverify: $verify\n$queries[$n]\n$plan\n$errors[$n]");
	}
}
note(join(', ', map { "$_ $count{$_}" } sort keys %count));
diag(join(', ', map { "$_ $count{$_}" } sort keys %count)) if $ENV{SEED};
is($count{differ}, 0, "$count{queries} random joins give the same rows with a filter");
cmp_ok($count{with}, '>', $count{queries} / 5, "$count{with} of them have one, $count{filters} in all");
cmp_ok($count{errors} + $count{timeouts}, '<', $count{queries} / 10, "and few fail: $count{errors}, and $count{timeouts} for time");

# these are rare: only many queries are sure to have them
my $least = int($count{queries} / 200);
cmp_ok($count{both}, '>=', $least, "$count{volatile} ask a sequence, $count{both} of them with filters");
cmp_ok($count{loops}, '>=', $least, "$count{loops} have filters of nested loops");
cmp_ok($count{skipped}, '>=', $least, "$count{skipped} skip partitions");

done_testing();
