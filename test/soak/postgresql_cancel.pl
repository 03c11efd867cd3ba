# Statements that time out or are cancelled at random moments, all in one session: it answers
# correctly after each, its memory does not grow, and stored filters do not change. ROUNDS=n per
# cent of 1,000; SEED=n replays the moments.
use CuckooCluster;
use CuckooSession;
use Time::HiRes qw(usleep);

seed();
# What is freed goes back to the system at once, and what is kept shows.
local $ENV{MALLOC_TRIM_THRESHOLD_} = 128 * 1024;
my $node = new_cluster('main', conf => "log_statement = none\nclient_min_messages = error\nwork_mem = '64MB'\nparallel_setup_cost = 0\nparallel_tuple_cost = 0\n"
	  . "min_parallel_table_scan_size = 0\nmax_parallel_workers_per_gather = 0\n");

$node->safe_psql(
	'postgres', q{
	CREATE TABLE big AS SELECT g * 7919::bigint AS k, md5((g % 300000)::text) AS s FROM generate_series(1, 1500000) g;
	CREATE TABLE part AS SELECT k % 8 AS id, cuckoofilter_agg(k, 0.01, 1500000) AS f FROM big GROUP BY 1;
	CREATE TABLE whole AS SELECT cuckoofilter_agg(k) AS f, cuckoofilter_agg(s, 0.001, 0, 'layout=plain') AS s FROM big;
	CREATE TABLE loose AS SELECT cuckoofilter_remove_all(f, VARIADIC (SELECT array_agg(k) FROM big WHERE k % 10 > 2)) AS f FROM whole;
	ANALYZE});

# What is interrupted, and answers the same each time where it is not.
my %statements = (
	'agg' => 'SELECT cuckoofilter_agg(k) @> 7919::bigint FROM big',
	'agg of text' => 'SELECT cuckoofilter_count(cuckoofilter_agg(s)) FROM big',
	'agg by group' => 'SELECT sum(cuckoofilter_count(f)) FROM (SELECT k % 50000, cuckoofilter_agg(k) AS f FROM big GROUP BY 1) g',
	'agg over a window' => 'SELECT count(f) FROM (SELECT cuckoofilter_agg(k) OVER (ORDER BY k ROWS 20 PRECEDING) AS f FROM big) w',
	'parallel agg' => 'SET max_parallel_workers_per_gather = 2; SELECT cuckoofilter_count(cuckoofilter_agg(k)) FROM big',
	'parallel probes' => 'SET max_parallel_workers_per_gather = 2; SELECT count(*) FROM big WHERE cuckoofilter_contains((SELECT f FROM part WHERE id = 3), k)',
	'union_agg' => 'SELECT md5(cuckoofilter_union_agg(f)::bytea) FROM part, generate_series(1, 10)',
	'sum_agg' => 'SELECT md5(cuckoofilter_sum_agg(f)::bytea) FROM part',
	'union' => 'SELECT sum(cuckoofilter_count(f | (SELECT f FROM loose))) FROM whole, generate_series(1, 8)',
	'add_all' => 'SELECT cuckoofilter_count(cuckoofilter_add_all(cuckoofilter_create(1000), VARIADIC (SELECT array_agg(g) FROM generate_series(1, 20000) g)))',
	'add_all, large' => 'SELECT cuckoofilter_count(cuckoofilter_add_all(f, VARIADIC (SELECT array_agg(-k) FROM big))) FROM whole',
	'remove_all' => 'SELECT cuckoofilter_count(cuckoofilter_remove_all(f, VARIADIC (SELECT array_agg(k) FROM big WHERE k % 5 = 0))) FROM whole',
	'compact' => 'SELECT sum(octet_length(cuckoofilter_compact(f)::bytea)) FROM loose, generate_series(1, 10)',
	'contains' => 'SELECT count(*) FROM big, whole WHERE f @> k',
	'contains, of text' => 'SELECT count(*) FROM big, whole WHERE whole.s @> big.s',
	'text form' => 'SELECT sum(cuckoofilter_count(f::text::cuckoofilter)) FROM whole, generate_series(1, 20)',
	'update' => 'BEGIN; UPDATE part SET f = f | (SELECT f FROM loose); ROLLBACK',
	'caught in PL/pgSQL' => q{
		DO $$
		DECLARE
			f cuckoofilter := cuckoofilter_create(2000000);
		BEGIN
			FOR i IN 1..3 LOOP
				BEGIN
					f := f + i;
					f := cuckoofilter_union(f, (SELECT cuckoofilter_agg(k, 0.01, 2000000) FROM big WHERE k % 30 = i));
				EXCEPTION WHEN query_canceled THEN
					ASSERT f @> i;
				END;
			END LOOP;
			ASSERT cuckoofilter_contains_all(f, 1, 2, 3);
		END $$});

