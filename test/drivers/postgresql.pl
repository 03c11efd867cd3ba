# Drivers of PostgreSQL, with parameters as each sends them: node-postgres from
# npm, psycopg2, psycopg and asyncpg from Debian.  Each is a program here that
# prints a line for each check; test/pg/run.sh runs this file.
use CuckooCluster;
use FindBin;

# JDBC has no sockets of the file system.
my $node = new_cluster('main', conf => "timezone = 'UTC'\nlisten_addresses = '127.0.0.1'\n");

# A filter of each class, a small one and one that is a table.
my %items = (
	numbers => 'i',
	halves => 'i / 2.0',
	texts => q{'item ' || i},
	uuids => 'md5(i::text)::uuid',
	bytes => 'int4send(i)',
	dates => q{'2000-01-01'::date + i},
	stamps => q{'2000-01-01'::timestamp + i * interval '1 hour'},
	zoned => q{'2000-01-01 UTC'::timestamptz + i * interval '1 hour'},
	arrays => 'ARRAY[i, i + 1]',
	documents => q{jsonb_build_object('i', i)},
	truths => 'i > 0');
$node->safe_psql('postgres', 'CREATE TABLE filter (kind text, n integer, f cuckoofilter)');
foreach my $kind (sort keys %items)
{
	$node->safe_psql('postgres', "INSERT INTO filter SELECT '$kind', n, cuckoofilter_agg($items{$kind}, 0.001) FROM (VALUES (10), (2000)) s (n), generate_series(1, n) i GROUP BY n");
}
$node->safe_psql('postgres', q{INSERT INTO filter VALUES ('empty', 0, cuckoofilter_create(1000))});
is($node->safe_psql('postgres', q{SELECT bool_and(f @> 7) FROM filter WHERE kind = 'numbers'}), 't', 'filters to ask');

$ENV{$_->[0]} = $_->[1] foreach ([ PGHOST => $node->host ], [ PGPORT => $node->port ], [ PGDATABASE => 'postgres' ], [ TZ => 'UTC' ]);
$ENV{NODE_PATH} = $ENV{CUCKOOFILTER_NODE} // "$FindBin::Bin/../../build/test/drivers/node_modules";
# the cluster's user, whatever the driver takes for one
$ENV{PGUSER} = $node->safe_psql('postgres', 'SELECT current_user');
foreach my $driver ([ 'node', 'node_postgres.js' ], map { [ '/usr/bin/python3', 'python.py', $_ ] } qw(psycopg2 psycopg asyncpg))
{
	my ($program, $file, @arguments) = @$driver;
	my $name = $arguments[0] // 'node-postgres';
	my ($out, $err) = ('', '');
	my $ran = eval { IPC::Run::run([ $program, "$FindBin::Bin/$file", @arguments ], '>', \$out, '2>', \$err); 1 };
	my $checks = 0;

	if (!$ran || $out =~ /^skipped: /m)
	{
		note("skipped: $name is not here");
		next;
	}
	foreach (split(/\n/, $out))
	{
		next if !/^(ok|not ok|driver) (.*)/;
		note("$name $2") if $1 eq 'driver';
		ok($1 eq 'ok', "$name: $2") if $1 ne 'driver';
		$checks++;
	}
	ok($out =~ /^end$/m && $checks > 50, "$name: to its end") or diag($err);
}

# The lines for ORMs and the programs in sql/FAQ.md: as with programs above, what is missing is skipped.
$ENV{CUCKOOFILTER_EXTENSION} = ($ENV{CUCKOOFILTER_SQLITE} // 'build/sqlite/cuckoofilter.so') =~ s/\.so$//r;
my $orm = `/usr/bin/python3 $FindBin::Bin/../sqlite/orm.py postgresql 2>&1`;
like($orm, qr/^postgresql-orm: \d+ passed, 0 failed$/m, 'ORMs') or diag($orm);
note($orm);
my $programs = `/usr/bin/python3 $FindBin::Bin/../sqlite/programs.py postgresql 2>&1`;
like($programs, qr/^postgresql-programs: \d+ passed, 0 failed$/m, 'programs') or diag($programs);
note($programs);

$node->stop;
done_testing();
