# Long work obeys pg_cancel_backend and statement_timeout: the error is raised within the function and
# not when it has ended. The session continues to work, and the memory of the cancelled work is freed.
# Times are printed and not judged; work_test.py bounds the work between two checks for interrupts.
use CuckooCluster;
use CuckooSession;
use Time::HiRes qw(time usleep);

my $node = new_cluster('main', conf => "work_mem = '256MB'\nmax_parallel_workers_per_gather = 0\n");

$node->safe_psql(
	'postgres', q{
	CREATE UNLOGGED TABLE t AS
		SELECT cuckoofilter_agg(g) AS f, cuckoofilter_agg(-g, 0.01, 0, 'layout=plain') AS g FROM generate_series(1, 1500000) g});

# One expression: the executor itself checks for interrupts only after it.
sub nested
{
	my ($function, $argument) = @_;
	my $call = 'f';
	$call = "$function($call$argument)" foreach (1 .. 60);
	return "SELECT octet_length($call\::bytea) FROM t";
}

# The errors of a query that a timeout must end, and the elapsed time.
sub timed_out
{
	my ($query) = @_;
	my $start = time;
	my ($ret, $stdout, $stderr) =
	  $node->psql('postgres', "SET statement_timeout = '200ms'; $query", extra_params => [ '-v', 'VERBOSITY=verbose' ]);

	return ($stderr, time - $start);
}

my %long = (
	'union' => nested('cuckoofilter_union', ', g'),
	'sum' => nested('cuckoofilter_sum', ', g'),
	'build' => 'SELECT cuckoofilter_agg(g) FROM generate_series(1, 1000000000) g',
	'end of a build' => 'SELECT count(f) FROM (SELECT cuckoofilter_agg_hash(cuckoofilter_hash(g)) OVER (ORDER BY 1) AS f FROM generate_series(1, 300000) g) s, generate_series(1, 1000)',
	'union_agg' => 'SELECT cuckoofilter_union_agg(f) FROM t, generate_series(1, 1000)');
foreach my $name (sort keys %long)
{
	my ($errors, $elapsed) = timed_out($long{$name});
	like($errors, qr/ERROR:  57014: canceling statement due to statement timeout/, sprintf('%s: it was interrupted (%.2f s)', $name, $elapsed));
}

# pg_cancel_backend, from another session, of a query that would take hours
my $session = CuckooSession->new($node);
my $other = CuckooSession->new($node);
my $used = 'SELECT ' . used_bytes($node);
$session->query('SELECT 1');
my $before = $session->query($used);
$session->ask("$long{union}, generate_series(1, 100000)");
ok($node->poll_query_until('postgres', "SELECT state = 'active' AND query LIKE '%octet_length%' FROM pg_stat_activity WHERE pid = $session->{pid}"), 'a union runs');
my $start = time;
is($other->query("SELECT pg_cancel_backend($session->{pid})"), 't', 'it is cancelled');
my (undef, $error) = $session->answer;
like($error, qr/57014: canceling statement due to user request/, sprintf('and ends (%.3f s)', time - $start));
my $after = $session->query($used);
cmp_ok($after - $before, '<', 100_000, "memory went with the query ($before $after)");
is($session->query('SELECT f @> 77, f @> -77 FROM t'), 't|f', 'the session works on');

# One call of each function on millions of items, its arguments computed before it, is cancelled in
# the function: not before it, and not when it has ended.  Short calls stand several times in one
# expression, which does not check for interrupts itself.
$node->safe_psql(
	'postgres', q{
	CREATE AGGREGATE partial_agg(bigint) (SFUNC = cuckoofilter_agg_transition, STYPE = cuckoofilter);
	CREATE AGGREGATE end_agg(cuckoofilter) (SFUNC = cuckoofilter_agg_combine, STYPE = cuckoofilter, FINALFUNC = cuckoofilter_agg_final);
	CREATE UNLOGGED TABLE large AS
		SELECT cuckoofilter_agg(x) AS f, cuckoofilter_agg(-x) AS g, cuckoofilter_agg(x, 1e-9, NULL, 'layout=plain') AS wide, partial_agg(x) AS state
			FROM generate_series(1, 3000000) x;
	CREATE UNLOGGED TABLE arrays AS SELECT array_agg(x) AS items FROM generate_series(1, 1000000) x;
	CREATE UNLOGGED TABLE loose AS SELECT cuckoofilter_remove_all(f, VARIADIC items) AS f FROM large, arrays});