# Right answers, of stored filters and of what is made on the way.
my $answers = q{
	SELECT (SELECT count(*) FROM whole, generate_series(1, 1500) g WHERE f @> g * 7919::bigint),
		(SELECT count(*) FROM part, generate_series(1, 1500) g WHERE id = 3 AND f @> g * 7919::bigint),
		(SELECT count(*) FROM whole, generate_series(1, 1500) g WHERE f @> -g),
		(SELECT md5(cuckoofilter_agg(g)::bytea) FROM generate_series(1, 5000) g),
		(SELECT md5(cuckoofilter_add_all(cuckoofilter_create(10), 1, 2, 3)::bytea))};
my $digest = q{
	SELECT (SELECT md5(string_agg(md5(f::bytea), ',' ORDER BY id)) FROM part), (SELECT md5(f::bytea) || md5(s::bytea) FROM whole),
		(SELECT md5(f::bytea) FROM loose)};

my $session = CuckooSession->new($node);
my $other = CuckooSession->new($node);

# Bytes of memory contexts, and kilobytes of the process without what it shares.
sub memory
{
	my $bytes = $session->query('SELECT sum(total_bytes) FROM pg_backend_memory_contexts');
	my ($own) = slurp_file("/proc/$session->{pid}/status") =~ /^RssAnon:\s+(\d+) kB/m;
	return ($bytes, $own);
}

# Run a statement until it ends or is ended, after a random time that is often
# short.  Its result, or undef.
sub interrupt
{
	my ($sql) = @_;
	my $moment = int(300 * rand()**2);
	my $by_timeout = rand() < 0.5;

	$session->query('SET statement_timeout = ' . ($moment + 1)) if $by_timeout;
	$session->ask($sql);
	if (!$by_timeout)
	{
		usleep($moment * 1000);
		$other->query("SELECT pg_cancel_backend($session->{pid})");
	}
	my ($out, $err, $alive) = $session->answer;
	die "the backend went: $err" if !$alive;
	$session->query('ROLLBACK; SET statement_timeout = 0; RESET max_parallel_workers_per_gather');
	return $err eq '' ? $out : $err =~ /^ERROR:  57014: canceling statement/ ? undef : $err;
}

my %expected;
foreach my $name (sort keys %statements)
{
	$expected{$name} = $session->query($statements{$name});
	$session->query('RESET max_parallel_workers_per_gather');
	interrupt($statements{$name});
}
my $right = $session->query($answers);
like($right, qr/^1500\|[12]\d\d\|\d+\|\w{32}\|\w{32}$/, "right answers: $right");
my $before = $session->query($digest);
my ($bytes, $rss) = memory();
my $n = rounds(1000);
my $cancelled = 0;
foreach my $round (1 .. $n)
{
	my $name = (sort keys %statements)[ int(rand(keys %statements)) ];
	my $result = interrupt($statements{$name});

	$cancelled++ if !defined $result;
	is(($result // $expected{$name}) . "\n" . $session->query($answers), "$expected{$name}\n$right", "round $round, $name: right answers");
}
cmp_ok($cancelled, '>', $n / 4, "$cancelled of $n statements were cut short");
is($session->query($digest), $before, 'stored filters are as they were');
my ($bytes_after, $rss_after) = memory();
cmp_ok($bytes_after - $bytes, '<', 200_000, "memory contexts: $bytes bytes before, $bytes_after after");
cmp_ok($rss_after - $rss, '<', 2_000, "memory of the process: $rss kB before, $rss_after kB after");
is($session->query(q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'parallel worker'}), '0', 'no worker stayed');
note("$n rounds, $cancelled cut short; contexts $bytes, then $bytes_after bytes; process $rss, then $rss_after kB");
$_->quit foreach ($session, $other);
$node->stop;
done_testing();
