# The flags of each function (IMMUTABLE, STRICT, PARALLEL SAFE), and that they are true: an index on
# the function survives a restart, and a parallel plan gives the same result.
use CuckooCluster;

my $node = new_cluster('main', conf => "max_parallel_workers_per_gather = 2\n");

sub sql
{
	return $node->safe_psql('postgres', $_[0]);
}

# Calls with the columns of a table: f and g filters, x an integer, w a text, h a hash.
my %strict = (
	contained => 'x, f', contains => 'f, x', contains_hash => 'f, h', copies => 'f, x', count => 'f', create => "100 + x, 0.01, 'seed=' || x",
	fpr => 'f', info => 'f', compact => 'f', intersect => 'f, g', jaccard => 'f, g', overlap => 'f, g', overlap_error => 'f, g', sum => 'f, g', union => 'f, g',
	hash => 'w, x', part => 'w, 1 + x', version => '', cmp => 'f, g', eq => 'f, g', ne => 'f, g', lt => 'f, g', le => 'f, g', gt => 'f, g', ge => 'f, g',
	hash_bytes => 'f, x', bytes => '100 + x',
	contains_pair => 'cuckoofilter_add_pair(cuckoofilter_create(9), x, w), x, w', which => 'cuckoofilter_add_pair(cuckoofilter_create(9), x, w), x, string_to_array(w, w)', to_bytea => 'f', from_bytea => 'f::bytea', send => 'f');
# A NULL item changes nothing, and is skipped.
my %not_strict = (
	add_pair => 'cuckoofilter_create(9), x, w', remove_pair => 'cuckoofilter_add_pair(cuckoofilter_create(9), x, w), x, w', add => 'f, x', add_all => 'f, w, x', add_all_array => 'f, VARIADIC ARRAY[x, 5]', add_hash => 'f, h', remove => 'f, x', remove_all => 'f, x, 5',
	remove_all_array => 'f, VARIADIC ARRAY[x, 5]', remove_hash => 'f, h', contains_all => 'f, x, 5', contains_all_array => 'f, VARIADIC ARRAY[x, 5]',
	contains_any => 'f, x, 5', contains_any_array => 'f, VARIADIC ARRAY[x, 5]');
my %aggregates = (
	agg => 'x', agg_hash => 'h', agg_pair => 'x, w', add_agg => 'cuckoofilter_create(1000), x', union_agg => 'f', sum_agg => 'cuckoofilter_create(9000) + x', intersect_agg => 'f');
# Of types, aggregates and the planner: nobody calls them.
my %internal = (in => 't', out => 't', recv => 't', sortsupport => 't', support => 't',
	map { $_ => 'f' } qw(agg_transition agg_hash_transition agg_pair_transition agg_combine agg_final add_agg_transition add_agg_final union_agg_transition union_agg_combine
	  sum_agg_transition sum_agg_combine merge_agg_final intersect_agg_transition chunk_valid follows));

