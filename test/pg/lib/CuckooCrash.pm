# Backends that are killed while they write: after recovery, each stored filter is the old or the
# new one, complete, with the keys of the same transaction.
package CuckooCrash;

use CuckooCluster;
use CuckooSession;
use Exporter 'import';
use Time::HiRes qw(time usleep);

our @EXPORT = qw(crash_rounds);

# Each victim has filters of its name, and their keys.  `prepare` begins a
# change of both; `change` is what a kill shall hit.  $N is replaced by the
# victim's name, $R by a number that grows with each try, $D by a directory.
my $new_keys = 'DELETE FROM keys WHERE name = $N; INSERT INTO keys SELECT $N, 0, g * 7919 + $R FROM generate_series(1, 50000) g;';
my $more_keys = 'INSERT INTO keys SELECT $N, 0, -(g + $R * 20000::bigint) FROM generate_series(1, 20000) g;';
my $new_groups = 'DELETE FROM stored WHERE name = $N; DELETE FROM keys WHERE name = $N;'
  . 'INSERT INTO keys SELECT $N, g % 1000, g * 31 + $R FROM generate_series(1, 30000) g;';
my $fresh = "(SELECT array_agg(key ORDER BY key) FROM keys WHERE name = \$N AND key < -\$R * 20000)";
my %victims = (
	'build' => {
		prepare => $new_keys,
		change => 'UPDATE stored SET f = (SELECT cuckoofilter_agg(key) FROM keys, generate_series(1, 20) WHERE name = $N) WHERE name = $N'
	},
	'parallel build' => {
		prepare => "$new_keys DELETE FROM stored WHERE name = \$N; SET LOCAL parallel_setup_cost = 0; SET LOCAL parallel_tuple_cost = 0; "
		  . 'SET LOCAL min_parallel_table_scan_size = 0',
		change => 'CREATE TEMP TABLE fresh ON COMMIT DROP AS SELECT cuckoofilter_agg(key) AS f FROM keys, generate_series(1, 20) WHERE name = $N; '
		  . 'INSERT INTO stored SELECT $N, 0, f FROM fresh',
		workers => 1
	},
	'add_all' => {
		prepare => $more_keys,
		change => "UPDATE stored SET f = cuckoofilter_add_all(f, VARIADIC $fresh) WHERE name = \$N"
	},
	'union' => {
		prepare => $more_keys,
		change => 'UPDATE stored SET f = f | (SELECT cuckoofilter_union_agg(f) FROM '
		  . '(SELECT cuckoofilter_agg(key, 0.01, 5000000) AS f FROM keys WHERE name = $N AND key < -$R * 20000 GROUP BY key % 20) parts) WHERE name = $N'
	},
	'remove and compact' => {
		prepare => 'DELETE FROM keys WHERE name = $N AND key % 3 <> 0;' . $more_keys,
		change => "UPDATE stored SET f = cuckoofilter_compact(cuckoofilter_sum((SELECT cuckoofilter_agg(key) FROM keys WHERE name = \$N AND key >= -\$R * 20000), "
		  . "cuckoofilter_remove_all(cuckoofilter_add_all(cuckoofilter_create(5000000), VARIADIC ARRAY[1, 2] || $fresh), 1, 2))) WHERE name = \$N"
	},
	'groups' => {
		prepare => $new_groups,
		change => 'INSERT INTO stored SELECT name, id, cuckoofilter_agg(key) FROM keys WHERE name = $N GROUP BY name, id'
	},
	'update of many' => {
		prepare => 'INSERT INTO keys SELECT name, id, -$R FROM stored WHERE name = $N',
		change => 'UPDATE stored SET f = f + -$R::bigint WHERE name = $N'
	});
foreach my $format (qw(binary text))
{
	$victims{"copy in $format"} = {
		prepare => "$new_groups COPY (SELECT name, id, cuckoofilter_agg(key) FROM keys WHERE name = \$N GROUP BY name, id) TO '\$D/\$R.$format' (FORMAT $format)",
		change => "COPY stored FROM '\$D/\$R.$format' (FORMAT $format)"
	};
}

# What a bystander does all the time, in transactions of their own.
my $adding = q{
	CREATE PROCEDURE add_for_ever() LANGUAGE plpgsql AS $$
	DECLARE
		x bigint;
	BEGIN
		LOOP
			x := (random() * 1e15)::bigint;
			INSERT INTO keys VALUES ('bystander', 0, x);
			UPDATE stored SET f = f + x WHERE name = 'bystander';
			COMMIT;
		END LOOP;
	END $$};

# The filters and the keys of a name, as digests.
sub state_of
{
	my ($session, $name) = @_;
	return $session->query("SELECT (SELECT md5(string_agg(md5(f::bytea), ',' ORDER BY id)) FROM stored WHERE name = '$name'), "
		  . "count(*), sum(key), sum(key % (id + 1009)) FROM keys WHERE name = '$name'");
}

# Keys that their filter denies, and filters that hold other than their keys.
# A union is a set, which stores equal prefixes once.
my $wrong = q{
	SELECT s.name, s.id, k.n, k.denied, cuckoofilter_count(f)
		FROM stored s LEFT JOIN LATERAL
			(SELECT count(*) AS n, count(*) FILTER (WHERE NOT s.f @> key) AS denied FROM keys WHERE name = s.name AND id = s.id) k ON true
		WHERE k.denied > 0 OR cuckoofilter_count(f) > k.n OR (cuckoofilter_count(f) < k.n AND s.name <> 'union')};

my $dir; # of the node, for COPY

