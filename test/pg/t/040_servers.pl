# Servers together: the SQL of pg/SERVERS.md on three servers, as it stands and over random
# rows, what is sent for it, counted by proxies, and what its traps cost.
# SEED=n ROUNDS=percent.
use CuckooCluster;
use CuckooPages;
use CuckooProxy;
use CuckooSession;
use CuckooUnlike;
use List::Util qw(min sum0);

my $here = new_cluster('here', conf => "max_parallel_workers_per_gather = 0\n");
plan(skip_all => 'without postgres_fdw')
  if !$here->safe_psql('postgres', q{SELECT count(*) FROM pg_available_extensions WHERE name = 'postgres_fdw'});
my $version = server_version($here);
my %server = map { $_ => new_cluster($_, conf => "max_parallel_workers_per_gather = 0\n") } ('north', 'south');
my %proxy = map { $_ => CuckooProxy->new($server{$_}) } keys %server;
my $session = CuckooSession->new($here);
seed();

# -------------------------------------------------------------------- helpers

# Run SQL that names north on north, and with the name south on south.
sub on_servers
{
	my ($sql) = @_;

	$server{north}->safe_psql('postgres', $sql);
	$server{south}->safe_psql('postgres', $sql =~ s/north/south/gr);
	return;
}

# Run statements here; one that names north is there for south, too.
sub here
{
	my ($sql) = @_;
	my $answer = '';

	foreach my $one (grep { /\S/ } split /;/, $sql =~ s/--.*$//mgr)
	{
		foreach my $each ($one =~ /north/ ? ($one, $one =~ s/north/south/gr) : $one)
		{
			$answer .= $session->query($each =~ s/host '(\w+)'/host '$proxy{$1}->{host}', port '$proxy{$1}->{port}', dbname 'postgres'/r);
		}
	}
	return $answer;
}

sub plan_of
{
	return $session->query("EXPLAIN (VERBOSE, COSTS OFF) $_[0]");
}

# The number of rows that the foreign scans of a query return.
sub fetched
{
	my $plan = $session->query("EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) $_[0]");
	my @scans = $plan =~ /Foreign Scan[^(\n]*\(actual rows=(\d+)[.\d]* loops=(\d+)\)/g;
	my $rows = 0;

	$rows += shift(@scans) * shift(@scans) while @scans;
	return $rows;
}

sub bytes
{
	return sum0(map { $_->bytes } values %proxy);
}

# The bytes that a query sends and gets; its answer.
sub sent
{
	my ($sql) = @_;
	my $before = bytes();
	my $answer = $session->query($sql);

	return (bytes() - $before, $answer);
}

# A query that asks less of the wire than another, by so much, for the same answer.
sub is_cheaper
{
	my ($name, $cheap, $dear, $ratio) = @_;
	my ($few, $answer) = sent($cheap);
	my ($many, $same) = sent($dear);

	is($answer, $same, "$name: the same answer");
	cmp_ok($many / $few, '>', $ratio, "$name: $few bytes, not $many");
	return;
}

# ---------------------------------------------------------- the page, as it stands

my $page = page('pg/SERVERS.md');
$server{north}->safe_psql('postgres', $_) foreach blocks($page, 'sql north');
$server{south}->safe_psql('postgres', $_) foreach blocks($page, 'sql south');
on_servers($_) foreach blocks($page, 'sql both');
foreach my $example (map { examples($_) } blocks($page, 'sql here'))
{
	my ($statement, $rows) = @$example;
	my ($got, $want) = (here($statement), join('', map { pattern($_, $version >= 160000) } @$rows));

	like($got eq '' ? '' : "$got\n", qr/\A$want\z/, "the page: $statement");
}
$session->query('RESET ALL; SET client_min_messages = warning; DROP EXTENSION postgres_fdw CASCADE; DROP TABLE sales, members, known, all_ids, all_customers, ids, customers; RESET client_min_messages');
on_servers('DROP TABLE sales, daily CASCADE');

# ----------------------------------------------------------------------- data

my $rows = 20_000 + int(rand(20_000)); # of each server
my $customers = 1000 + int(rand(8000));
my $nth = 40 + int(rand(20)); # customer is a member
my $first_id = 1 + int(rand(1 << 40));
note("$rows rows, $customers customers, one in $nth is a member, ids from $first_id");
foreach my $region (0, 1)
{
	my $sql = "CREATE TABLE sales AS SELECT '" . ('north', 'south')[$region] . "'::text AS region, $first_id + g * 2 + $region AS id,
		abs(hashint4(g * 2 + $region)::bigint) % $customers AS customer, g % 100 AS day FROM generate_series(1, $rows) g; ANALYZE sales";
	$server{ ('north', 'south')[$region] }->safe_psql('postgres', $sql);
	$session->query($region ? $sql =~ s/CREATE TABLE sales AS/INSERT INTO sales_here/r =~ s/;.*//r : $sql =~ s/sales/sales_here/gr);
}
my ($there) = blocks($page, 'sql both');
on_servers($there);
$session->query("CREATE TABLE members AS SELECT g AS customer FROM generate_series(0::bigint, $customers - 1, $nth) g; ANALYZE");

# ------------------------------------------------------ the page, over these rows

my @blocks = blocks($page, 'sql here');
is(scalar(@blocks), 5, 'the page has its SQL');
my ($setup, $in_where, $join_filter, $grouped, $after) = @blocks;
here($setup =~ s/CREATE TABLE members.*//r);
my $members = $session->query('SELECT count(*), sum(s.id) FROM sales_here s JOIN members USING (customer)');
my $joined = $members =~ s/\|.*//r;
# one customer in a thousand is a false positive; with all their sales, and room for chance
my $others = 2 * 2 * $rows / $customers * ($customers * 0.001 + 8);

# a table of this server
is(here($in_where), $members, 'a filter in WHERE: the rows that join');
my ($asked) = $in_where =~ /^(SELECT.*);/s;
my @remote = plan_of($asked) =~ /Remote SQL: (.*)/g;
is(scalar(@remote), 2, 'a filter in WHERE: both servers are asked');
like($_, qr/WHERE \(public\.cuckoofilter_contains\(\$1::public\.cuckoofilter, customer\)\)$/, 'a filter in WHERE: they ask it') foreach @remote;
my $got = fetched($asked);
cmp_ok($got, '>=', $joined, 'a filter in WHERE: the rows that join come');
cmp_ok($got, '<=', $joined + $others, "a filter in WHERE: and hardly others ($got, $joined join)");
my $unasked = $asked =~ s/WHERE.*//sr;
is(fetched($unasked), $rows * 2, 'without it: all rows');
is_cheaper('a filter in WHERE', $asked, $unasked, 10);

is(() = plan_of($asked) =~ /Async Foreign Scan/g, 2, 'a filter in WHERE: of both servers at a time');
is(() = plan_of('SELECT region, cuckoofilter_agg(customer) FROM sales GROUP BY region') =~ /Async Foreign Scan/g, 2, 'all rows: of both servers at a time');
$session->query('SET enable_partitionwise_aggregate = on');
is(() = plan_of('SELECT region, cuckoofilter_agg(customer) FROM sales GROUP BY region') =~ /Async Foreign Scan/g, 2, 'a filter of each: of both servers at a time');
unlike(plan_of('SELECT cuckoofilter_agg(customer) FROM sales'), qr/Async/, 'a trap: but not rows that are aggregated here by partition');
$session->query('RESET enable_partitionwise_aggregate');

# the same by a join filter, of a query that stays as it is
$session->query("LOAD 'cuckoofilter_join'; SET cuckoofilter.join_filter_min_rows = 0; SET enable_mergejoin = off; SET enable_nestloop = off");
is(here($join_filter), $members, 'a join filter: the rows that join');
like(plan_of($unasked), qr/Cuckoo Join Filter.*, by its server/s, 'a join filter: asked by the servers');
cmp_ok(fetched($unasked), '<=', $joined + $others, 'a join filter: hardly other rows come');
my ($by_join_filter) = sent($unasked);
$session->query('SET cuckoofilter.join_filter = off');
cmp_ok((sent($unasked))[0] / $by_join_filter, '>', 10, "a join filter: $by_join_filter bytes");
$session->query('RESET enable_mergejoin; RESET enable_nestloop');

# a filter of all rows
here($grouped);
is($session->query('SELECT count(*) FROM sales_here, known WHERE NOT f @> customer'), 0, 'a filter of each server, merged: has all customers');
is($session->query('SELECT cuckoofilter_fpr(f) < 0.01, cuckoofilter_info(f) ->> \'kind\' FROM known'), 't|set', 'a filter of each server, merged: is as precise as it was to be');
my ($merged) = $grouped =~ /CREATE TABLE known AS (.*);/s;
like(plan_of($merged), qr/(Remote SQL: SELECT [^\n]*public\.cuckoofilter_agg\(customer, [^\n]* GROUP BY [12].*){2}/s, 'a filter of each server, merged: they make it');
is(fetched($merged), 2, 'a filter of each server, merged: two rows come');
my ($bytes_of_filters) = sent($merged);
my ($bytes_of_rows) = sent('SELECT cuckoofilter_agg(customer, 0.01, 100000) FROM sales');
is(fetched('SELECT cuckoofilter_agg(customer, 0.01, 100000) FROM sales'), $rows * 2, 'a trap: an aggregate over both servers fetches all rows');
cmp_ok($bytes_of_rows / $bytes_of_filters, '>', 10, "a filter of each server, merged: $bytes_of_filters bytes, not $bytes_of_rows");

# views of the servers
here($after);
is($session->query('SELECT count(*) FROM sales_here, ids WHERE NOT f @> id'), 0, 'a sum of what servers made: has all ids');
is( $session->query("SELECT cuckoofilter_info(f) ->> 'kind', cuckoofilter_count(f) - $rows * 2, cuckoofilter_count(f - id) - $rows * 2 FROM ids, (SELECT id FROM sales_here LIMIT 1) one"),
	'deletable|0|-1', 'a sum of what servers made: each is in it once, and may be removed');
is($session->query('SELECT count(*) FROM sales_here, customers WHERE NOT f @> customer'), 0, 'a union of what servers merged: has all customers');
is($session->query('SELECT known.f = customers.f FROM known, customers'), 't', 'a union of what servers merged: the bytes of the filter above');
is(fetched("SELECT cuckoofilter_union_agg(f) FROM all_customers"), 2, 'a union of what servers merged: two rows come');

# ---------------------------------------------------------- what is asked there

# Columns of every kind of item that both have; a filter asked there answers as here.
my %kinds = (
	k => 'bigint', i => 'integer', s => 'smallint', t => 'text', v => 'varchar', c => 'char(9)', u => 'uuid', d => 'date',
	n => 'numeric', f => 'double precision', b => 'bytea', ts => 'timestamp', o => 'boolean');
my $columns = join(', ', map { "$_ $kinds{$_}" } sort keys %kinds);
my $values = q{g AS k, g::integer AS i, (g % 30000)::smallint AS s, 't' || g AS t, ('v' || g)::varchar AS v, g::text::char(9) AS c,
	md5(g::text)::uuid AS u, date '2000-01-01' + g::integer AS d, g / 4.0 AS n, (g / 8.0)::float8 AS f, decode(md5(g::text), 'hex') AS b, timestamp '2000-01-01' + g * interval '1 minute' AS ts, g % 2 = 0 AS o};
my $listed = join(', ', map { "$_\::$kinds{$_} AS $_" } sort keys %kinds);
my $kinds_of = sub { "CREATE TABLE $_[0] AS SELECT $listed FROM (SELECT $values FROM generate_series($_[1]) g) v; ANALYZE $_[0]" };
$server{north}->safe_psql('postgres', $kinds_of->('kinds', '1::bigint, 5000'));
$session->query($kinds_of->($_, '1::bigint, 5000, ' . ($_ eq 'wanted' ? 50 : 1))) foreach ('kinds_here', 'wanted');
$session->query("CREATE FOREIGN TABLE kinds ($columns) SERVER north OPTIONS (table_name 'kinds'); ANALYZE kinds");
foreach my $column (sort keys %kinds)
{
	my $filter = "(SELECT cuckoofilter_agg($column, 0.003, 20000) FROM wanted)";
	my $hash = "cuckoofilter_hash($column)";

	foreach my $ask ("cuckoofilter_contains($filter, $column)", "NOT $filter @> $column", "$column <@ $filter", "cuckoofilter_contains_any($filter, $column, $column)",
		"cuckoofilter_contains_hash($filter, $hash)")
	{
		my $query = "SELECT count(*), sum(k) FROM kinds WHERE $ask";

		like(plan_of($query), qr/Remote SQL: [^\n]*WHERE [^\n]*\$1::public\.cuckoofilter/, "$kinds{$column}, " . $ask =~ s/\(SELECT.*?wanted\)/f/r . ': asked there');
		is($session->query($query), $session->query($query =~ s/kinds/kinds_here/r), '... with the answer of here');
	}
	foreach my $call ("cuckoofilter_agg($column)", "cuckoofilter_agg($column, 0.001, 9000)", "cuckoofilter_agg_hash($hash)", "cuckoofilter_add_agg($filter, $column)")
	{
		like(plan_of("SELECT $call FROM kinds"), qr/Remote SQL: SELECT [^\n]*public\.cuckoofilter_(agg|add_agg)/, "$kinds{$column}, " . $call =~ s/\(SELECT.*?wanted\)/f/r . ': made there');
		is($session->query("SELECT md5($call\::bytea) FROM kinds"), $session->query("SELECT md5($call\::bytea) FROM kinds_here"), '... to the bytes of here');
	}
}

# ------------------------------------------------------------------------ traps

# Options are a text, and postgres_fdw sends no text of the query's to a function
# that could compare it by a collation, if no column there has the same one.
unlike(plan_of("SELECT cuckoofilter_agg(k, 0.01, 9000, 'kind=set') FROM kinds"), qr/Remote SQL: [^\n]*cuckoofilter_agg/, 'a trap: an aggregate with options is made here');
like(plan_of("SELECT cuckoofilter_agg(t, 0.01, 9000, 'kind=set') FROM kinds"), qr/Remote SQL: [^\n]*cuckoofilter_agg/, 'but of a text there');

# A filter is asked by the server in WHERE; in the target list, or of a table that is joined, it is asked here.
$session->query('CREATE TABLE filters AS SELECT cuckoofilter_agg(g, 0.001) AS f FROM generate_series(1, 5000) g');
my $filter = $session->query('SELECT f FROM filters');
my $probe = 'cuckoofilter_contains((SELECT f FROM filters), customer)';
is(fetched("SELECT count(*) FROM (SELECT $probe AS known FROM sales OFFSET 0) s WHERE known"), $rows * 2, 'a trap: asked in the target list, all rows come');
is(fetched('SELECT count(*) FROM sales, filters WHERE f @> customer'), $rows * 2, 'a trap: a filter of a table that is joined, all rows come');
is(fetched("SELECT count(*) FROM sales_north WHERE $probe"), 1, 'a subquery in WHERE: the server counts');
like(plan_of("SELECT $probe, count(*) FROM sales_north GROUP BY 1"), qr/Remote SQL: SELECT public\.cuckoofilter_contains\(\$1[^\n]*GROUP BY 1/, 'asked in GROUP BY: by the server');

# How often a query sends the filter, by the server's log, which the bytes bear
# out: an EXPLAIN of postgres_fdw's brings the filter back in its plan.
sub times_sent
{
	my ($query) = @_;
	my $log = $server{north}->logfile;
	my $start = -s $log;
	my ($bytes) = sent($query);
	my $text = slurp_file($log, $start);
	my $seen = () = $text =~ /\Q$filter\E/g;
	my $back = () = $text =~ /EXPLAIN [^\n]*\Q$filter\E/g;

	cmp_ok($bytes / length($filter), '>=', $seen + $back, "$seen times, in $bytes bytes: " . substr($query =~ s/\Q$filter\E/filter/r, 0, 150));
	return $seen;
}

$session->query(
	"CREATE FOREIGN TABLE estimated (region text, id bigint, customer bigint, day integer) SERVER north
	OPTIONS (table_name 'sales', use_remote_estimate 'true'); ANALYZE estimated");
is(times_sent("SELECT count(*) FROM sales_north WHERE cuckoofilter_contains('$filter', customer)"), 1, 'a constant: once');
cmp_ok(times_sent("SELECT count(*) FROM estimated WHERE cuckoofilter_contains('$filter', customer)"), '>', 1, 'a trap: a constant with use_remote_estimate: more than once');
is(times_sent("SELECT count(*) FROM estimated WHERE $probe"), 1, 'a subquery with use_remote_estimate: once');
$session->query(
	'PREPARE asked(cuckoofilter) AS SELECT count(*) FROM estimated WHERE cuckoofilter_contains($1, customer);
	PREPARE once(cuckoofilter) AS SELECT count(*) FROM estimated WHERE cuckoofilter_contains((SELECT $1), customer)');
cmp_ok(times_sent("EXECUTE asked('$filter')"), '>', 1, 'a trap: so is a parameter, which a plan of its own has as a constant');
is(times_sent("EXECUTE once('$filter')"), 1, '(SELECT parameter) with use_remote_estimate: once');

# A nested loop that hands the scan a value of each outer row sends the filter each time.
my $days = 'SELECT sum(n) FROM generate_series(0, 6) AS d';
is(times_sent("$days, LATERAL (SELECT count(*) AS n FROM sales_north WHERE day = d AND $probe) s"), 7, 'a trap: a filter and a value of the outer row, in a nested loop: for each row');
is(times_sent("SELECT sum(n) FROM (SELECT day, count(*) AS n FROM sales_north WHERE day <= 6 AND $probe GROUP BY day) s"), 1, 'grouped: once');
is( $session->query("$days, LATERAL (SELECT count(*) AS n FROM sales_north WHERE day = d AND $probe) s"),
	$session->query("SELECT sum(n) FROM (SELECT day, count(*) AS n FROM sales_north WHERE day <= 6 AND $probe GROUP BY day) s"),
	'grouped: the same answer');
$session->query('SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_material = off');
my $again = "SELECT count(*) FROM generate_series(1, 3) o LEFT JOIN sales_north ON $probe AND customer < o";
is(times_sent("$again AND customer < 5"), 1, 'a nested loop that hands it nothing, over rows of one fetch: once');
is(times_sent($again), $version < 150000 ? 1 : 3, 'over more of them: again for each row since PostgreSQL 15, which rewinds no cursor');
$session->query('RESET enable_hashjoin; RESET enable_mergejoin; RESET enable_material');

# A join filter is no constant, and needs no place in the query, but is sent again, too.
$session->query(
	"CREATE TABLE five AS SELECT g AS customer FROM generate_series(1, 5000) g; ANALYZE five;
	SET enable_mergejoin = off; SET cuckoofilter.join_filter = on; SET cuckoofilter.join_filter_max_pass = 1");
sub join_filters_sent
{
	my ($query) = @_;
	my $log = $server{north}->logfile;
	my $start = -s $log;

	$session->query($query);
	return scalar(() = slurp_file($log, $start) =~ /\$\d+ = '[A-Za-z0-9+\/]{1000,}=*'/g);
}
is(join_filters_sent('SET enable_nestloop = off; SELECT count(*) FROM estimated JOIN five USING (customer)'), 1, 'a join filter with use_remote_estimate: once');
is(join_filters_sent("$days, LATERAL (SELECT count(*) AS n FROM sales_north JOIN five USING (customer) WHERE day >= d) s"), 7,
	 'a trap: a join filter in a nested loop that hands the scan a value: for each row');
$session->query('RESET enable_mergejoin; RESET enable_nestloop; SET cuckoofilter.join_filter = off');

# The extension in another schema over there, which can be moved.
$server{north}->safe_psql('postgres', 'CREATE DATABASE elsewhere');
$server{north}->safe_psql(
	'elsewhere', 'CREATE SCHEMA filters; CREATE EXTENSION cuckoofilter SCHEMA filters;
	CREATE TABLE sales AS SELECT g AS customer, g::text::char(9) AS c FROM generate_series(1, 1000) g; ANALYZE sales');
$session->query(
	"CREATE SERVER elsewhere FOREIGN DATA WRAPPER postgres_fdw
	OPTIONS (host '$proxy{north}->{host}', port '$proxy{north}->{port}', dbname 'elsewhere', extensions 'cuckoofilter');
	CREATE USER MAPPING FOR CURRENT_USER SERVER elsewhere;
	CREATE FOREIGN TABLE moved (customer bigint) SERVER elsewhere OPTIONS (table_name 'sales')");
sub error_of
{
	$session->ask($_[0]);
	my ($out, $err) = $session->answer;
	return $err;
}
like(error_of("SELECT count(*) FROM moved WHERE $probe"), qr/ERROR:  42704: type "public\.cuckoofilter" does not exist/, 'a trap: another schema over there');
like(error_of('SELECT cuckoofilter_agg(customer) FROM moved'), qr/ERROR:  42883: function public\.cuckoofilter_agg\(\w+\) does not exist/, 'and for an aggregate');
$server{north}->safe_psql('elsewhere', 'ALTER EXTENSION cuckoofilter SET SCHEMA public');
is($session->query("SELECT count(*) FROM moved WHERE $probe"), 1000, 'moved to the schema of the same name: asked');
$session->query("ALTER SERVER elsewhere OPTIONS (DROP extensions)");
unlike(plan_of("SELECT count(*) FROM moved WHERE $probe"), qr/Remote SQL: [^\n]*cuckoofilter/, 'a server whose options do not name the extension: asked here');
$session->query("ALTER SERVER elsewhere OPTIONS (ADD extensions 'cuckoofilter')");

# A column is of another type over there than its foreign table says.
$session->query(
	"CREATE FOREIGN TABLE mistyped (c bigint) SERVER elsewhere OPTIONS (table_name 'sales');
	CREATE FOREIGN TABLE blanks (c text) SERVER elsewhere OPTIONS (table_name 'sales')");
like(error_of('SELECT count(*) FROM mistyped WHERE cuckoofilter_contains((SELECT f FROM filters), c)'), qr/ERROR:  42804: /, 'text behind a foreign bigint: an error');
$session->query('CREATE TABLE padded AS SELECT c FROM blanks');
my $padded = 'WHERE cuckoofilter_contains((SELECT cuckoofilter_agg(c) FROM padded), c)';
is($session->query("SELECT (SELECT count(*) FROM padded $padded), (SELECT count(*) FROM blanks $padded) < 100"), '1000|t', 'a trap: char(n) behind a foreign text, other items there');

# ------------------------------------------------------- two phases, many shards

# As Citus does: a partial state leaves its server by the type's output or its send
# function, comes in by input or receive, and is combined.  Items are hashed first,
# since Citus takes no polymorphic aggregate.
on_servers(q{CREATE TABLE item (shard integer, x bigint);
	CREATE AGGREGATE state_of(bigint, double precision, bigint, text) (SFUNC = cuckoofilter_agg_hash_transition, STYPE = cuckoofilter)});
$session->query('CREATE TABLE state (f cuckoofilter); CREATE TABLE shard (f cuckoofilter); CREATE TABLE item_here (x bigint);
	CREATE AGGREGATE of_states(cuckoofilter) (SFUNC = cuckoofilter_agg_combine, STYPE = cuckoofilter, FINALFUNC = cuckoofilter_agg_final)');
here('CREATE FOREIGN TABLE state_north () INHERITS (state) SERVER north OPTIONS (table_name \'state\');
	CREATE FOREIGN TABLE shard_north () INHERITS (shard) SERVER north OPTIONS (table_name \'shard\')');
my $file = PostgreSQL::Test::Utils::tempdir_short() . '/states'; # an absolute path, for COPY
foreach my $round (1 .. rounds(6))
{
	my ($shards, $disjoint) = (1 + int(rand(8)), $round % 2);
	my $options = draw_options(one_of(0, 5), $disjoint ? 'deletable' : undef);
	my @sizes = map { min(draw_size(), 100_000) } (0, 1);
	my $parameters = sprintf('%s, %d, \'%s\'', one_of(0.02, 0.003, 0.0001), $sizes[0] + $sizes[1], $options);
	my $call = "cuckoofilter_agg_hash(cuckoofilter_hash(x, " . ($options =~ /seed=(\d+)/ ? $1 : 0) . "), $parameters)";
	my $last = 0;
	my $what = "round $round, $sizes[0] and $sizes[1] items in $shards shards, $parameters";

	$session->query('TRUNCATE item_here');
	foreach my $name (sort keys %server)
	{
		my $first = $disjoint ? $last + 1 : 1 + int(rand($last + 1));
		$last = $first + shift(@sizes) - 1;
		my $items = "SELECT x FROM generate_series($first, $last) x";

		$server{$name}->safe_psql(
			'postgres', "DROP VIEW IF EXISTS state; DROP VIEW IF EXISTS shard; TRUNCATE item;
			INSERT INTO item SELECT abs(hashint8(x)::bigint) % $shards, x FROM ($items) i;
			CREATE VIEW state AS SELECT " . $call =~ s/cuckoofilter_agg_hash/state_of/r . " AS f FROM item GROUP BY shard;
			CREATE VIEW shard AS SELECT $call AS f FROM item GROUP BY shard");
		$session->query("INSERT INTO item_here $items");
	}
	my $whole = $session->query("SELECT md5($call\::bytea) FROM item_here");
	is($session->query('SELECT md5(of_states(f)::bytea) FROM state'), $whole, "$what: states as text, the bytes of one server");
	$session->query('CREATE TEMP TABLE received (f cuckoofilter)');
	foreach my $name (sort keys %server)
	{
		unlink $file;
		$server{$name}->safe_psql('postgres', "COPY (SELECT f FROM state) TO '$file' (FORMAT binary)");
		$session->query("COPY received FROM '$file' (FORMAT binary)");
	}
	is($session->query('SELECT md5(of_states(f ORDER BY random())::bytea) FROM received'), $whole, "$what: states in binary, the bytes of one server");
	$session->query('DROP TABLE received');

	# a finished filter of each shard
	my $hash = $call =~ s/^cuckoofilter_agg_hash\((cuckoofilter_hash\(x, \d+\)).*/$1/r;
	foreach my $merge ($disjoint ? ('union', 'sum') : 'union')
	{
		my $merged = "(SELECT cuckoofilter_${merge}_agg(f) AS f FROM shard) m";
		is($session->query("SELECT count(*) FROM item_here, $merged WHERE NOT cuckoofilter_contains_hash(f, $hash)"), 0, "$what: finished filters, $merge: none lost");
	}
	is($session->query('SELECT cuckoofilter_count(cuckoofilter_sum_agg(f)) FROM shard'), $last, "$what: finished filters, sum: each once") if $disjoint;
}

$session->quit;
$_->stop foreach values %proxy;
$_->stop foreach ($here, values %server);
done_testing();