my %calls = (
	'add_all to nothing' => 'done := cuckoofilter_add_all(cuckoofilter_create(1000000), VARIADIC items) IS NULL',
	'add_all to many' => 'done := cuckoofilter_add_all(g, VARIADIC items) IS NULL',
	'remove_all' => 'done := cuckoofilter_remove_all(f, VARIADIC items) IS NULL',
	'contains_all' => 'done := cuckoofilter_contains_all(f, VARIADIC items || items || items || items)',
	'union' => 'done := cuckoofilter_union(f, g) IS NULL',
	'sum' => 'done := cuckoofilter_sum(f, g) IS NULL',
	'compact' => 'done := cuckoofilter_compact(loose) IS NULL',
	'text, out and in' => 'done := wide' . ('::text::cuckoofilter' x 3) . ' IS NULL',
	'bytea, in' => 'done := wide' . ('::bytea::cuckoofilter' x 8) . ' IS NULL',
	'count of text' => 'done := cuckoofilter_count(wide::text::cuckoofilter) = 0',
	'union_agg' => 'SELECT cuckoofilter_union_agg(v) IS NULL INTO done FROM unnest(ARRAY[f, g]) v',
	'sum_agg' => 'SELECT cuckoofilter_sum_agg(v) IS NULL INTO done FROM unnest(ARRAY[f, g]) v',
	'the end of agg' => 'SELECT end_agg(v) IS NULL INTO done FROM unnest(ARRAY[state]) v');
$session->query("SET client_min_messages = notice; SET work_mem = '1GB'");

# The call is in line 3.  The name of the application tells other sessions when it begins.
sub block_of
{
	my ($call) = @_;
	return "DO \$\$ DECLARE done boolean; f cuckoofilter; g cuckoofilter; wide cuckoofilter; loose cuckoofilter; state cuckoofilter; items bigint[]; began timestamptz;
		BEGIN SELECT l.f, l.g, l.wide, l.state, a.items, o.f INTO f, g, wide, state, items, loose FROM large l, arrays a, loose o; PERFORM set_config('application_name', 'at work', false); began := clock_timestamp();
		$call;
		RAISE NOTICE 'took %', extract(epoch FROM clock_timestamp() - began); END \$\$";
}

# Cancel a call after a part of its time. Returns the time until the error, and whether the error came from the
# call.
sub cancel_call
{
	my ($call, $moment) = @_;

	$session->query(q{SET application_name = 'before'});
	$session->ask(block_of($call));
	my $work = "SELECT application_name FROM pg_stat_activity WHERE pid = $session->{pid}";
	my $deadline = time + 600;
	usleep(500) while $other->query($work) ne 'at work' && time < $deadline;
	usleep($moment * 1e6);
	$other->query("SELECT pg_cancel_backend($session->{pid})");
	my $start = time;
	my ($out, $err) = $session->answer;
	return (time - $start, $err =~ /57014: canceling statement due to user request.*inline_code_block line 3 at /s ? 'in the call' : $err =~ /took/ ? 'too late' : $err);
}

foreach my $name (sort keys %calls)
{
	$session->ask(block_of($calls{$name}));
	my ($out, $err) = $session->answer;
	my ($whole) = $err =~ /took ([\d.]+)/;
	ok(defined $whole, "$name: runs to its end") or diag($err);
	next if !defined $whole;
	foreach my $share (0.1, 0.6)
	{
		# A busy machine may stop either session for a while, so that the cancel comes before the call or after it.
		my ($elapsed, $where, $moment) = (0, '', $whole * $share);
		foreach my $try (1 .. 40)
		{
			($elapsed, $where) = cancel_call($calls{$name}, $moment);
			last if $where eq 'in the call';
			$moment *= 0.8 if $where eq 'too late';
		}
		is($where, 'in the call', sprintf('%s: cancelled after %.2f of %.2f s, ended after %.3f s', $name, $moment, $whole, $elapsed));
	}
}
$_->quit foreach ($session, $other);

$node->stop;
done_testing();