# Every function: IMMUTABLE, PARALLEL SAFE, STRICT where NULL gives NULL, and a cost.
my %untested;
foreach my $line (split /\n/, sql("SELECT p.proname, proisstrict, provolatile, proparallel, prokind, procost > 0, max(procost::int)
	FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e' JOIN pg_extension e ON e.oid = d.refobjid
	WHERE extname = 'cuckoofilter' GROUP BY 1, 2, 3, 4, 5, 6"))
{
	my ($name, $strict, $volatile, $parallel, $kind, $cost) = split /\|/, $line;
	$name =~ s/^cuckoofilter_//;
	next if $name =~ /^(sel|join_load|join_stats|join_stats_reset|export|table_\w+)$/;
	my $wanted = exists $strict{$name} ? 't' : exists $not_strict{$name} || exists $aggregates{$name} ? 'f' : $internal{$name};
	$untested{$name} = 1 unless defined $wanted;
	is("$volatile $parallel $strict $cost", 'i s ' . ($wanted // '?') . ' t', "flags of $name");
	is($kind, exists $aggregates{$name} ? 'a' : 'f', "kind of $name");
}
is(join(' ', sort keys %untested), '', 'functions without a test of their flags');
is(sql("SELECT provolatile, proparallel FROM pg_proc WHERE proname = 'cuckoofilter_sel'"), 's|s', 'flags of the estimate, which reads statistics');

is(sql("SELECT string_agg(proname || ' ' || provolatile::text || proparallel::text, ', ' ORDER BY proname) FROM pg_proc WHERE proname LIKE 'cuckoofilter%join%'"),
	'cuckoofilter_join_load vr, cuckoofilter_join_stats vr, cuckoofilter_join_stats_reset vr', 'flags of what loads a library, and of its counters');

is(sql("SELECT string_agg(concat(regexp_replace(proname, 'cuckoofilter_(table_)?', ''), ' ', provolatile, proparallel, CASE WHEN proisstrict THEN 't' ELSE 'f' END), ', ' ORDER BY proname)
	FROM pg_proc WHERE proname ~ '^cuckoofilter_(table_|export)'"),
	'export srt, add vut, add_all vut, changed vuf, check srt, contains srt, copies srt, create vut, follow vuf, info srt, merge vut, optimize vut, remove vut, remove_all vut',
	'flags of functions of filter tables, which read and change tables, also temporary ones');

# STRICT: NULL gives NULL, whichever argument it is; and what is not STRICT does not fail.
foreach my $name (sort keys %strict)
{
	my @arguments = split /, (?![^(]*\))/, $strict{$name};
	foreach my $i (0 .. $#arguments)
	{
		my @with = @arguments;
		$with[$i] = "nullif($with[$i], $with[$i])";
		is(sql("SELECT cuckoofilter_$name(" . join(', ', @with) . ") IS NULL FROM (SELECT 1 AS x, 'a'::text AS w, 7::bigint AS h, cuckoofilter_create(9) + 1 AS f, cuckoofilter_create(8) + 1 AS g) t"),
			't', "$name of NULL");
	}
}

# An index on each, in 3 forms; stored columns.
my %calls = map { $_ => { %strict, %not_strict }->{$_} } keys %strict, keys %not_strict;
my @names = sort keys %calls;

# A call whose result has an immutable cast to text, which an array has not.
sub call
{
	my ($name) = @_;
	my $call = "cuckoofilter_$name($calls{$name})";
	return $name eq 'which' ? "cardinality($call)" : $call;
}

sql("CREATE TABLE t (x int, w text, h bigint, f cuckoofilter, g cuckoofilter);
	INSERT INTO t SELECT x, 'w' || x, cuckoofilter_hash(x), cuckoofilter_sum((SELECT cuckoofilter_agg(i, 0.01, 9000) FROM generate_series(1, x) i), texts), cuckoofilter_sum(cuckoofilter_create(9000 + x) + x + 5, texts) FROM generate_series(1, 40) x, (SELECT cuckoofilter_agg('w' || i, 0.01, 9000) FROM generate_series(1, 9) i) a(texts);
	INSERT INTO t SELECT 100 + x, w, h, g, f FROM t;");
foreach my $name (@names)
{
	my $call = call($name);
	sql("CREATE INDEX i_$name ON t (md5(($call)::text), x); CREATE INDEX p_$name ON t (x) WHERE ($call) IS NOT NULL;
		CREATE TABLE s_$name AS SELECT x, w, h, f, g FROM t; ALTER TABLE s_$name ADD s text GENERATED ALWAYS AS (($call)::text) STORED");
	pass("index on $name");
}
sql("ANALYZE t");
$node->restart;
my $index = 'SET enable_seqscan = off; SET enable_bitmapscan = off;';
my $parallel = 'SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET enable_indexscan = off; SET enable_bitmapscan = off; SET enable_indexonlyscan = off;';
sql("ALTER TABLE t SET (parallel_workers = 2)");
foreach my $name (@names)
{
	my $call = 'md5((' . call($name) . ')::text)';
	# each row is found by what the call gives now
	is(sql("$index CREATE TEMP TABLE now AS SELECT x, $call AS key FROM t; SELECT count(*) FROM now WHERE key IS NOT NULL AND NOT EXISTS (SELECT FROM t WHERE $call = now.key AND t.x = now.x)"),
		'0', "index on $name after a restart");
	is(sql("SELECT count(*) FROM s_$name WHERE s IS DISTINCT FROM (" . call($name) . ')::text'), '0', "stored column of $name after a restart");
	# the same in a parallel plan
	my $sum = "SELECT md5(string_agg(k, ',' ORDER BY k)) FROM (SELECT $call AS k FROM t WHERE $call IS NOT NULL) q";
	is(sql("$parallel $sum"), sql("SET max_parallel_workers_per_gather = 0; $sum"), "$name in a parallel plan");
}
like(sql("$index EXPLAIN SELECT FROM t WHERE md5((cuckoofilter_count(f))::text) = 'a'"), qr/Index Scan using i_count/, 'an index is used');
like(sql("$parallel EXPLAIN SELECT cuckoofilter_hash(w) FROM t WHERE cuckoofilter_contains(f, x)"), qr/Parallel Seq Scan/, 'workers call');

# Aggregates: the same bytes in a parallel plan, and after a restart.
foreach my $name (sort keys %aggregates)
{
	my $call = "SELECT cuckoofilter_$name($aggregates{$name}" . ($name eq 'add_agg' ? ' ORDER BY x' : '') . ") FROM t";
	sql("CREATE TABLE kept_$name AS $call");
	is(sql("$parallel SELECT (SELECT * FROM kept_$name)::bytea = ($call)::bytea"), 't', "$name in a parallel plan");
}
$node->restart;
foreach my $name (sort keys %aggregates)
{
	my $call = "SELECT cuckoofilter_$name($aggregates{$name}" . ($name eq 'add_agg' ? ' ORDER BY x' : '') . ") FROM t";
	is(sql("SELECT (SELECT * FROM kept_$name)::bytea = ($call)::bytea"), 't', "$name after a restart");
}

$node->stop;
done_testing();
