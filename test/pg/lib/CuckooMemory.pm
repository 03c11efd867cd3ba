# Memory does not grow with the number of calls or groups: many of them take no more than a tenth of
# them, neither while they run nor afterwards.
package CuckooMemory;

use CuckooCluster;
use CuckooSession;
use Exporter 'import';

our @EXPORT = qw(flat_memory);

# Calls, of a small filter f and a toasted one, and of a number i.
my @calls = (
	'f @> i',
	'cuckoofilter_contains_any(f, i, i + 1)',
	q{cuckoofilter_contains_any(f, 'literal', i::text, make_interval(days => i), NULL, i::numeric)},
	'cuckoofilter_contains_all(f, VARIADIC ARRAY[i, i + 1])',
	'f @> i::text',
	'f @> (i / 7.0)::numeric',
	'f @> ARRAY[i, i]',
	'f @> make_interval(days => i)',
	'cuckoofilter_contains_hash(f, cuckoofilter_hash(i))',
	'cuckoofilter_copies(toasted, i)',
	'f + i',
	'f + NULLIF(i, i)',
	'cuckoofilter_add_all(f, i, i + 1)',
	'cuckoofilter_remove_all(f + i, i, i + 1)',
	'f | small',
	'cuckoofilter_sum(f, small)',
	'cuckoofilter_compact(f)',
	'cuckoofilter_count(toasted) + cuckoofilter_fpr(toasted)',
	'cuckoofilter_info(f)',
	'f::text::cuckoofilter',
	'f::bytea::cuckoofilter',
	q{cuckoofilter_create(i, 0.01, 'kind=set, seed=' || i)});

# Queries of n rows, or a loop of n steps, with what it may take more than a
# tenth of it: sorts, hashes and tuple stores take work_mem, of 1 MB here.
my %queries = (
	'adds in a loop' => sub {
		my ($n) = @_;
		return "DO \$\$ DECLARE f cuckoofilter := cuckoofilter_create(100); BEGIN FOR i IN 1..$n LOOP f := f + i; f := f - i; END LOOP; END \$\$";
	},
	'errors caught in a loop' => sub {
		my ($n) = @_;
		return "DO \$\$ DECLARE f cuckoofilter := cuckoofilter_create(9, 0.1, 'kind=set'); BEGIN FOR i IN 1..$n / 10 LOOP "
		  . 'BEGIN f := f + i % 5 - i; EXCEPTION WHEN object_not_in_prerequisite_state THEN NULL; END; END LOOP; END $$';
	},
	'repeats of few items' => sub { "SELECT cuckoofilter_agg(i % 1000) FROM generate_rows($_[0])" },
	'merges' => sub { "SELECT cuckoofilter_union_agg(f), cuckoofilter_sum_agg(cuckoofilter_create(5)) FROM filters, generate_rows($_[0] / 10)" },
	'sorted groups' =>
	  sub { "SET enable_hashagg = off; SELECT count(f) FROM (SELECT i / 10, cuckoofilter_agg(i) AS f FROM generate_rows($_[0]) GROUP BY 1) g" },
	'hashed groups' =>
	  sub { "SET enable_sort = off; SELECT count(f) FROM (SELECT i / 10, cuckoofilter_agg(i) AS f FROM generate_rows($_[0]) GROUP BY 1) g" },
	'groups of filters' => sub {
		"SET enable_hashagg = off; SELECT count(u) FROM (SELECT i / 10, cuckoofilter_union_agg(f + i) AS u FROM filters, generate_rows($_[0]) GROUP BY 1) g"
	},
	'batches, sorted groups' =>
	  sub { "SET enable_hashagg = off; SELECT count(f) FROM (SELECT i / 10, cuckoofilter_add_agg(f, i::text) AS f FROM filters, generate_rows($_[0] / 3) GROUP BY 1) g" },
	'batches, a window' => sub { "SELECT count(w) FROM (SELECT cuckoofilter_add_agg(f, i) OVER (ROWS 5 PRECEDING) AS w FROM filters, generate_rows($_[0] / 10)) w" },
	'a window' => sub { "SELECT count(w) FROM (SELECT cuckoofilter_agg(i) OVER (ROWS 5 PRECEDING) AS w FROM generate_rows($_[0] / 10)) w" },
	'stored filters' => sub { "SELECT count(*) FROM many, generate_rows($_[0] / 1000) WHERE f @> i" });
foreach my $call (@calls)
{
	$queries{"$call in a query"} = sub { "SELECT count($call) FROM filters, generate_rows($_[0])" };
	$queries{"$call in a loop"} = sub {
		"DO \$\$ DECLARE f cuckoofilter; small cuckoofilter; toasted cuckoofilter; b boolean; BEGIN SELECT * INTO f, small, toasted FROM filters; "
		  . "FOR i IN 1..$_[0] LOOP b := ($call) IS NULL; END LOOP; END \$\$";
	};
}

# generate_rows comes out row by row: inlined, it is a set in the target list.
my $setup = q{
	CREATE FUNCTION generate_rows(n integer) RETURNS TABLE (i integer) LANGUAGE sql STABLE AS 'SELECT generate_series(1, n)';
	CREATE TABLE filters AS
		SELECT cuckoofilter_add_hash(cuckoofilter_agg(g, 0.01, 3000, 'layout=plain'), 0) AS f, -- which may be asked for anything
			cuckoofilter_agg(-g) AS small, NULL::cuckoofilter AS toasted FROM generate_series(1, 100) g;
	UPDATE filters SET toasted = (SELECT cuckoofilter_agg(g) FROM generate_series(1, 100000) g);
	CREATE TABLE many AS SELECT toasted AS f FROM filters, generate_series(1, 20);
	VACUUM ANALYZE};

# Kilobytes that a session took at its most, and bytes that its memory contexts
# use now.
sub memory
{
	my ($session, $used) = @_;
	my ($peak) = slurp_file("/proc/$session->{pid}/status") =~ /^VmHWM:\s+(\d+) kB/m;
	return ($peak, $session->query("SELECT $used"));
}

# Run each query for n rows, after a tenth of it.
sub flat_memory
{
	my ($n) = @_;
	# What is freed goes back to the system at once, and what is kept shows.
	local $ENV{MALLOC_TRIM_THRESHOLD_} = 128 * 1024;
	my $node = new_cluster('main', conf => "log_statement = none\nshared_buffers = 1MB\nwork_mem = 1MB\nmax_parallel_workers_per_gather = 0\nenable_material = off\n");
	my ($most, $left) = (0, 0);

	$node->safe_psql('postgres', $_) foreach split /;/, $setup;
	my $used_now = used_bytes($node);
	foreach my $name (sort keys %queries)
	{
		my $session = CuckooSession->new($node);

		$session->query($queries{$name}->(int($n / 10)));
		my ($peak, $used) = memory($session, $used_now);
		$session->query($queries{$name}->($n));
		my ($peak_after, $used_after) = memory($session, $used_now);
		cmp_ok($peak_after - $peak, '<', 3000, "$name: at most $peak kB, then $peak_after kB");
		cmp_ok($used_after - $used, '<', 20_000, "$name: $used bytes stay, then $used_after");
		$most = $peak_after - $peak if $most < $peak_after - $peak;
		$left = $used_after - $used if $left < $used_after - $used;
		$session->quit;
	}
	note(scalar(keys %queries) . " queries of $n calls or rows: at most $most kB over a tenth of them, at most $left bytes stay");
	$node->stop;
	return;
}

1;
