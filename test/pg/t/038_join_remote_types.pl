# A filter on a remote server removes no row that joins here, whatever type the column has on the
# server behind the type that the foreign table declares: random pairs of types. SEED=n
# ROUNDS=percent.
use CuckooCluster;
use CuckooJoin;
use CuckooRandom;

my $node = join_cluster('main', conf => "cuckoofilter.join_filter_remote = on\nenable_mergejoin = off\nenable_nestloop = off\nTimeZone = 'Asia/Kolkata'\n");
plan(skip_all => 'without postgres_fdw')
  if !$node->safe_psql('postgres', q{SELECT count(*) FROM pg_available_extensions WHERE name = 'postgres_fdw'});
my $seed = seed();
my ($host, $port) = ($node->host, $node->port);
my $citext = $node->safe_psql('postgres', q{SELECT count(*) FROM pg_available_extensions WHERE name = 'citext'});

$node->safe_psql('postgres', 'CREATE DATABASE far');
my $icu = ($node->psql('far', "CREATE COLLATION nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false)"))[2] !~ /ICU is not supported/;
$node->safe_psql(
	'far', 'CREATE EXTENSION cuckoofilter; CREATE SCHEMA types;
	CREATE TYPE word AS ENUM (\'a\', \'ab\', \'ab \', \'b\', \'1\', \'x\');
	CREATE DOMAIN types.text AS char(5); CREATE DOMAIN types.int4 AS real; CREATE DOMAIN types.date AS timestamp;
	CREATE DOMAIN plain AS text; CREATE DOMAIN short AS varchar(3); CREATE DOMAIN padded AS char(5); CREATE DOMAIN whole AS integer;
	CREATE DOMAIN wholes AS whole; CREATE DOMAIN single AS real; CREATE DOMAIN number AS double precision; CREATE DOMAIN day AS date; CREATE DOMAIN moment AS timestamp(0);
	CREATE FUNCTION fill(type text, vals text[]) RETURNS void LANGUAGE plpgsql AS $$
	DECLARE v text; n integer := 0;
	BEGIN
		FOREACH v IN ARRAY vals LOOP
			n := n + 1;
			BEGIN
				EXECUTE format(\'INSERT INTO far SELECT g * 100 + %s, (%L::text)::%s FROM generate_series(1, 40) g\', n, v, type);
			EXCEPTION WHEN OTHERS THEN NULL;
			END;
		END LOOP;
	END$$' . ($citext ? '; CREATE EXTENSION citext' : ''));
$node->safe_psql(
	'postgres', "CREATE EXTENSION postgres_fdw; CREATE SERVER far FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname 'far', extensions 'cuckoofilter');
	CREATE USER MAPPING FOR CURRENT_USER SERVER far;
	CREATE DOMAIN short AS varchar(3); CREATE DOMAIN whole AS integer;" . q{
	CREATE FUNCTION readable() RETURNS text LANGUAGE plpgsql AS $$
	DECLARE n integer; good text := '-1'; v text;
	BEGIN
		FOR n IN 101 .. 140 LOOP
			BEGIN
				EXECUTE format('SELECT x::text FROM near WHERE id = %s', n) INTO v;
				good := good || ',' || n - 100;
			EXCEPTION WHEN OTHERS THEN NULL;
			END;
		END LOOP;
		RETURN good;
	END$$});

# ------------------------------------------------------------------- families

my %values = (
	string => [ 'a', 'ab', 'ab ', 'ab   ', 'abcdef', 'AB', '', ' ', 'é', 'x' x 70, '1', 'b', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'far', 't' ],
	number => [ '0', '1', '-1', '2', '0.1', '0.5', '1.00', '3.25', '0.30000000000000004', '100000', '16777217', '32767', '9007199254740993', '4294967295', '1e10', '123.456' ],
	time => [ '2020-01-01', '2020-01-01 00:00:00', '2020-01-01 12:00:00.4', '2020-01-01 12:00:00', '2020-01-01 12:00:00.6', '2020-01-01 12:00:01', '2020-01-02 03:00:00+00', '1999-12-31 18:30:00', '2021-07-01', 'infinity', '2020-06-30 23:59:59.999999' ],
	other => [ 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A12', (map { "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a2$_" } (0 .. 5)), '\x6162', 't', 'true', 'f', '1', '0', 'far', 'pg_class', '\x00', '26' ]);
my %declared = (
	string => [ 'text', 'text', 'varchar', 'varchar(3)', 'varchar(70)', 'char(5)', 'char(2)', 'name', 'short', 'text COLLATE "C"' ],
	number => [ 'smallint', 'integer', 'bigint', 'real', 'double precision', 'double precision', 'oid', 'whole', 'text' ],
	time => [ 'date', 'timestamp', 'timestamp', 'timestamp(0)', 'timestamptz', 'timestamptz(0)', 'timestamptz(3)', 'text' ],
	other => [ 'uuid', 'bytea', 'boolean', 'text', 'oid', 'regclass', 'bigint' ]);
my %remote = (
	string => [ 'text', 'varchar', 'varchar(3)', 'char(5)', 'char(9)', 'name', 'plain', 'short', 'padded', 'types.text', 'word', 'uuid', '"char"', ($citext ? 'citext' : ()), ($icu ? 'text COLLATE nocase' : ()) ],
	number => [ 'smallint', 'integer', 'bigint', 'real', 'double precision', 'numeric', 'numeric(12,2)', 'whole', 'wholes', 'single', 'number', 'types.int4', 'text', 'oid', 'xid' ],
	time => [ 'date', 'timestamp', 'timestamp(0)', 'timestamp(3)', 'timestamptz', 'timestamptz(0)', 'day', 'moment', 'types.date', 'text', 'varchar' ],
	other => [ 'uuid', 'bytea', 'boolean', 'text', 'integer', 'regclass', 'oid', 'char(40)' ]);
# what a key may be compared with here, beside its own type
my %partner = ('smallint' => 'bigint', 'integer' => 'bigint', 'whole' => 'bigint', 'varchar(3)' => 'text', 'varchar' => 'text', 'name' => 'text', 'text' => 'varchar', 'real' => 'double precision', 'short' => 'text');

# Make the two tables: far with the values that its type can have, near as it is declared, over the
# table, a view or a join.  The values that this server can read stay.
sub make
{
	my ($family, $declared, $remote, $shape) = @_;
	my ($bare, $collate) = $remote =~ /^(.*?)( COLLATE .*)?$/;
	my $list = join(', ', map { "'" . $_ . "'" } @{ $values{$family} });
	my $source = { table => 'far', view => 'far_view', expression => 'far_expression' }->{$shape};

	$node->safe_psql('far', "DROP TABLE IF EXISTS far CASCADE; CREATE TABLE far (id integer, x $bare" . ($collate // '') . "); SELECT fill('$bare', ARRAY[$list]);
		INSERT INTO far VALUES (101, NULL), (4050, NULL); CREATE VIEW far_view AS SELECT id, x FROM far; CREATE VIEW far_expression AS SELECT id, max(x::text)::$bare AS x FROM far GROUP BY id");
	my $good = $node->safe_psql('postgres', "DROP FOREIGN TABLE IF EXISTS near CASCADE; DROP FOREIGN TABLE IF EXISTS ids CASCADE; CREATE FOREIGN TABLE near (id integer, x $declared) SERVER far OPTIONS (table_name '$source');
		CREATE FOREIGN TABLE ids (id integer) SERVER far OPTIONS (table_name 'far'); SELECT readable()");
	$node->safe_psql('far', "DELETE FROM far WHERE id % 100 NOT IN ($good); INSERT INTO far VALUES (50, NULL); ANALYZE far");
	return ($node->psql('postgres', 'ANALYZE near; ANALYZE ids'))[0] == 0;
}

# Join near with half of its values: its rows without filters and with, and how many the server sent.
sub rows_of_pair
{
	my ($declared, $join, $cast, $two) = @_;
	my ($bare) = $declared =~ /^(.*?)(?:\(\d\d?\))?(?: COLLATE .*)?$/;
	my $from = $join ? 'near JOIN ids USING (id)' : 'near';
	my $type = $cast // (chance(0.5) ? $bare : $partner{$declared} // $bare);
	my $key = defined $cast ? "near.x::$cast" : 'near.x';
	my $query = "SELECT count(*), sum(near.id), count(DISTINCT near.x::text) FROM $from JOIN half ON $key = half.x" . ($two ? ' AND near.id % 100 = half.n' : '');
	my $before = 'SET join_collapse_limit = 1; SET cuckoofilter.join_filter_remote = on';

	my ($status, $out, $err) = $node->psql('postgres',
		"DROP TABLE IF EXISTS half; SET cuckoofilter.join_filter = off; CREATE TABLE half AS WITH here AS MATERIALIZED (SELECT id, x FROM near) SELECT x::$type AS x, min(id % 100) AS n FROM here WHERE x IS NOT NULL GROUP BY 1 ORDER BY hashtext(x::$type" . "::text || '$seed') LIMIT 4; ANALYZE half");
	note($err) if $status != 0;
	return if $status != 0;
	my %rows;
	foreach my $mode ('off', 'on')
	{
		($status, $out, $err) = $node->psql('postgres', "$before; SET cuckoofilter.join_filter = $mode; $query");
		$rows{$mode} = $status == 0 ? $out : $err;
	}
	my $plan = $rows{on} =~ /ERROR/ ? '' : explained("$before; $query", 'ANALYZE, VERBOSE, TIMING OFF, SUMMARY OFF, COSTS OFF');
	my ($sent) = $plan =~ /Foreign Scan[^(]*\(actual rows=(\d+)/;
	return { off => $rows{off}, on => $rows{on}, served => $plan =~ /by its server/ ? 1 : 0, sent => $sent // -1, query => $query, plan => $plan };
}

my %family_of = map { my $f = $_; map { $_ => $f } @{ $declared{$f} } } reverse sort keys %declared;

# ----------------------------------------------------- pairs that once were denied

foreach my $pair ([ 'string', 'text', 'char(5)' ], [ 'string', 'text', 'padded' ], [ 'string', 'text', 'types.text' ], [ 'string', 'varchar(3)', 'text' ], [ 'string', 'short', 'text' ], [ 'string', 'text', 'word' ], [ 'number', 'double precision', 'real' ], [ 'number', 'double precision', 'single' ],
	[ 'number', 'integer', 'types.int4' ], [ 'time', 'timestamp(0)', 'timestamp' ], [ 'time', 'timestamptz(0)', 'timestamptz(3)' ], [ 'time', 'timestamp', 'timestamptz' ], [ 'time', 'date', 'types.date' ], [ 'other', 'text', 'uuid' ], [ 'other', 'bigint', 'uuid' ], [ 'number', 'bigint', 'xid' ], [ 'other', 'uuid', 'text' ])
{
	my ($family, $declared, $remote) = @$pair;

	make($family, $declared, $remote, 'table');
	my $rows = rows_of_pair($declared);
	is($rows->{on}, $rows->{off}, "$remote behind $declared: the same rows") or diag("$rows->{query}\n$rows->{plan}");
	# Where no value can be read, half is empty, and 13 reads it first, which ends the join.
	ok($rows->{served} || $rows->{plan} =~ /Foreign Scan[^(]*\(never executed\)/, "$remote behind $declared: its server is asked") or diag("$rows->{query}\n$rows->{plan}");
}

# --------------------------------------------------- pairs whose rows a server drops

foreach my $pair ([ 'string', 'text', 'text' ], [ 'string', 'text', 'varchar' ], [ 'string', 'varchar', 'plain' ], [ 'string', 'text', 'name' ], [ 'string', 'char(5)', 'char(9)' ], [ 'string', 'varchar(3)', 'short' ], [ 'string', 'text', 'text COLLATE nocase' ], [ 'number', 'bigint', 'integer' ],
	[ 'number', 'integer', 'bigint' ], [ 'number', 'bigint', 'whole' ], [ 'number', 'double precision', 'number' ], [ 'number', 'real', 'real' ], [ 'time', 'date', 'day' ], [ 'time', 'timestamp', 'timestamp(3)' ], [ 'time', 'timestamp(0)', 'timestamp' ],
	[ 'time', 'timestamptz', 'timestamptz' ], [ 'other', 'uuid', 'uuid' ])
{
	my ($family, $declared, $remote) = @$pair;

	next if $remote =~ /nocase/ && !$icu;
	foreach my $shape ('table', 'view', 'join')
	{
		make($family, $declared, $remote, $shape eq 'join' ? 'table' : $shape);
		my $all = $node->safe_psql('far', 'SELECT count(*) FROM far');
		my $rows = rows_of_pair($declared, $shape eq 'join');
		is($rows->{on}, $rows->{off}, "$remote behind $declared, a $shape: the same rows") or diag("$rows->{query}\n$rows->{plan}");
		cmp_ok($rows->{sent}, '<', $all, "$remote behind $declared, a $shape: its server drops some") or diag("$rows->{query}\n$rows->{plan}");
	}
}

# ------------------------------------------------------------------------ drawn

my $rounds = rounds(120);
my %count = map { $_ => 0 } qw(pairs served dropped differ unreadable empty);
foreach my $round (1 .. $rounds)
{
	my $family = pick(sort keys %values);
	my $declared = pick(@{ $declared{$family} });
	my $remote = pick(@{ $remote{$family} });
	my $shape = pick('table', 'table', 'view', 'expression');
	my $cast = $family eq 'string' && $declared =~ /^(text|varchar)/ && chance(0.2) ? 'bpchar' : $declared eq 'integer' && chance(0.2) ? 'oid' : $declared eq 'regclass' ? 'oid' : undef;

	if (!make($family, $declared, $remote, $shape))
	{
		$count{unreadable}++;
		next;
	}
	my $rows = rows_of_pair($declared, chance(0.3), $cast, chance(0.1));
	if (!$rows)
	{
		$count{unreadable}++;
		next;
	}
	$count{pairs}++;
	$count{served} += $rows->{served};
	$count{empty}++ if $rows->{off} =~ /^0\|/;
	$count{dropped}++ if $rows->{served} && $rows->{sent} >= 0 && $rows->{sent} < $node->safe_psql('far', 'SELECT count(*) FROM far');
	next if $rows->{on} eq $rows->{off};
	$count{differ}++;
	diag("SEED=$seed, round $round: $remote behind $declared, a $shape\n$rows->{query}\noff: $rows->{off}\non: $rows->{on}\n$rows->{plan}");
}
note(join(', ', map { "$_ $count{$_}" } sort keys %count));
diag(join(', ', map { "$_ $count{$_}" } sort keys %count)) if $ENV{SEED};
is($count{differ}, 0, "$count{pairs} drawn pairs of types give the same rows");
cmp_ok($count{served}, '>', $rounds / 3, "servers ask the filters of $count{served}");
cmp_ok($count{dropped}, '>=', int($rounds / 20), "and drop rows of $count{dropped}");
cmp_ok($count{unreadable} + $count{empty}, '<', $rounds / 2, "few are nothing: $count{unreadable} unreadable, $count{empty} empty");

done_testing();
