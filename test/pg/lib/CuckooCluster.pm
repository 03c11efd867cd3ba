# Shared by the TAP tests: clusters with the extension, and seeds. Who uses it has strict, warnings,
# Test::More and PostgreSQL::Test::Utils, too.
package CuckooCluster;

use strict;
use warnings;

use CuckooNode;
use Exporter ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

our @EXPORT = qw(new_cluster server_version used_bytes seed seed_of_session rounds random_bytes mutate error_state);

sub import
{
	my $test = caller;

	strict->import;
	warnings->import;
	Exporter::export($_, $test) foreach (qw(Test::More PostgreSQL::Test::Utils), __PACKAGE__);
	return;
}

# A running cluster.  Where test/pg/run.sh staged the extension, the cluster
# takes it from there by the settings of test/pg/staged.sh, else from where it is
# installed.  %options: init => [...], conf => '...', extension => 0, sessions => 0: each question to psql has a new session.
sub new_cluster
{
	my ($name, %options) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);

	CuckooNode::adopt($node) if $options{sessions} // 1;
	$node->init(
		allows_streaming => $options{streaming} // 0,
		extra => [ '--encoding=UTF8', '--locale=C', @{ $options{init} // [] } ]);
	$node->append_conf('postgresql.conf', slurp_file($ENV{CUCKOOFILTER_STAGED}))
	  if $ENV{CUCKOOFILTER_STAGED};
	# On a slow machine autovacuum would have time to change statistics, and so plans, in the middle of a test.
	$node->append_conf('postgresql.conf', "jit = off\nautovacuum = off\n" . ($options{conf} // ''));
	# The server's own connections, those of postgres_fdw, come back to it: from 14 on the module sees to that.
	local $ENV{PGPORT} = $node->port;
	$node->start;
	$node->safe_psql('postgres', 'CREATE EXTENSION cuckoofilter')
	  if $options{extension} // 1;
	return $node;
}

# 150020, say.  PostgresNode of 14 has no pg_version.
sub server_version
{
	return $_[0]->safe_psql('postgres', 'SHOW server_version_num');
}

# SQL for the bytes that a session's memory contexts use.
sub used_bytes
{
	return '(SELECT sum(used_bytes) FROM pg_backend_memory_contexts)';
}

# Seed the random numbers of a test, which SEED=n replays.
sub seed
{
	my $seed = $ENV{SEED} // int(rand(1 << 31));
	srand($seed);
	note("SEED=$seed");
	diag("SEED=$seed") if $ENV{SEED};
	return $seed;
}

# SQL that seeds SQL's random() in a session, from the test's random numbers.
sub seed_of_session
{
	return 'DO $$BEGIN PERFORM setseed(' . (2 * rand() - 1) . '); END$$; ';
}

# As many rounds as ROUNDS=n, per cent of a full run's, asks for.
sub rounds
{
	my ($full) = @_;
	my $rounds = int($full * ($ENV{ROUNDS} // 100) / 100);
	return $rounds > 1 ? $rounds : 1;
}

sub random_bytes
{
	my ($n) = @_;
	return join('', map { chr(int(rand(256))) } 1 .. $n);
}

# A filter's bytes with some damage: bits flipped, cut, extended, or fields set
# to what is interesting.
sub mutate
{
	my ($bytes) = @_;
	my $kind = int(rand(6));

	if ($kind == 0)
	{
		return substr($bytes, 0, int(rand(length($bytes))));
	}
	if ($kind == 1)
	{
		return $bytes . random_bytes(1 + int(rand(40)));
	}
	if ($kind == 2)
	{
		substr($bytes, 8 * int(rand(6)), 8) = pack('Q<', (0, 1, ~0, 1 << 63, 1 << 40, 65535)[ int(rand(6)) ]);
		return $bytes;
	}
	# mostly in the header
	foreach (0 .. int(rand(4)))
	{
		my $at = int(rand($kind < 5 ? 48 : length($bytes)));
		substr($bytes, $at, 1) = chr(int(rand(256))) if $at < length($bytes);
	}
	return $bytes;
}

# The SQLSTATE that a query ends with; '' where it succeeds.
sub error_state
{
	my ($node, $query) = @_;
	my ($ret, $stdout, $stderr) =
	  $node->psql('postgres', $query, extra_params => [ '-v', 'VERBOSITY=verbose' ]);

	return $ret == 0 ? '' : $stderr =~ /ERROR:  (\w{5}):/ ? $1 : "no SQLSTATE: $stderr";
}

1;