# SQL of a victim.
sub fill
{
	my ($sql, $name, $round) = @_;
	$sql =~ s/\$N/'$name'/g;
	$sql =~ s/\$R/$round/g;
	$sql =~ s/\$D/$dir/g;
	return $sql;
}

# The change, rolled back at its end: how long it takes, and what it comes to.
sub rehearse
{
	my ($session, $name, $round) = @_;
	my $victim = $victims{$name};

	$session->query(fill("BEGIN; $victim->{prepare}", $name, $round));
	my $start = time;
	$session->query(fill($victim->{change}, $name, $round));
	my $duration = time - $start;
	my $state = state_of($session, $name);
	$session->query('ROLLBACK');
	return ($duration, $state);
}

# The process to kill: of a parallel query, a worker where there is one.
sub choose_process
{
	my ($node, $session, $victim) = @_;
	return $session->{pid} if !$victim->{workers} || rand() < 0.3;
	my @workers = split /\n/, $node->safe_psql('postgres', "SELECT pid FROM pg_stat_activity WHERE leader_pid = $session->{pid}");
	return @workers ? $workers[ int(rand(@workers)) ] : $session->{pid};
}

# Kill a victim in its change, with a bystander at work, in the first $share of
# its time.  When it happened, in seconds, and whether that was before the change's end.
sub attack
{
	my ($node, $name, $round, $duration, $share) = @_;
	my $victim = $victims{$name};
	my $bystander = CuckooSession->new($node);
	my $session = CuckooSession->new($node);

	$bystander->ask('CALL add_for_ever()');
	$session->query(fill("BEGIN; $victim->{prepare}", $name, $round));
	my $moment = rand($duration * $share);
	$session->ask(fill($victim->{change}, $name, $round) . "; \\echo changed\nCOMMIT");
	usleep($moment * 1e6);
	# a worker may be gone by now, the session is not
	kill('KILL', choose_process($node, $session, $victim)) or kill('KILL', $session->{pid}) or die "no process $session->{pid}";
	my ($out) = $session->answer;
	$bystander->answer;
	$_->quit foreach ($session, $bystander);
	return ($moment, $out !~ /changed/);
}

# Kill a victim, recover, look, and do what was left undone.  True where it was
# hit before its end.
sub crash_round
{
	my ($node, $name, $round, $share) = @_;
	my $session = CuckooSession->new($node);
	my $old = state_of($session, $name);
	my ($duration, $new) = rehearse($session, $name, $round);
	$session->query('VACUUM ANALYZE keys');
	$session->query('CHECKPOINT') if rand() < 0.5;
	$session->quit;

	my $log = -s $node->logfile;
	my ($moment, $hit) = attack($node, $name, $round, $duration, $share);
	$node->wait_for_log(qr/redo done at/, $log);
	$node->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()');

	$session = CuckooSession->new($node);
	my $state = state_of($session, $name);
	my $which = $state eq $new && !$hit ? 'new' : 'old';
	is($state, $which eq 'new' ? $new : $old,
		sprintf('%s: killed after %.0f of %.0f ms, %s: the %s filters', $name, $moment * 1000, $duration * 1000, $hit ? 'at work' : 'at its end', $which));
	is($session->query($wrong), '', "$name: all filters hold their keys, and deny none");
	if ($which eq 'old')
	{
		$session->query(fill("BEGIN; $victims{$name}{prepare}; $victims{$name}{change}; COMMIT", $name, $round));
		is(state_of($session, $name), $new, "$name: the next try gives what the first was to give");
	}
	$session->quit;
	return $hit;
}

# A cluster with a filter for each victim and the bystander.
sub crash_cluster
{
	my $node = new_cluster('main', conf => "autovacuum = on\nrestart_after_crash = on\nlog_statement = none\nmax_wal_size = '4GB'\n");

	$node->safe_psql(
		'postgres', q{
		CREATE TABLE stored (name text, id integer, f cuckoofilter NOT NULL, PRIMARY KEY (name, id));
		CREATE TABLE keys (name text, id integer, key bigint);
		CREATE INDEX ON keys (name, id);
		INSERT INTO stored SELECT 'update of many', g, cuckoofilter_create(1000) FROM generate_series(1, 2000) g});
	$node->safe_psql('postgres', "INSERT INTO stored VALUES ('$_', 0, cuckoofilter_create(5000000))") foreach ('bystander', keys %victims);
	$node->safe_psql('postgres', $adding);
	$dir = $node->basedir;
	return $node;
}

# Kill until each kind of victim, or each named one, was hit at work n times.
sub crash_rounds
{
	my ($n, @names) = @_;
	my $node = crash_cluster();
	my $round = 0;
	my %hits;

	foreach my $name (@names ? @names : sort keys %victims)
	{
		my $tries = 0;
		my $share = 1.1;
		while (($hits{$name} // 0) < $n && $tries++ < 4 * $n + 16)
		{
			my $hit = crash_round($node, $name, ++$round, $share);

			# the change may have been slower when its time was measured
			$share = $hit ? 1.1 : $share / 1.5;
			$hits{$name} += $hit;
		}
		is($hits{$name}, $n, "$name: hit at work $n times, in $tries");
	}
	my $hits = 0;
	$hits += $_ foreach values %hits;
	note("$round kills, $hits of them in the middle of a statement; bystander: "
		  . $node->safe_psql('postgres', q{SELECT count(*) FROM keys WHERE name = 'bystander'}) . ' additions');
	is(join("\n", grep { /PANIC|TRAP|invalid page|could not (read|access)/ } split /\n/, slurp_file($node->logfile)), '', 'no recovery found a fault');
	$node->stop;
	return;
}

1;
