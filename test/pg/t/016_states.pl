# The state of an aggregate as a value, which a user-defined aggregate without a final function
# returns. It is an ordinary filter, with which the aggregates can continue. A state that a version
# before 1.4 has stored is refused with its own error.
use CuckooCluster;
use MIME::Base64;

my $node = new_cluster('main', conf => "max_parallel_workers_per_gather = 0\n");

# State and filter of the same items: few, and so many that a state is large
# and its value toasted.
$node->safe_psql(
	'postgres', q{
	CREATE AGGREGATE state_of(integer) (SFUNC = cuckoofilter_agg_transition, STYPE = cuckoofilter);
	CREATE AGGREGATE union_state_of(cuckoofilter) (SFUNC = cuckoofilter_union_agg_transition, STYPE = cuckoofilter);
	CREATE AGGREGATE agg_of_states(cuckoofilter) (SFUNC = cuckoofilter_agg_combine, STYPE = cuckoofilter, FINALFUNC = cuckoofilter_agg_final);
	CREATE AGGREGATE union_of_states(cuckoofilter) (SFUNC = cuckoofilter_union_agg_combine, STYPE = cuckoofilter, FINALFUNC = cuckoofilter_merge_agg_final);
	CREATE AGGREGATE sum_of_states(cuckoofilter) (SFUNC = cuckoofilter_sum_agg_combine, STYPE = cuckoofilter, FINALFUNC = cuckoofilter_merge_agg_final);
	CREATE TABLE stored AS SELECT n, state_of(g) AS s, cuckoofilter_agg(g) AS f FROM (VALUES (3), (200000)) v(n), generate_series(1, n) g GROUP BY n});

# A filter in place of either state, or of both; toasted, short, NULL.
foreach my $inputs ('VALUES (1, s), (2, f)', 'VALUES (1, f), (2, s)', 'VALUES (1, f), (2, f)', 'VALUES (1, s), (2, s::bytea::cuckoofilter)', 'VALUES (1, NULL), (2, s::text::cuckoofilter), (3, NULL), (4, s)')
{
	foreach my $aggregate (qw(union_of_states sum_of_states))
	{
		is( $node->safe_psql('postgres', qq{
				SELECT n, (SELECT count(*) FROM generate_series(1, n) g WHERE NOT u \@> g)
				FROM (SELECT n, (SELECT $aggregate(i.x ORDER BY i.o) FROM ($inputs) AS i(o, x)) AS u FROM stored) q ORDER BY n}),
			"3|0\n200000|0", "$aggregate of ($inputs) has every item");
	}
}

# A filter in a table as the only state of an aggregate over items: copies of different items with
# equal prefixes are joined, so the result is a set. (If it were not, a removal could take the only
# copy of another item.) An empty filter keeps its kind.
is( $node->safe_psql('postgres', q{
		SELECT cuckoofilter_info(a) ->> 'kind', cuckoofilter_count(a) < n, (SELECT count(*) FROM generate_series(1, n) g WHERE NOT a @> g)
		FROM (SELECT n, agg_of_states(f) AS a FROM stored WHERE n > 3 GROUP BY n) q}),
	'set|t|0', 'a table as the only state of cuckoofilter_agg becomes a set');
is( $node->safe_psql('postgres', q{
		SELECT cuckoofilter_info(agg_of_states(cuckoofilter_remove_all(f, VARIADIC array(SELECT generate_series(1, 200000))))) ->> 'kind'
		FROM stored WHERE n > 3}),
	'deletable', 'an empty table as the only state of cuckoofilter_agg keeps its kind');

# The state of a union is a set, also of one filter, whatever its size.
is($node->safe_psql('postgres', q{SELECT n, cuckoofilter_info(union_state_of(f)) ->> 'kind' FROM stored GROUP BY n ORDER BY n}),
	"3|set\n200000|set", 'the state of a union of one filter is a set');

