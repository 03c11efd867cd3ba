# Many clients look up, add, remove and merge items in the same stored filters. Each add is recorded
# in its transaction, and none is lost. SECONDS=n.
use CuckooCluster;
use IPC::Run qw(run);

my $seed = seed();
my $seconds = $ENV{SECONDS} || 180;
my $clients = 12;
my $node = new_cluster('main', conf => "log_statement = none\nautovacuum = on\nautovacuum_naptime = 5s\nmax_wal_size = 4GB\nshared_buffers = 256MB\n");

$node->safe_psql(
	'postgres', q{
	CREATE TABLE filters (id integer PRIMARY KEY, f cuckoofilter NOT NULL) WITH (fillfactor = 50);
	CREATE TABLE merged (id integer PRIMARY KEY, f cuckoofilter NOT NULL, seen pg_snapshot);
	CREATE TABLE added (id integer, x bigint, writer xid8 DEFAULT pg_current_xact_id());
	CREATE TABLE removed (id integer, x bigint);
	CREATE INDEX ON added (id);
	INSERT INTO filters SELECT id, cuckoofilter_agg(id * 1000000 + k, 0.01, 1000000)
		FROM generate_series(0, 31) id, generate_series(1, 2000) k GROUP BY id;
	INSERT INTO merged SELECT id, cuckoofilter_create(1000000) FROM generate_series(0, 24, 8) id});

# Scripts, with their weights.  A filter that denies a key divides by zero, which
# ends pgbench.
my @scripts = (
	[ probe => 50, q{
		\set id random(0, 31)
		\set k random(1, 2000)
		SELECT 1 / (f @> (:id * 1000000 + :k))::integer FROM filters WHERE id = :id;
	} ],
	[ check => 5, q{
		\set id random(0, 31)
		SELECT 1 / (count(*) = 0)::integer FROM filters JOIN added USING (id) WHERE id = :id AND NOT f @> x;
	} ],
	[ add => 30, q{
		\set id random(0, 31)
		\set x random(1000000000, 1000000000000000)
		BEGIN;
		UPDATE filters SET f = f + :x::bigint WHERE id = :id;
		INSERT INTO added VALUES (:id, :x);
		COMMIT;
	} ],
	[ remove => 10, q{
		\set id random(0, 31)
		WITH gone AS (DELETE FROM added WHERE ctid = (SELECT ctid FROM added WHERE id = :id LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING id, x),
			kept AS (INSERT INTO removed SELECT id, x FROM gone)
		UPDATE filters SET f = f - x FROM gone WHERE filters.id = gone.id;
	} ],
	[ merge => 5, q{
		\set id random(0, 3) * 8
		UPDATE merged SET seen = pg_current_snapshot(),
			f = f | (SELECT cuckoofilter_union_agg(f) FROM filters WHERE id BETWEEN :id AND :id + 7) WHERE id = :id;
	} ]);
my @files;
foreach my $script (@scripts)
{
	my ($name, $weight, $sql) = @$script;
	my $file = PostgreSQL::Test::Utils::tempdir() . "/$name";
	append_to_file($file, $sql);
	push @files, '-f', "$file\@$weight";
}

# In one thread, for threads may miscount the transactions of a script.
my ($out, $err);
my $ok = run([ 'pgbench', '-n', '-M', 'prepared', '-c', $clients, '-T', $seconds, "--random-seed=$seed", @files, $node->connstr('postgres') ],
	'>', \$out, '2>', \$err);
ok($ok, 'pgbench: no transaction failed') or diag($err);

my ($total) = $out =~ /^tps = ([\d.]+)/m;
note(sprintf('%d clients, %d s: %.0f transactions a second', $clients, $seconds, $total));
my %done;
foreach my $script (@scripts)
{
	my $name = $script->[0];
	my ($n, $tps) = $out =~ m{/$name\n(?: - .*\n)*? - (\d+) transactions \(.*tps = ([\d.]+)\)};

	$done{$name} = $n;
	cmp_ok($n, '>', 0, "$name: $n transactions");
	note(sprintf('%8s: %8d transactions, %7.1f a second', $name, $n, $tps));
}

sub answers
{
	my ($query, $expected, $name) = @_;
	return is($node->safe_psql('postgres', "SELECT $query"), $expected, $name);
}

my $keys = $node->safe_psql('postgres', 'SELECT count(*) FROM added');
answers('(SELECT count(*) FROM added) + (SELECT count(*) FROM removed)', $done{add}, 'additions are those that pgbench counts');
answers('sum(denied) FROM filters, LATERAL (SELECT count(*) AS denied FROM added WHERE added.id = filters.id AND NOT f @> x) a',
	'0', "$keys recorded keys: none is denied");
answers('count(*) FROM filters, LATERAL generate_series(1, 2000) k WHERE NOT f @> (id * 1000000 + k)', '0', '64,000 first keys: none is denied');
answers('count(*) FROM filters WHERE cuckoofilter_count(f) <> 2000 + (SELECT count(*) FROM added WHERE added.id = filters.id)',
	'0', 'each filter counts what was recorded');
my $seen = 'merged, LATERAL (SELECT x FROM added WHERE added.id BETWEEN merged.id AND merged.id + 7 AND pg_visible_in_snapshot(writer, seen)) a';
cmp_ok($node->safe_psql('postgres', "SELECT count(*) FROM $seen"), '>', 0, 'merged filters have seen keys');
answers("count(*) FROM $seen WHERE NOT f \@> x", '0', 'and deny none of them');
is(join("\n", grep { /(ERROR|FATAL|PANIC): |TRAP/ } split /\n/, slurp_file($node->logfile)), '', 'the server tells of no error');
$node->stop;
done_testing();
