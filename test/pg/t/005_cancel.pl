# Long work answers pg_cancel_backend and statement_timeout within a second,
# and leaves a session that works on, without what it had allocated.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use CuckooCluster;
use IPC::Run qw(start timeout);
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

my $node = new_cluster('main', conf => "work_mem = '256MB'\nmax_parallel_workers_per_gather = 0\n");

$node->safe_psql(
	'postgres', q{
	CREATE UNLOGGED TABLE t AS
		SELECT cuckoofilter_agg(g) AS f, cuckoofilter_agg(-g, 0.01, 0, 'layout=plain') AS g FROM generate_series(1, 1500000) g});

# One expression: the executor itself looks for interrupts at its end only.
sub nested
{
	my ($function, $argument) = @_;
	my $call = 'f';
	$call = "$function($call$argument)" foreach (1 .. 60);
	return "SELECT octet_length($call\::bytea) FROM t";
}

# The elapsed time of a query that a timeout must end.
sub timed_out
{
	my ($query) = @_;
	my $start = time;
	my ($ret, $stdout, $stderr) =
	  $node->psql('postgres', "SET statement_timeout = '200ms'; $query", extra_params => [ '-v', 'VERBOSITY=verbose' ]);

	like($stderr, qr/ERROR:  57014: canceling statement due to statement timeout/, 'it was interrupted');
	return time - $start;
}

my %long = (
	'union' => nested('cuckoofilter_union', ', g'),
	'sum' => nested('cuckoofilter_sum', ', g'),
	'build' => 'SELECT cuckoofilter_agg(g) FROM generate_series(1, 1000000000) g',
	'end of a build' => 'SELECT count(f) FROM (SELECT cuckoofilter_agg_hash(cuckoofilter_hash(g)) OVER (ORDER BY 1) AS f FROM generate_series(1, 300000) g) s, generate_series(1, 1000)',
	'union_agg' => 'SELECT cuckoofilter_union_agg(f) FROM t, generate_series(1, 1000)',
	'add_all' => 'SELECT cuckoofilter_count(cuckoofilter_add_all(cuckoofilter_create(1000000000), VARIADIC (SELECT array_agg(g) FROM generate_series(1, 30000000) g)))');
foreach my $name (sort keys %long)
{
	my $elapsed = timed_out($long{$name});
	cmp_ok($elapsed, '<', 1.2, sprintf('%s: within a second (%.2f s)', $name, $elapsed));
}

# pg_cancel_backend, from another session
my ($in, $out, $err) = ('', '', '');
my $psql = start(
	[ 'psql', '-X', '-A', '-t', '-q', '-d', $node->connstr('postgres') ],
	\$in, \$out, \$err, timeout($PostgreSQL::Test::Utils::timeout_default));
my $used = 'SELECT sum(used_bytes) FROM pg_backend_memory_contexts;';
$in .= "SELECT 1;\n$used\n$long{union};\n";
$psql->pump until $out =~ /\n\d+\n/;
ok( $node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%octet_length%' AND pid <> pg_backend_pid()}),
	'a union runs');
my $start = time;
is($node->safe_psql('postgres', q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE '%octet_length%' AND pid <> pg_backend_pid()}),
	't', 'it is cancelled');
$psql->pump until $err =~ /canceling statement due to user request/;
cmp_ok(time - $start, '<', 1.2, 'within a second');
$in .= "$used\nSELECT f \@> 77, f \@> -77 FROM t;\n\\q\n";
$psql->finish;
my @lines = split /\n/, $out;
cmp_ok($lines[2] - $lines[1], '<', 100_000, "memory went with the query (@lines[1, 2])");
is($lines[3], 't|f', 'the session works on');

$node->stop;
done_testing();