# What version 1.3 has stored: a set, and the head of a log with a table, as bytes in a column that
# becomes one of filters.
my $head = 'CKF' . pack('C*', 2, 1);
my $tail = pack('Q<Q<q<d<', 3, 0, 0, 0.01);
my %old = (
	set => $head . pack('C*', 3, 4, 4, 0, 64, 0, 7, 0, 0, 1, 0) . $tail . pack('Q<*', 1, 2, 3, (0) x 6),
	'table' => $head . pack('C*', 2, 5, 4, 9, 43, 4, 7, 200, 0, 1, 0) . $tail . ("\0" x 4000));
foreach my $kind (sort keys %old)
{
	my $hex = unpack('H*', $old{$kind});

	is(error_state($node, "SELECT decode('$hex', 'hex')::cuckoofilter"), '22P03', "$kind: refused as bytea");
	is(error_state($node, 'SELECT $$' . encode_base64($old{$kind}, '') . '$$::cuckoofilter'), '22P02', "$kind: refused as text");
	$node->safe_psql(
		'postgres', qq{
		SET allow_system_table_mods = on;
		CREATE TABLE old_$kind (s bytea, f cuckoofilter);
		INSERT INTO old_$kind VALUES (decode('$hex', 'hex'), cuckoofilter_create(5));
		UPDATE pg_attribute SET atttypid = 'cuckoofilter'::regtype WHERE attrelid = 'old_$kind'::regclass AND attname = 's'});
	my @refused = (
	's::text', 's::bytea', 'cuckoofilter_send(s)', 'agg_of_states(s)', 'union_of_states(s)', 
	's @> 1', '1 <@ s', 'cuckoofilter_contains(s, 1)', 'cuckoofilter_contains_hash(s, 1)', 'cuckoofilter_contains_any(s, 1, 2)',
	'cuckoofilter_contains_all(s, 1, 2)', 'cuckoofilter_copies(s, 1)', 's + 1', 's - 1', 'cuckoofilter_add_all(s, 1, 2)',
	'cuckoofilter_remove_all(s, 1, 2)', 'cuckoofilter_add_hash(s, 1)', 'cuckoofilter_remove_hash(s, 1)', 's | f', 'f | s',
	'cuckoofilter_sum(f, s)', 'cuckoofilter_compact(s)', 'cuckoofilter_count(s)', 'cuckoofilter_fpr(s)', 'cuckoofilter_info(s)',
	'cuckoofilter_union_agg(s)', 'cuckoofilter_sum_agg(s)', 'cuckoofilter_add_agg(s, 1)',
	'cuckoofilter_intersect(s, f)', 'cuckoofilter_intersect(f, s)', 'cuckoofilter_intersect_agg(s)', 'cuckoofilter_overlap(f, s)', 'cuckoofilter_jaccard(s, f)');
	foreach my $call (@refused)
	{
		my (undef, undef, $stderr) =
		  $node->psql('postgres', "SELECT $call FROM old_$kind", extra_params => [ '-v', 'VERBOSITY=verbose' ]);
		like(
			$stderr,
			qr/ERROR:  55000: cuckoofilter is the unfinished state of an aggregate\nHINT:  Build it again with cuckoofilter 1\.4 or later, or cast it to bytea and back under 1\.3 first\./,
			"$kind: $call");
	}
}

# Over no rows each aggregate is the same: the empty default filter.
is( $node->safe_psql('postgres', q{
		SELECT cuckoofilter_agg(g) = cuckoofilter_union_agg(f), cuckoofilter_agg(g) = cuckoofilter_sum_agg(f),
			cuckoofilter_agg(g) = cuckoofilter_agg_hash(g, 0.001, 77, 'kind=set, seed=5'), cuckoofilter_info(cuckoofilter_agg(g)) ->> 'kind',
			cuckoofilter_count(cuckoofilter_union_agg(f))
		FROM (SELECT NULL::bigint AS g, NULL::cuckoofilter AS f WHERE false) none}),
	't|t|t|deletable|0', 'over no rows');

$node->stop;
done_testing();
