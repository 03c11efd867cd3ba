# Joins whose key is an expression of a column, such as ts::date: EXPLAIN, blocks and partitions that are not read, and rows
# that stay the same where a zone's time goes back, while the zone changes, and at the limits of types.
use CuckooCluster;
use CuckooDays;
use CuckooJoin;
use CuckooPortal;
use CuckooSession;

my $node = join_cluster('main', conf => "enable_nestloop = off\nenable_mergejoin = off\nsynchronize_seqscans = off\nmax_parallel_workers = 8\nclient_min_messages = error\n");
my $session = CuckooSession->new($node);

sub sql
{
	return $node->safe_psql('postgres', $_[0]);
}

# Three years, about 7 rows a block: in order with BRIN, shuffled with a B-tree, in monthly partitions, and without an index.
sql(
	objects_sql() . q{;
	CREATE TABLE calendar AS SELECT d::date AS day, d AS at, d AT TIME ZONE 'UTC' AS tz, to_char(d, 'YYYY-MM') AS month, extract(year FROM d)::integer AS year, row_number() OVER () AS n
		FROM generate_series(timestamp '2021-01-01', '2023-12-31', '1 day') d;
	CREATE TABLE events AS SELECT g AS id, timestamp '2021-01-01' + g * interval '2 hours 37 minutes' AS ts, (timestamp '2021-01-01' + g * interval '2 hours 37 minutes') AT TIME ZONE 'UTC' AS tz,
		g - 5000 AS k, (g * 7)::bigint AS l, (g / 4)::smallint AS s, 'Word ' || g % 500 AS payload, repeat('x', 1000) AS filler FROM generate_series(0, 9999) g;
	CREATE INDEX events_ts ON events USING brin (ts) WITH (pages_per_range = 4);
	CREATE INDEX events_tz ON events USING brin (tz) WITH (pages_per_range = 4);
	CREATE INDEX events_k ON events USING brin (k) WITH (pages_per_range = 4);
	CREATE INDEX events_l ON events USING brin (l) WITH (pages_per_range = 4);
	CREATE INDEX events_s ON events USING brin (s) WITH (pages_per_range = 4);
	CREATE TABLE plain AS SELECT * FROM events;
	CREATE TABLE shuffled AS SELECT * FROM events ORDER BY hashint4(id);
	CREATE INDEX shuffled_ts ON shuffled (ts);
	CREATE INDEX shuffled_tz ON shuffled (tz);
	CREATE TABLE parts (LIKE events) PARTITION BY RANGE (ts);
	CREATE TABLE parts_first PARTITION OF parts FOR VALUES FROM (MINVALUE) TO ('2021-01-01');
	CREATE TABLE words AS SELECT 'word ' || g AS word FROM generate_series(1, 5) g} . join('', map { my ($year, $month) = (2021 + int($_ / 12), $_ % 12 + 1); sprintf("; CREATE TABLE parts_%d PARTITION OF parts FOR VALUES FROM ('%d-%02d-01') TO ('%d-%02d-01')", $_, $year, $month, $month == 12 ? ($year + 1, 1) : ($year, $month + 1)) } (0 .. 34)) . q{;
	CREATE TABLE zoned (LIKE events) PARTITION BY RANGE (tz);
	CREATE TABLE zoned_first PARTITION OF zoned FOR VALUES FROM (MINVALUE) TO ('2022-05-01 00:00+00');
	CREATE TABLE zoned_may PARTITION OF zoned FOR VALUES FROM ('2022-05-01 00:00+00') TO ('2022-06-01 00:00+00');
	CREATE TABLE zoned_june PARTITION OF zoned FOR VALUES FROM ('2022-06-01 00:00+00') TO ('2022-06-05 00:00+00');
	CREATE TABLE zoned_later PARTITION OF zoned FOR VALUES FROM ('2022-06-05 00:00+00') TO ('2023-01-01 00:00+00');
	CREATE TABLE zoned_last PARTITION OF zoned FOR VALUES FROM ('2023-01-01 00:00+00') TO (MAXVALUE);
	INSERT INTO zoned SELECT * FROM events;
	CREATE TABLE parts_last PARTITION OF parts FOR VALUES FROM ('2023-12-01') TO (MAXVALUE);
	INSERT INTO parts SELECT * FROM events;
	ANALYZE});

# The output of statements in a mode, and their first error.
sub rows_of
{
	my ($mode, $statements) = @_;

	$session->ask("ROLLBACK; DEALLOCATE ALL; RESET ROLE; RESET ALL; SET cuckoofilter.join_filter = $mode; $statements");
	my ($out, $err) = $session->answer;
	return ($out, $err =~ /(ERROR: .*)/ ? $1 : '');
}

# Statements have the same rows in all modes, and no error in `off`.
sub same
{
	my ($name, $statements) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my ($rows, $error) = rows_of('off', $statements);
	my %of = map { $_ => join("\n", rows_of($_, $statements)) } ('on', 'auto', 'verify');
	my @unlike = grep { $of{$_} ne "$rows\n$error" } sort keys %of;

	ok($error eq '' && !@unlike, "$name: the same rows") or diag("$statements\noff:\n$rows $error\n" . join("\n", map { "$_:\n$of{$_}" } @unlike));
	return $rows;
}

# What EXPLAIN says of a query: its plan, the share of skipped blocks, and that of partitions.
sub skipped_in
{
	my ($query) = @_;
	my $plan = explained($query);
	my ($blocks) = sort { $b <=> $a } (map { /(\d+) of (\d+)/; $2 > 0 ? $1 / $2 : 0 } $plan =~ /Blocks Skipped: (\d+ of \d+)/g), 0;
	my ($partitions) = map { /(\d+) of (\d+)/; $1 / $2 } $plan =~ /Partitions Skipped: (\d+ of \d+)/, '0 of 1';

	return ($plan, $blocks, $partitions);
}

# ------------------------------------------------------------------- EXPLAIN

my $month = "WHERE c.month = '2022-05'";

subtest 'EXPLAIN of a calendar join' => sub {
	my $plan = explained("SELECT count(*) FROM events e JOIN calendar c ON e.ts::date = c.day $month");

	like($plan, qr/Filtered Scan: \(e\.ts\)::date of events e, by ranges of ts\n/, 'the expression, and how it is filtered');
	like($plan, qr/Blocks Skipped: \d+ of \d+ by events_ts/, 'the index that skips blocks');
	my $json = explained("SELECT count(*) FROM events e JOIN calendar c ON e.ts::date = c.day $month", 'FORMAT JSON, COSTS OFF');
	like($json, qr/"Filtered Scans": \["\(e\.ts\)::date of events e, by ranges of ts"\]/, 'in JSON');
	like(explained("SELECT count(*) FROM parts e JOIN calendar c ON e.ts::date = c.day $month"), qr/Filtered Scan: \(e\.ts\)::date of parts e, 37 partitions, by ranges of ts\n/, 'partitions');
};

my @reasons = (
	[ 'lower(text)', 'SELECT count(*) FROM events e JOIN words w ON lower(e.payload) = w.word', qr/: the key is an expression that cannot be mapped to its column: lower\((?:e\.)?payload\)$/m ],
	[ 'to_char', 'SELECT count(*) FROM events e JOIN calendar c ON to_char(e.ts, \'YYYY-MM\') = c.month', qr/: the key is an expression that cannot be mapped to its column: to_char\(/m ],
	[ 'arithmetic that overflows', 'SELECT count(*) FROM events e JOIN calendar c ON e.k + 1 = c.n', qr/: the key is an expression that cannot be mapped to its column: \(/m ],
	[ 'two columns', 'SELECT count(*) FROM events e JOIN calendar c ON (e.ts + (e.k - e.k) * interval \'1 day\')::date = c.day', qr/^No Join Filter for .*: .+/m ],
	[ 'a plain column: no reason', 'SELECT count(*) FROM events e JOIN calendar c ON e.ts = c.at', qr/\A(?!.*No Join Filter)/s ],
	[ 'date = timestamp', 'SELECT count(*) FROM events e JOIN calendar c ON e.ts = c.day', qr/^No Join Filter for .*: PostgreSQL cannot hash timestamp without time zone = date: cast the small side, or the timestamp to date/m, 1 ],
	[ "date_trunc('day', ts) = date", 'SELECT count(*) FROM events e JOIN calendar c ON date_trunc($$day$$, e.ts) = c.day', qr/^No Join Filter for .*: PostgreSQL cannot hash date = timestamp without time zone: cast the small side, or the timestamp to date/m, 1 ]);

subtest 'reasons of joins without a filter' => sub {
	like(explained("SET enable_mergejoin = on; $_->[1]", 'COSTS OFF'), $_->[2], $_->[0]) foreach @reasons;
};

# Mapping keys has a price, which so few rows do not save.
my $all_days = "SET cuckoofilter.join_filter = auto; SELECT e.id FROM events e JOIN calendar c ON e.ts::date = c.day";
like(explained($all_days, 'COSTS OFF'), qr/by ranges of ts\n/, 'auto: all rows, by ranges');
like(explained("$all_days LIMIT 5", 'COSTS OFF'), qr/^No Join Filter for .*: it is not expected to pay$/m, 'auto: LIMIT, no ranges');
# Nor do they save what a filter of few keys costs before its first row.
like(explained("$all_days $month LIMIT 5", 'COSTS OFF'), qr/^No Join Filter for .*: it is not expected to pay$/m, 'auto: LIMIT of a month, no ranges');
unlike(explained("SET cuckoofilter.join_filter = on; SELECT e.id FROM events e JOIN calendar c ON e.ts::date = c.day $month LIMIT 5", 'COSTS OFF'), qr/No Join Filter/, 'on: ranges');

# The table of the ranges is as small as they allow, and passes few other rows.
foreach my $of ($month, "WHERE c.month IN ('2021-02', '2022-05', '2023-11')", 'WHERE c.n % 45 = 7', 'WHERE c.n % 3 = 1')
{
	my $join = "FROM plain e JOIN calendar c ON e.ts::date = c.day $of";
	my $match = sql("SELECT count(*) $join");
	my ($tested, $removed) = explained("SELECT count(*) $join") =~ /Rows Tested: (\d+)  Removed: (\d+)/;

	ok($tested - $removed >= $match && $tested - $removed <= 1.02 * $match + 2, "ranges pass few rows without a match: $of") or diag("$tested - $removed, $match");
}

# ----------------------------------------------------- blocks and partitions

# Of a join: its name, the table, the key, a condition on the calendar, the least share of blocks and of partitions that are
# skipped.
my @cases = (
	[ 'a month', 'events', 'ts::date = c.day', $month, 0.9, 0 ],
	[ 'three months', 'events', 'ts::date = c.day', "WHERE c.month IN ('2021-02', '2022-05', '2023-11')", 0.85, 0 ],
	[ '24 scattered days', 'events', 'ts::date = c.day', "WHERE c.n % 45 = 7", 0.8, 0 ],
	[ 'a year', 'events', 'ts::date = c.day', 'WHERE c.year = 2022', 0.6, 0 ],
	[ 'a month of timestamptz', 'events', 'tz::date = c.day', $month, 0.9, 0 ],
	[ 'a month by its first day', 'events', "date_trunc('month', ts) = c.at", "WHERE c.month = '2022-05'", 0.9, 0 ],
	[ 'days by date_trunc', 'events', "date_trunc('day', ts) = c.at", $month, 0.9, 0 ],
	[ 'days by date_trunc of timestamptz', 'events', "date_trunc('day', tz, 'UTC') = c.tz", $month, 0.9, 0 ],
	[ 'date_trunc in a zone with daylight saving time', 'events', "date_trunc('day', tz, 'Europe/Berlin') = c.tz - interval '2 hours'", $month, 0.9, 0 ],
	[ 'AT TIME ZONE', 'events', "(tz AT TIME ZONE 'Europe/Berlin')::date = c.day", $month, 0.9, 0 ],
	[ 'timestamptz as timestamp', 'events', "date_trunc('day', tz::timestamp) = c.at", $month, 0.9, 0 ],
	[ 'an hour of a day', 'events', "date_trunc('hour', ts) = c.at + interval '8 hours'", $month, 0.9, 0 ],
	[ 'integer as bigint', 'events', 'k::bigint = c.n', 'WHERE c.n < 100', 0.9, 0 ],
	[ 'smallint as integer', 'events', 's::integer = c.year - 1000', 'WHERE true', 0.9, 0 ],
	[ 'integer as numeric', 'events', 'k::numeric = c.n::numeric', 'WHERE c.n < 100', 0.9, 0 ],
	[ 'bigint as double precision', 'events', 'l::float8 = c.n * 7.0::float8', 'WHERE c.n < 100', 0.9, 0 ],
	[ 'a B-tree', 'shuffled', 'ts::date = c.day', 'WHERE c.n = 300', 0.9, 0 ],
	[ 'a B-tree of timestamptz', 'shuffled', 'tz::date = c.day', 'WHERE c.n = 300', 0.9, 0 ],
	[ 'partitions, a month', 'parts', 'ts::date = c.day', $month, 0, 0.9 ],
	[ 'partitions, three months', 'parts', 'ts::date = c.day', "WHERE c.month IN ('2021-02', '2022-05', '2023-11')", 0, 0.85 ],
	[ 'partitions, a month by its first day', 'parts', "date_trunc('month', ts) = c.at", $month, 0, 0.9 ],
	[ 'partitions, a composition', 'parts', "date_trunc('month', ts)::date = c.day", $month, 0, 0.9 ],
	[ 'partitions of timestamptz', 'zoned', 'tz::date = c.day', "WHERE c.n IN (514, 515)", 0, 0.8 ],
	[ 'no index', 'plain', 'ts::date = c.day', $month, 0, 0 ]);

foreach my $case (@cases)
{
	my ($name, $table, $on, $where, $blocks, $partitions) = @$case;
	my $query = "SELECT count(*), sum(e.id), sum(c.n) FROM $table e JOIN calendar c ON e.$on $where";

	$query =~ s/e\.(date_trunc\('\w+', |\()(?=t)/$1e./;
	subtest $name => sub {
		foreach my $mode ('on', 'auto')
		{
			my $set = "SET cuckoofilter.join_filter = $mode; SET TimeZone = 'UTC';";
			my ($plan, $skipped_blocks, $skipped_partitions) = skipped_in("$set $query");

			like($plan, qr/, by ranges of \w+\n/, "$mode: by ranges") or diag($plan);
			cmp_ok($skipped_blocks, '>=', $mode eq 'on' || $name !~ /scattered/ ? $blocks : 0, "$mode: blocks") or diag($plan); # auto: too many searches for so small a table
			cmp_ok($skipped_partitions, '>=', $partitions, "$mode: partitions") or diag($plan);
			like($plan, qr/Removed: [1-9]/, "$mode: rows are dropped at the scan") if $blocks == 0 && $partitions == 0;
		}
	};
	same($name, "SET TimeZone = 'UTC'; $query");
}

# The same join where the expression stands below it, with another dimension, workers and rescans.
my %below = (
	'a subquery' => "SELECT count(*), sum(id) FROM (SELECT ts::date AS day, id FROM events) e JOIN calendar c USING (day) $month",
	'a subquery that stays' => "SELECT count(*), sum(id) FROM (SELECT ts::date AS day, id FROM events OFFSET 0) e JOIN calendar c USING (day) $month",
	'a grouping' => "SELECT count(*), sum(s) FROM (SELECT ts::date AS day, sum(id) AS s FROM events GROUP BY 1) e JOIN calendar c USING (day) $month",
	'two steps' => "SELECT count(*), sum(id) FROM (SELECT date_trunc('day', ts) AS start, id FROM events OFFSET 0) e JOIN calendar c ON e.start::date = c.day $month",
	'a second dimension' => "SELECT count(*), sum(id) FROM events e JOIN calendar c ON e.ts::date = c.day JOIN words w ON w.word = 'word ' || e.id % 50 $month",
	'workers' => "SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET max_parallel_workers_per_gather = 2; SELECT count(*), sum(id) FROM events e JOIN calendar c ON e.ts::date = c.day $month",
	'rescans' => "SELECT g, x.* FROM generate_series(1, 4) g, LATERAL (SELECT count(*), sum(e.id) FROM events e JOIN calendar c ON e.ts::date = c.day $month AND e.id % 4 < g OFFSET 0) x",
	'keys of each rescan' => 'SELECT g, x.* FROM generate_series(1, 4) g, LATERAL (SELECT count(*), sum(e.id) FROM events e JOIN calendar c ON e.ts::date = c.day WHERE c.n / 10 = g * 20 OFFSET 0) x',
	'a barrier' => "CREATE OR REPLACE VIEW behind WITH (security_barrier) AS SELECT * FROM events WHERE leaks(id); SELECT count(*), sum(e.id) FROM behind e JOIN calendar c ON e.ts::date = c.day $month");

foreach my $name (sort keys %below)
{
	subtest $name => sub {
		my ($plan, $blocks) = skipped_in($below{$name});

		like($plan, qr/, by ranges of ts\n/, 'by ranges');
		cmp_ok($blocks, '>', 0.7, 'blocks are skipped');
	  }
	  unless $name =~ /rescan|barrier/; # where a rescan may have no filter, and a function might tell of hidden rows
	same($name, $below{$name});
}

# ------------------------------------------------------------ a day and a plain key

sql(q{CREATE TABLE sales AS SELECT *, id % 40 AS store FROM events;
	CREATE INDEX sales_ts ON sales USING brin (ts) WITH (pages_per_range = 4);
	CREATE INDEX sales_tz ON sales USING brin (tz) WITH (pages_per_range = 4);
	CREATE TABLE openings AS SELECT DISTINCT ts::date AS day, id % 40 AS store, s, to_char(ts, 'YYYY-MM') AS month FROM events WHERE id % 3 = 0;
	ANALYZE sales, openings});

# Of a join with both keys: a setting, the table, the condition, the least share of blocks and of partitions that are skipped.
my %both = (
	'day, store' => [ '', 'sales', 'e.ts::date = c.day AND e.store = c.store', 0.9, 0 ],
	'store, day' => [ '', 'sales', 'e.store = c.store AND e.ts::date = c.day', 0.9, 0 ],
	'day in a zone, store' => [ "SET TimeZone = 'Europe/Berlin';", 'sales', 'e.tz::date = c.day AND e.store = c.store', 0.9, 0 ],
	'day, two plain keys' => [ '', 'sales', 'e.ts::date = c.day AND e.store = c.store AND e.s = c.s', 0.9, 0 ],
	'partitions' => [ '', 'parts', 'e.ts::date = c.day AND e.s = c.s', 0, 0.9 ],
	'workers' => [ 'SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET max_parallel_workers_per_gather = 2;', 'sales', 'e.ts::date = c.day AND e.store = c.store', 0.7, 0 ]);

foreach my $name (sort keys %both)
{
	my ($set, $table, $on, $blocks, $partitions) = @{ $both{$name} };
	my $query = "$set SELECT count(*), sum(e.id) FROM $table e JOIN openings c ON $on WHERE c.month = '2022-05'";

	subtest "a day and a plain key: $name" => sub {
		foreach my $mode ('on', 'auto')
		{
			my ($plan, $skipped_blocks, $skipped_partitions) = skipped_in("SET cuckoofilter.join_filter = $mode; $query");

			like($plan, qr/, by ranges of t[sz]\n/, "$mode: ranges of the day") or diag($plan);
			like($plan, qr/Filtered Scan: (?:e\.)?(?:store|s)\b[^()]* of /, "$mode: a filter of the plain key") or diag($plan);
			cmp_ok($skipped_blocks, '>=', $blocks, "$mode: blocks") or diag($plan);
			cmp_ok($skipped_partitions, '>=', $partitions, "$mode: partitions") or diag($plan);
		}
	};
	like(same("a day and a plain key: $name", $query), qr/^[1-9]/, 'it has rows');
}
same('a day and a plain key: SEMI', "SELECT count(*), sum(e.id) FROM sales e WHERE (e.ts::date, e.store) IN (SELECT day, store FROM openings WHERE month = '2022-05')");
same('a day and a plain key: LEFT', "SELECT count(*), sum(e.id), count(c.day) FROM sales e LEFT JOIN openings c ON e.ts::date = c.day AND e.store = c.store AND c.month = '2022-05'");
same('a day and a plain key: rescans', "SELECT g, x.* FROM generate_series(1, 4) g, LATERAL (SELECT count(*), sum(e.id) FROM sales e JOIN openings c ON e.ts::date = c.day AND e.store = c.store WHERE c.month = '2022-05' AND e.id % 4 < g OFFSET 0) x");
same("a day and a plain key: SET $_", "SET TimeZone = 'Europe/Berlin'; BEGIN; DECLARE c CURSOR FOR SELECT e.id FROM sales e JOIN openings c ON e.tz::date = c.day AND e.store = c.store WHERE c.month = '2022-05'; FETCH 9 FROM c; SET TimeZone = '$_'; FETCH ALL FROM c; ROLLBACK") foreach ('Pacific/Honolulu', 'Pacific/Kiritimati');

# ------------------------------------------------------------ where time goes back

# Rows near changes of time, in each place, and a query for each of the keys whose rows are furthest apart: all modes give
# the same rows.
sub changes
{
	my ($zone, $rows, @keys) = @_;

	$session->query("RESET ALL; SET TimeZone = '$zone'; DROP TABLE IF EXISTS near, near_plain, near_tree, near_parts; CREATE TABLE near AS SELECT row_number() OVER () AS id, tz, repeat('x', 500) AS filler FROM ($rows) r ORDER BY tz");
	$session->query('CREATE TABLE near_plain AS SELECT * FROM near; CREATE TABLE near_tree AS SELECT * FROM near ORDER BY hashint8(id); CREATE INDEX ON near_tree (tz); CREATE INDEX ON near USING brin (tz) WITH (pages_per_range = 1)');
	$session->query('CREATE TABLE near_parts (LIKE near) PARTITION BY RANGE (tz); CREATE TABLE near_default PARTITION OF near_parts DEFAULT');
	my @bounds = split(/\n/, $session->query('SELECT DISTINCT min(tz) FROM (SELECT tz, ntile(10) OVER (ORDER BY tz) AS n FROM near) t GROUP BY n ORDER BY 1'));
	$session->query("CREATE TABLE near_$_ PARTITION OF near_parts FOR VALUES FROM ('$bounds[$_ - 1]') TO ('$bounds[$_]')") foreach (1 .. $#bounds);
	$session->query('INSERT INTO near_parts SELECT * FROM near; ANALYZE near, near_tree, near_plain, near_parts');

	foreach my $key (@keys)
	{
		$session->query("DROP TABLE IF EXISTS near_keys; CREATE TABLE near_keys AS SELECT $key AS k, row_number() OVER (ORDER BY max(tz) - min(tz) DESC) AS n FROM near e GROUP BY 1; DELETE FROM near_keys WHERE n > 12; ANALYZE near_keys");
		my $keys = $session->query('SELECT count(*) FROM near_keys');
		my @unlike;

		foreach my $table ('near', 'near_tree', 'near_parts', 'near_plain')
		{
			my %rows = map {
				my $mode = $_;

				$mode => join(' ', rows_of($mode, join('; ', "SET TimeZone = '$zone'", map { "SELECT count(*), sum(e.id) FROM $table e JOIN near_keys ON $key = k WHERE n = $_" } (1 .. $keys))))
			} ('off', 'on', 'verify');
			push(@unlike, "$table, $_") foreach grep { $rows{$_} ne $rows{off} } ('on', 'verify');
		}
		ok($keys > 0 && !@unlike, "$zone, $key: the same rows for each of $keys keys") or diag(join('; ', @unlike));
	}
	return;
}

# SQL of rows from so many minutes before a time until after it, each so many seconds, and of the microseconds beside hours.
sub around
{
	my ($time, $minutes, $seconds) = @_;
	return "SELECT t + o * interval '1 microsecond' AS tz FROM (VALUES (0), (-1), (1)) m(o), generate_series($time - interval '$minutes minutes', $time + interval '$minutes minutes', '$seconds seconds') t WHERE o = 0 OR extract(minute FROM t) = 0";
}

my @of_day = ('e.tz::date', "date_trunc('day', e.tz)");

# In St. John's it fell back at 00:01 to 23:01 of the day before, each autumn until 2010.
my $autumns = join(' UNION ALL ', map { '(' . around("timestamptz '$_ 02:31+00'", 75, 60) . ')' } ('1990-10-28', '2004-10-31', '2005-10-30', '2006-10-29', '2007-11-04'));
changes('America/St_Johns', around("timestamptz '2006-10-29 02:31+00'", 200, 20), @of_day, 'e.tz::timestamp', "date_trunc('hour', e.tz::timestamp)");
changes('America/St_Johns', $autumns, @of_day);
changes('America/Juneau', around("timestamptz '1867-10-18 12:00+00'", 4500, 1200), @of_day, 'e.tz::timestamp', "date_trunc('month', e.tz)");
changes('UTC', around("timestamptz '1867-10-18 12:00+00'", 4500, 1200), "(e.tz AT TIME ZONE 'America/Juneau')::date", "date_trunc('day', e.tz, 'America/Juneau')");
changes('UTC', around("timestamptz '2006-10-29 02:31+00'", 200, 20), "(e.tz AT TIME ZONE 'America/St_Johns')::date", "date_trunc('day', e.tz, 'America/St_Johns')", "e.tz AT TIME ZONE 'America/St_Johns'");
changes('Pacific/Apia', around("timestamptz '2011-12-30 10:00+00'", 4500, 1200), @of_day, 'e.tz::timestamp');
changes('Pacific/Kwajalein', around("timestamptz '1969-10-01 00:00+00'", 4500, 1200), @of_day);
changes('America/Sao_Paulo', around("timestamptz '2019-02-17 02:00+00'", 200, 60), @of_day);
changes('America/Sao_Paulo', around("timestamptz '2018-11-04 03:00+00'", 200, 60), @of_day);
changes('Africa/Cairo', around("timestamptz '2023-10-26 21:00+00'", 200, 60), @of_day);

# Rows at both edges of the ranges, where no zone widens them; also integers.
changes('UTC', around("timestamp '2022-05-01 00:00'", 3600, 1200), 'e.tz::date', map { "date_trunc('$_', e.tz)" } ('hour', 'day', 'month'));
changes('UTC', 'SELECT g AS tz FROM generate_series(-40, 40) g', 'e.tz::bigint', 'e.tz::numeric', 'e.tz::float8', 'e.tz / 7');

# The day that Apia left out has no row: all are dropped.
is(same('the day that Apia left out', "SET TimeZone = 'Pacific/Apia'; SELECT count(*) FROM events e JOIN (SELECT date '2011-12-30' AS d) k ON (e.tz - interval '10 years 100 days')::date = d"), 0, 'that day has no rows');

# ------------------------------------------------------- a zone that changes

# The last days of a month, and one later. A zone is 60 hours behind: the month ends in the next partition, and further away than
# ranges are wider for zones.
my @later = ('<far>60', 'America/Los_Angeles', 'Pacific/Apia');
my $days = "calendar c ON %s = c.day WHERE c.day BETWEEN '2022-05-28' AND '2022-05-31' OR c.day = '2023-02-01'";
foreach my $table ('events', 'plain', 'zoned', 'shuffled')
{
	foreach my $zone ($table eq 'events' ? @later : $later[0])
	{
		my $query = "SELECT e.id, c.day FROM $table e JOIN " . sprintf($days, 'e.tz::date');
		my %cases = (
			'FETCH' => "BEGIN; DECLARE c CURSOR FOR $query; FETCH 9 FROM c; SET TimeZone = '$zone'; FETCH ALL FROM c; ROLLBACK",
			'FETCH twice' => "BEGIN; DECLARE c CURSOR FOR $query; FETCH 9 FROM c; SET TimeZone = '$zone'; FETCH 10 FROM c; SET TimeZone = 'Europe/Berlin'; FETCH ALL FROM c; ROLLBACK",
			'before the first row' => "BEGIN; DECLARE c CURSOR FOR $query; SET TimeZone = '$zone'; FETCH ALL FROM c; ROLLBACK",
			'after the keys' => "BEGIN; DECLARE c CURSOR FOR $query; FETCH 1 FROM c; SET TimeZone = '$zone'; FETCH ALL FROM c; ROLLBACK",
			'set_config' => "SELECT e.id, c.day, set_config('timezone', '$zone', false) FROM $table e JOIN " . sprintf($days, 'e.tz::date'),
			'set_config below a sort' => "SELECT id, day FROM (SELECT e.id, c.day, set_config('timezone', CASE WHEN e.id % 2 = 0 THEN '$zone' ELSE 'Europe/Berlin' END, false) AS z FROM $table e JOIN " . sprintf($days, 'e.tz::date') . ' OFFSET 0) x ORDER BY z, id',
			'rows kept by a sort' => "BEGIN; DECLARE c CURSOR FOR SELECT e.id, c.day FROM (SELECT * FROM $table ORDER BY tz, id OFFSET 0) e JOIN " . sprintf($days, 'e.tz::date') . "; FETCH 9 FROM c; SET TimeZone = '$zone'; FETCH ALL FROM c; ROLLBACK",
			'rows kept by a merge' => "BEGIN; CREATE INDEX ON $table (id); SET LOCAL enable_sort = off; SET LOCAL enable_seqscan = off; SET LOCAL cursor_tuple_fraction = 1; DECLARE c CURSOR FOR SELECT e.id, c.day FROM (SELECT * FROM $table ORDER BY id OFFSET 0) e RIGHT JOIN calendar c ON e.tz::date = c.day WHERE c.day BETWEEN '2022-05-28' AND '2022-05-30'; FETCH 9 FROM c; SET TimeZone = '$zone'; FETCH ALL FROM c; ROLLBACK",
			'PREPARE' => "SET plan_cache_mode = force_generic_plan; PREPARE p AS SELECT count(*), sum(e.id) FROM $table e JOIN " . sprintf($days, 'e.tz::date') . "; EXECUTE p; SET TimeZone = '$zone'; EXECUTE p; DEALLOCATE p; RESET plan_cache_mode",
			'date_trunc' => "BEGIN; DECLARE c CURSOR FOR SELECT e.id FROM $table e JOIN calendar c ON date_trunc('day', e.tz) = c.day::timestamptz WHERE c.n BETWEEN 514 AND 516; FETCH 9 FROM c; SET TimeZone = '$zone'; FETCH ALL FROM c; ROLLBACK",
			'a zone that stays' => "BEGIN; DECLARE c CURSOR FOR SELECT e.id FROM $table e JOIN " . sprintf($days, "(e.tz AT TIME ZONE 'Europe/Berlin')::date") . "; FETCH 9 FROM c; SET TimeZone = '$zone'; FETCH ALL FROM c; ROLLBACK");

		foreach my $case (sort keys %cases)
		{
			same("$table, $zone, $case", "SET TimeZone = 'Europe/Berlin'; $cases{$case}");
		}
	}
}

# A loop of PL/pgSQL that sets the zone, and a portal of the protocol: between planning and start, start and first row, rows.
sql(
	q{CREATE FUNCTION in_two_zones() RETURNS text LANGUAGE plpgsql AS $$DECLARE r record; ids text = ''; BEGIN
	FOR r IN SELECT e.id FROM events e JOIN calendar c ON e.tz::date = c.day WHERE c.n IN (500, 501) LOOP ids := ids || ' ' || r.id; PERFORM set_config('timezone', 'Pacific/Honolulu', false); END LOOP; RETURN ids; END$$});
like(same('a loop of PL/pgSQL that sets the zone', "SET TimeZone = 'Europe/Berlin'; SELECT in_two_zones()"), qr/\d \d/, 'it has rows');

foreach my $when (0 .. 2)
{
	my %rows = map {
		my $portal = CuckooPortal->new($node);
		my @rows = map { $portal->query($_) } ("SET cuckoofilter.join_filter = $_", "SET TimeZone = 'Europe/Berlin'", 'BEGIN');

		$portal->plan('SELECT e.id FROM events e JOIN calendar c ON e.tz::date = c.day WHERE c.n IN (500, 501)');
		$portal->query("SET TimeZone = 'Pacific/Honolulu'") if $when == 0;
		$portal->start;
		$portal->query("SET TimeZone = 'Pacific/Honolulu'") if $when == 1;
		push(@rows, $portal->fetch(3));
		$portal->query("SET TimeZone = 'Pacific/Honolulu'") if $when == 2;
		push(@rows, $portal->fetch);
		$_ => join("\n", @rows)
	} ('off', 'on', 'verify');

	like($rows{off}, qr/\d\n\d/, "a portal, SET number $when: there are rows");
	is($rows{$_}, $rows{off}, "a portal, SET number $when: the same rows, $_") foreach ('on', 'verify');
}

# -------------------------------------------------------------------- errors

# A query has no error that `off` has not.
sub no_new_error
{
	my ($name, $query) = @_;
	my %result = map { $_ => [ rows_of($_, $query) ] } ('off', 'on', 'auto', 'verify');
	my ($out, $error) = @{ $result{off} };

	my @unlike = grep { my ($mode_out, $mode_error) = @{ $result{$_} }; $mode_error eq $error ? $error eq '' && $mode_out ne $out : $error eq '' || $mode_error ne '' } ('on', 'auto', 'verify');

	ok(!@unlike, "$name: no " . ($error eq '' ? 'error' : 'other error')) or diag("$query\n" . join("\n", map { "$_: @{ $result{$_} }" } ('off', @unlike)));
	return $error;
}

sql(
	q{
	CREATE TABLE limits AS SELECT g AS id, ts, ts AT TIME ZONE 'UTC' AS tz FROM (SELECT g, timestamp '2022-01-01' + g * interval '1 hour' AS ts FROM generate_series(1, 2000) g) t;
	CREATE TABLE ends AS SELECT * FROM limits;
	INSERT INTO ends SELECT -row_number() OVER (), t, t AT TIME ZONE 'UTC' FROM unnest(array['4714-11-24 00:00:00 BC', '4714-11-24 13:00:00 BC', '4714-12-31 BC', '4713-01-01 BC', '294276-12-31 23:59:59.999999', '294276-12-31 01:00', '294276-12-01', 'infinity', '-infinity', '0001-01-01', '0001-12-31 23:59:59.999999 BC']::timestamp[]) t;
	CREATE TABLE numbers AS SELECT g AS id, g::smallint AS s, g AS k, g::bigint AS l FROM generate_series(1, 2000) g;
	CREATE TABLE end_numbers AS SELECT * FROM numbers;
	INSERT INTO end_numbers VALUES (-1, 32767, 2147483647, 9223372036854775807), (-2, -32768, -2147483648, -9223372036854775808), (-3, 0, 0, 0), (-4, -1, -1, 9007199254740993), (-5, 7, 7, 9007199254740992);
	CREATE TABLE guarded AS SELECT id, ts::moment AS ts, k::small AS k FROM limits JOIN numbers USING (id)} . join('', map { my ($table, @columns) = @$_; map { "; CREATE INDEX ON $table USING brin ($_) WITH (pages_per_range = 1)" } @columns } [ 'limits', 'ts', 'tz' ], [ 'ends', 'ts', 'tz' ], [ 'numbers', 's', 'k', 'l' ], [ 'end_numbers', 's', 'k', 'l' ], [ 'guarded', 'ts', 'k' ]) . '; ANALYZE');

my @special = ("'infinity'", "'-infinity'", "'4714-11-24 BC'", "'294276-12-31'", "'2022-02-03'");
my @of_timestamp = ('e.ts::date|date', (map { "date_trunc('$_', e.ts)|timestamp" } qw(hour day week month quarter year decade century millennium)), "date_trunc('decade', date_trunc('decade', date_trunc('decade', e.ts - interval '400 days') - interval '1 day') - interval '1 day')|timestamp", "date_trunc('millennium', date_trunc('century', e.ts) - interval '100 days')::date|date", "(date_trunc('month', e.ts))::date|date", "e.ts AT TIME ZONE 'Pacific/Kiritimati'|timestamptz", "e.ts::timestamptz|timestamptz", "(e.ts + interval '1 day')::date|date", "(e.ts - interval '1 month')::date|date");
my @of_timestamptz = ('e.tz::date|date', 'e.tz::timestamp|timestamp', (map { ("date_trunc('$_', e.tz)|timestamptz", "date_trunc('$_', e.tz, 'Pacific/Kiritimati')|timestamptz") } qw(hour day week month year millennium)), "e.tz AT TIME ZONE 'Pacific/Kiritimati'|timestamp", "e.tz AT TIME ZONE 'Etc/GMT+12'|timestamp", "(e.tz AT TIME ZONE 'Pacific/Kiritimati')::date|date");
my %errors;

foreach my $key (@of_timestamp, @of_timestamptz)
{
	my ($of, $type) = split(/\|/, $key);

	foreach my $table ('limits', 'ends')
	{
		my $name = "$table, $of";
		my $error = no_new_error($name, join('; ', map { my $zone = $_; map { "SET TimeZone = '$zone'; SELECT count(*), sum(id) FROM $table e JOIN (SELECT $_\::$type AS k OFFSET 0) k ON $of = k" } @special } ('Pacific/Kiritimati', 'Etc/GMT+12')));

		$errors{$table}++ if $error ne '';
	}
	no_new_error("$of, all special keys", "SET TimeZone = 'UTC'; SELECT count(*), sum(id) FROM ends e JOIN (SELECT unnest(array[" . join(', ', @special) . "]::$type\[]) AS k) k ON $of = k WHERE id > 0");
	no_new_error("$of, hidden rows", "CREATE OR REPLACE VIEW usual WITH (security_barrier) AS SELECT * FROM ends WHERE id > 0; SELECT count(*), sum(id) FROM usual e JOIN (SELECT unnest(array[" . join(', ', @special) . "]::$type\[]) AS k) k ON $of = k");
}
cmp_ok($errors{ends}, '>', 5, 'some of these fail at the limits');

foreach my $key ('e.s::integer|integer', 'e.s::bigint|bigint', 'e.k::bigint|bigint', 'e.k::numeric|numeric', 'e.l::numeric|numeric', 'e.l::float8|float8', 'e.k::float8|float8', 'e.k::float8|real', 'e.l::float8|real', 'e.k::bigint|smallint', 'e.s::bigint|integer', 'e.k / 100|bigint', 'e.l / 1000|bigint', 'e.k / -7|bigint', 'e.k / 0|bigint', 'e.k % 7|bigint', '-e.k|integer', 'abs(e.k)|integer', 'e.k + 1|bigint', 'e.k::smallint|integer', 'e.k::oid|oid', 'e.k::numeric::float8|float8', '(e.k::small)|integer')
{
	my ($of, $type) = split(/\|/, $key);
	my %keys = (
		integer => "('-2147483648'), ('2147483647'), ('0'), ('-1'), ('1'), ('77'), ('32767')",
		bigint => "('-9223372036854775808'), ('9223372036854775807'), ('-2147483648'), ('2147483647'), ('4294967296'), ('0'), ('1'), ('-1'), ('77')",
		numeric => "('NaN'), ('infinity'), ('-infinity'), ('1e1000'), ('-1e1000'), ('77.0'), ('77.5'), ('0'), ('-0.1'), ('2147483647'), ('-2147483648'), ('2147483648'), ('9223372036854775807'), ('9223372036854775808'), ('9007199254740993')",
		float8 => "('NaN'), ('infinity'), ('-infinity'), ('1e300'), ('-1e300'), ('77'), ('77.5'), ('0'), ('-0'), ('2147483647'), ('9223372036854775807'), ('9007199254740992'), ('9007199254740994')",
		real => "('NaN'), ('infinity'), ('1e30'), ('77'), ('77.5'), ('0'), ('-0'), ('1777')",
		smallint => "('-32768'), ('32767'), ('0'), ('-1'), ('77')",
		oid => "('0'), ('77'), ('4294967295'), ('2147483648'), ('2147483647')");

	foreach my $table ('numbers', 'end_numbers')
	{
		my @one = split(/, /, $keys{$type});

		no_new_error("$table, $of = $type", join('; ', map { "SELECT count(*), sum(id) FROM $table e JOIN (VALUES $_) v(x) ON $of = v.x::$type" } $keys{$type}, @one));
	}
}

# Values that bisection would try, and a domain refuses; functions and casts with names of PostgreSQL's own.
same(@$_) foreach (
	[ 'a domain over timestamp', "SELECT count(*), sum(id) FROM guarded e JOIN calendar c ON e.ts::date = c.day $month" ],
	[ 'a cast to a domain', "SELECT count(*), sum(id) FROM limits e JOIN calendar c ON e.ts::moment::date = c.day WHERE c.n BETWEEN 400 AND 420" ],
	[ 'a domain over integer', 'SELECT count(*), sum(id) FROM guarded e JOIN calendar c ON e.k::bigint = c.n WHERE c.n < 50' ],
	[ 'a cast of integer to a domain', 'SELECT count(*), sum(id) FROM numbers e JOIN calendar c ON e.k::small::bigint = c.n WHERE c.n < 50' ],
	[ 'a function named date', "SELECT count(*), sum(id) FROM events e JOIN (SELECT date '2000-01-07' AS d) c ON mine.date(e.ts) = d" ],
	[ 'a function named date_trunc', "SET search_path = mine, pg_catalog, public; SELECT count(*), sum(id) FROM events e JOIN (SELECT timestamp '2000-01-01 07:00' AS d) c ON date_trunc('day', ts) = d" ],
	[ 'a cast of bigint to date', "SELECT count(*), sum(id) FROM events e JOIN (SELECT date '2000-01-07' AS d) c ON e.l::date = d" ]);

# Orders of a user: of a partition key, and of types that a cast without a function reads as others.
sql(q{CREATE FUNCTION reverse_cmp(timestamp, timestamp) RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT timestamp_cmp($2, $1)';
	CREATE OPERATOR CLASS reverse_ops FOR TYPE timestamp USING btree AS OPERATOR 1 >, OPERATOR 2 >=, OPERATOR 3 =, OPERATOR 4 <=, OPERATOR 5 <, FUNCTION 1 reverse_cmp(timestamp, timestamp);
	CREATE TABLE backwards (LIKE events) PARTITION BY RANGE (ts reverse_ops);
	CREATE TABLE backwards_1 PARTITION OF backwards FOR VALUES FROM (MINVALUE) TO ('2022-06-01');
	CREATE TABLE backwards_2 PARTITION OF backwards FOR VALUES FROM ('2022-06-01') TO (MAXVALUE);
	INSERT INTO backwards SELECT * FROM events;
	CREATE CAST (integer AS date) WITHOUT FUNCTION; CREATE CAST (timestamp AS float8) WITHOUT FUNCTION;
	CREATE TABLE coerced AS SELECT g AS id, g - 3 AS i, timestamp '0500-01-01' + g * interval '7 days' AS ts FROM generate_series(1, 4000) g;
	INSERT INTO coerced VALUES (0, 2147483647), (-1, -2147483648);
	ANALYZE backwards, coerced});
like(same(@$_), qr/^[1-9]/, "$_->[0]: it has rows") foreach (
	[ 'partitions in another order', "SELECT count(*), sum(id) FROM backwards e JOIN (SELECT date '2022-05-29' + g AS day FROM generate_series(0, 6) g) c ON e.ts::date = c.day" ],
	[ 'integers that are dates', "SELECT count(*), sum(id) FROM coerced e JOIN (SELECT date '2000-01-07' + g AS day FROM generate_series(0, 9) g UNION ALL SELECT 'infinity') c ON e.i::date + 1 = c.day" ],
	[ 'timestamps that are numbers', 'SELECT count(*), sum(e.id) FROM coerced e JOIN (SELECT ts::float8 AS f FROM coerced WHERE id % 900 = 7) c ON date_trunc($$day$$, e.ts)::float8 = c.f' ]);
sql('DROP CAST (integer AS date); DROP CAST (timestamp AS float8)');

# A timestamptz that is read as a timestamp, by its index and in a subquery, where the type cannot be seen above.
sql(q{CREATE TYPE moments; CREATE FUNCTION moments_in(cstring) RETURNS moments LANGUAGE internal IMMUTABLE STRICT AS 'timestamp_in'; CREATE FUNCTION moments_out(moments) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'timestamp_out';
	CREATE TYPE moments (INPUT = moments_in, OUTPUT = moments_out, INTERNALLENGTH = 8, PASSEDBYVALUE, ALIGNMENT = double);
	CREATE CAST (timestamptz AS moments) WITHOUT FUNCTION; CREATE CAST (moments AS timestamp) WITHOUT FUNCTION});
like(same(@$_), qr/^[1-9]/, "$_->[0]: it has rows") foreach (
	[ 'a function of a column that is read as another type', "SET TimeZone = 'Pacific/Kiritimati'; SELECT count(*), sum(e.id) FROM (SELECT id, tz::moments::timestamp AS ts FROM events OFFSET 0) e JOIN calendar c ON e.ts::date = c.day WHERE c.day IN ('2022-03-03', '2022-07-04')" ],
	[ 'a column that is read as another type', "SET TimeZone = 'Pacific/Kiritimati'; SELECT count(*), sum(e.id) FROM events e JOIN (SELECT tz::moments::timestamp AS ts FROM events WHERE id % 5000 = 77 OFFSET 0) c ON e.tz::moments::timestamp = c.ts" ]);

# An abbreviation may have a name of up to ten characters.
is(join(' ', map { explained("SELECT count(*) FROM events e JOIN calendar c ON (e.tz AT TIME ZONE '$_')::date = c.day $month", 'COSTS OFF') =~ /by ranges/ ? 'mapped' : 'not' } ('Europe/Berlin', 'UTC', 'Asia/Tokyo', 'CET')), 'mapped mapped not not', 'zones that may be abbreviations');

# The build side is read again, after its own keys have changed with the zone; and a zone that changes between the matches of a row.
sql(q{CREATE TABLE starts AS SELECT timestamptz '2021-02-10 20:00+00' + g * interval '2 days' AS tz, repeat('y', 300) AS filler FROM generate_series(1, 1000) g;
	CREATE TABLE thrice AS SELECT timestamptz '2022-05-10 20:00+00' AS tz FROM generate_series(1, 3); ANALYZE starts, thrice});
same('a build side that is read again in another zone', q{SET enable_material = off; SET work_mem = '64kB'; SET TimeZone = 'UTC'; BEGIN; DECLARE c CURSOR FOR SELECT o.id, x.id, length(x.filler) FROM (VALUES (1), (2)) o(id)
	LEFT JOIN (SELECT e.id, s.filler FROM (SELECT id, ts::date AS d FROM events ORDER BY id OFFSET 0) e JOIN starts s ON e.d = s.tz::date OFFSET 0) x ON o.id > 0; FETCH 5 FROM c; SET LOCAL TimeZone = 'Asia/Tokyo'; FETCH ALL FROM c; ROLLBACK});

# Or with the role, the schema, an abbreviation or XML.
my @varying = (
	[ 'schema', 'search_path', 's2', 's1, public', "CASE WHEN g % 2 = 0 THEN 's1' ELSE 's2' END = current_schema" ],
	[ 'role', 'role', 'reader', 'none', "(g % 2 = 0) = (current_role = 'reader')" ],
	[ 'abbreviations', 'timezone_abbreviations', 'Australia', 'Default', "(g % 2 = 0) = (tz AT TIME ZONE 'EST' < timestamp '2021-01-02')" ],
	[ 'XML', 'TimeZone', 'Asia/Tokyo', 'UTC', "(g % 2 = 0) = (xmlelement(name x, tz)::text ~ 'T20')" ],
	[ 'output of bytea', 'bytea_output', 'escape', 'hex', "(g % 2 = 0) = (b::text = 'A')" ],
	[ 'output of float8', 'extra_float_digits', '0', '3', "(g % 2 = 0) = (length(f::text) < 10)" ],
	[ 'quotes', 'quote_all_identifiers', 'on', 'off', "(g % 2 = 0) = (quote_ident(q) <> 'abc')" ],
	server_version($node) < 160000 ? () : (
		[ 'zone of date_add', 'timezone_abbreviations', 'Australia', 'Default', "(g % 2 = 0) = (date_add(tz + interval '29 days', interval '1 month', 'EST') < timestamptz '2021-02-28 00:00+00')" ],
		[ 'JSON', 'TimeZone', 'Asia/Tokyo', 'UTC', "(g % 2 = 0) = (JSON_ARRAY(tz RETURNING text) ~ 'T20')" ]));
sql(q{CREATE SCHEMA s1; CREATE SCHEMA s2; CREATE TABLE readers AS SELECT g, date '2021-01-01' + g AS day, repeat('y', 600) AS filler, timestamptz '2021-01-01 20:00+00' AS tz, 0.1::float8 + 0.2::float8 AS f, '\x41'::bytea AS b, 'abc'::text AS q FROM generate_series(0, 1999) g;
	GRANT SELECT ON readers, events TO reader; ANALYZE readers});
foreach (@varying)
{
	my ($name, $setting, $first, $second, $condition) = @$_;

	same("a build side that varies with the $name", "SET enable_material = off; SET work_mem = '64kB'; SET max_parallel_workers_per_gather = 0; SELECT set_config('$setting', '$second', false); SELECT o, count(*), sum(id), max(length(filler)), max(length(setting)) FROM (SELECT o, x.*, CASE WHEN current_setting('$setting') = wanted THEN wanted ELSE set_config('$setting', wanted, false) END AS setting
		FROM (SELECT o, CASE WHEN o = 1 THEN '$first' ELSE '$second' END AS wanted FROM generate_series(1, 3) o) o LEFT JOIN (SELECT e.id, r.filler FROM (SELECT id, ts FROM public.events ORDER BY payload, id OFFSET 0) e JOIN public.readers r ON e.ts::date = r.day WHERE $condition OFFSET 0) x ON true OFFSET 0) y GROUP BY o ORDER BY o");
}
same('a zone that changes between the matches of a row', q{SET TimeZone = 'UTC'; BEGIN; DECLARE c CURSOR FOR SELECT e.id FROM events e JOIN thrice c ON e.tz::date = c.tz::date; FETCH 1 FROM c; SET LOCAL TimeZone = '<X>-40'; FETCH 5 FROM c; ROLLBACK});

# The view counts keys that only skipped partitions as built; EXPLAIN says that there were more keys than estimated.
like((rows_of('auto', q{SET max_parallel_workers_per_gather = 0; SELECT cuckoofilter_join_stats_reset(); SELECT count(*) FROM parts e JOIN calendar c ON e.ts::date = c.day WHERE c.n < 0; SELECT planned, built, partitions_skipped > 0 FROM cuckoofilter_join_stats WHERE database = current_database()}))[0], qr/1\|1\|t$/, 'keys that skip all partitions are built');
sql(q{CREATE FUNCTION many(n int) RETURNS SETOF int LANGUAGE plpgsql IMMUTABLE ROWS 10 AS 'BEGIN RETURN QUERY SELECT generate_series(1, n) * 3 + hashint4(generate_series(1, n)) % 2; END'});
like(explained("SET cuckoofilter.join_filter = auto; SET max_parallel_workers_per_gather = 0; SELECT count(*) FROM events e JOIN many(60000) g ON e.id / 7 = g"), qr/by ranges of id.*Given Up: more keys than estimated/s, 'more keys than estimated');

# What a function finds in hidden rows is not told.
unlike(explained("CREATE OR REPLACE VIEW days_of_some WITH (security_barrier) AS SELECT id, ts::date AS day FROM events WHERE payload = 'Word 1'; SELECT count(*) FROM days_of_some e JOIN calendar c USING (day) $month"), qr/Blocks Skipped|by ranges/, 'no blocks are skipped by a function below a security barrier');

# Row security: the rows of a role, whose policy has a function that leaks.
sql("CREATE POLICY thirds ON plain TO reader USING (id % 3 <> 1 AND leaks(id)); ALTER TABLE plain ENABLE ROW LEVEL SECURITY; GRANT SELECT ON plain, calendar TO reader");
my $secured = "SET ROLE reader; SELECT count(*), sum(id) FROM plain e JOIN calendar c ON e.ts::date = c.day $month";
same('row security', $secured);

# Partitions that are attached under a cached plan.
my $attached = q{BEGIN; ALTER TABLE parts DETACH PARTITION parts_16; SET plan_cache_mode = force_generic_plan; PREPARE p AS SELECT count(*), sum(id) FROM parts e JOIN calendar c ON e.ts::date = c.day WHERE c.month IN ('2022-05', '2022-06'); EXECUTE p;
	ALTER TABLE parts ATTACH PARTITION parts_16 FOR VALUES FROM ('2022-05-01') TO ('2022-06-01'); EXECUTE p; ROLLBACK};
same('partitions that are attached', $attached);

$session->quit;
done_testing();
