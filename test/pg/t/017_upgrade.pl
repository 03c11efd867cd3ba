# Version 1.0.0 of the SQL with the current library: its objects work as before, its suites pass,
# and ALTER EXTENSION UPDATE, from each version, gives the same database as CREATE EXTENSION.
use CuckooCluster;
use CuckooReplay;
use FindBin;

my $node = new_cluster('main', extension => 0);

sub database
{
	my ($name, @queries) = @_;
	$node->safe_psql('postgres', "CREATE DATABASE $name TEMPLATE template0");
	$node->safe_psql($name, $_) foreach (@queries);
	return;
}

database('fresh', 'CREATE EXTENSION cuckoofilter');
database('old', "CREATE EXTENSION cuckoofilter VERSION '1.0.0'");

# A description of an extension without OIDs: its members' definitions and comments.
my $catalog = q{
	SET search_path = public;
	WITH member AS (
		SELECT classid, objid FROM pg_depend
		WHERE refclassid = 'pg_extension'::regclass AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'cuckoofilter') AND deptype = 'e')
	SELECT pg_describe_object(classid, objid, 0) || ': ' || coalesce(obj_description(objid, c.relname), 'no comment') || ' ' ||
		coalesce(
			CASE c.relname
				WHEN 'pg_proc' THEN (
					SELECT concat_ws(' ', CASE WHEN prokind = 'a' THEN '' ELSE pg_get_functiondef(p.oid) END, prokind, procost, prorows, prosrc, probin, proacl,
						provariadic::regtype, prosupport, proargnames, proargtypes::regtype[], prorettype::regtype,
						(SELECT to_jsonb(a) - 'aggfnoid' - 'aggtranstype' || jsonb_build_object('type', aggtranstype::regtype)
							FROM pg_aggregate a WHERE aggfnoid = p.oid))
					FROM pg_proc p WHERE p.oid = objid)
				WHEN 'pg_operator' THEN (
					SELECT concat_ws(' ', oprkind, oprcanmerge, oprcanhash, oprresult::regtype, oprcom::regoperator, oprnegate::regoperator, oprcode, oprrest, oprjoin)
					FROM pg_operator o WHERE o.oid = objid)
				WHEN 'pg_cast' THEN (
					SELECT concat_ws(' ', castsource::regtype, casttarget::regtype, castfunc::regprocedure, castcontext, castmethod)
					FROM pg_cast k WHERE k.oid = objid)
				WHEN 'pg_type' THEN (
					SELECT concat_ws(' ', typlen, typbyval, typtype, typcategory, typispreferred, typdelim, typinput, typoutput, typreceive, typsend,
						typmodin, typanalyze, typalign, typstorage, typelem::regtype, typarray::regtype, typcollation)
					FROM pg_type t WHERE t.oid = objid)
				WHEN 'pg_opclass' THEN (
					SELECT concat_ws(' ', amname, opcname, opfname, opcintype::regtype, opcdefault, opckeytype)
					FROM pg_opclass oc JOIN pg_am ON pg_am.oid = opcmethod JOIN pg_opfamily f ON f.oid = opcfamily WHERE oc.oid = objid)
				WHEN 'pg_opfamily' THEN (
					SELECT concat_ws(' ', opfname,
						(SELECT array_agg(concat_ws(' ', amopstrategy, amopopr::regoperator, amoppurpose) ORDER BY amopstrategy) FROM pg_amop WHERE amopfamily = f.oid),
						(SELECT array_agg(concat_ws(' ', amprocnum, amproc::regprocedure) ORDER BY amprocnum) FROM pg_amproc WHERE amprocfamily = f.oid))
					FROM pg_opfamily f WHERE f.oid = objid)
				WHEN 'pg_class' THEN (SELECT concat_ws(' ', relkind, relacl, reloptions, pg_get_viewdef(v.oid)) FROM pg_class v WHERE v.oid = objid)
			END, 'NO DEFINITION')
	FROM member JOIN pg_class c ON c.oid = classid
	UNION ALL
	SELECT concat_ws(' ', 'extension', extversion, extrelocatable, extnamespace::regnamespace, extconfig)
	FROM pg_extension WHERE extname = 'cuckoofilter'
	ORDER BY 1};

# Objects that depend on the type and its casts still exist.
$node->safe_psql(
	'old', q{
	CREATE TABLE kept AS SELECT g % 3 AS k, cuckoofilter_agg(g) AS f FROM generate_series(1, 9000) g GROUP BY 1;
	CREATE VIEW bytes_of AS SELECT k, f::bytea AS b FROM kept;
	CREATE VIEW whole AS SELECT cuckoofilter_union_agg(f) AS f FROM kept;
	CREATE INDEX by_bytes ON kept (md5(f::bytea));
	CREATE TABLE assigned (b bytea);
	CREATE FUNCTION assign(cuckoofilter) RETURNS bytea LANGUAGE sql IMMUTABLE AS 'SELECT $1::bytea'});
my $answers = q{
	SET enable_seqscan = off;
	SELECT md5(string_agg(b, '' ORDER BY k)), (SELECT cuckoofilter_count(f) FROM whole), (SELECT f @> 8999 FROM whole),
		(SELECT count(*) FROM kept x WHERE EXISTS (SELECT FROM kept y WHERE md5(y.f::bytea) = md5(x.f::bytea))),
		(SELECT md5(string_agg(assign(f), '' ORDER BY k)) FROM kept)
	FROM bytes_of};
my $before = $node->safe_psql('old', $answers);

# Objects that call the functions of many items, which took an array in 1.0.0. These functions have other names
# now, and return the same for such objects.
$node->safe_psql(
	'old', q{
	CREATE TABLE asked (id integer PRIMARY KEY, f cuckoofilter CHECK (cuckoofilter_contains_any(f, 1, 2, 3, NULL)),
		has boolean GENERATED ALWAYS AS (cuckoofilter_contains_all(f, 1, 2)) STORED,
		more bigint GENERATED ALWAYS AS (cuckoofilter_count(cuckoofilter_add_all(f, VARIADIC ARRAY[7, 8]))) STORED);
	INSERT INTO asked SELECT g, cuckoofilter_create(10) + g + 3 FROM generate_series(1, 20) g;
	CREATE INDEX by_any ON asked (id) WHERE cuckoofilter_contains_any(f, 1, 2);
	CREATE TABLE log (id integer, text text);
	CREATE RULE noted AS ON UPDATE TO asked WHERE cuckoofilter_contains_any(old.f, 2, 3)
		DO ALSO INSERT INTO log VALUES (old.id, cuckoofilter_count(cuckoofilter_remove_all(old.f, 2, 3))::text);
	CREATE VIEW any_view AS SELECT id, cuckoofilter_contains_any(f, 1, 2) AS any, cuckoofilter_contains_any(f, VARIADIC ARRAY[id, 7]) AS elements,
		cuckoofilter_contains_all(f, id, 3.0) AS numbers, cuckoofilter_contains_any(cuckoofilter_create(10) + 'x', 'x', 'y') AS texts,
		cuckoofilter_count(cuckoofilter_add_all(f, VARIADIC ARRAY[[1, 2], [3, NULL]])) AS added, cuckoofilter_count(cuckoofilter_remove_all(f, 3, id)) AS removed,
		cuckoofilter_create(1000) = cuckoofilter_create(1000, 0.01) AS created, cuckoofilter_agg(f @> 1) OVER (PARTITION BY id % 2) @> true AS seen
		FROM asked;
	CREATE MATERIALIZED VIEW any_kept AS SELECT * FROM any_view WHERE id < 10;
	CREATE FUNCTION any_of(cuckoofilter, integer) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT cuckoofilter_contains_any($1, $2, 0)';
	CREATE FUNCTION all_of(cuckoofilter, integer[]) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN cuckoofilter_contains_all($1, VARIADIC $2); END'});
my $many = q{
	SET enable_seqscan = off;
	BEGIN;
	REFRESH MATERIALIZED VIEW any_kept;
	UPDATE asked SET id = id WHERE id < 3;
	SELECT string_agg(v::text, ' ' ORDER BY id) FROM any_view v;
	SELECT string_agg(k::text, ' ' ORDER BY id) FROM any_kept k;
	SELECT string_agg(concat_ws(',', id, has, more, any_of(f, id), any_of(f, -id), all_of(f, ARRAY[id, 3])), ' ' ORDER BY id) FROM asked;
	SELECT string_agg(l::text, ' ' ORDER BY id) FROM log l;
	ROLLBACK};
my $many_before = $node->safe_psql('old', $many);
like($many_before, qr/^\(1,t,t,t,t,5,0,t,t\) .*^1,f,4,t,f,t .*^\(1,1\) \(2,0\)$/ms, 'many items in views, columns, indexes, rules and functions over 1.0.0');

# A dump of 1.0.0 restores where CREATE EXTENSION makes a later version, and so
# does one that was taken after the update.
# The catalog of a database is that of the fresh one; else the lines that only one of them has.
sub like_fresh
{
	my ($database, $what) = @_;
	my %lines = map { $_ => [ split /\n/, $node->safe_psql($_, $catalog) ] } ($database, 'fresh');
	my $same = "@{$lines{$database}}" eq "@{$lines{fresh}}";

	ok($same, $what) or diag(join("\n", map { my ($one, $other) = @$_; my %has = map { $_ => 1 } @{ $lines{$other} }; map { "only in $one: $_" } grep { !$has{$_} } @{ $lines{$one} } }
			([ $database, 'fresh' ], [ 'fresh', $database ])));
	return;
}

sub restored
{
	my ($from, $to) = @_;
	my $file = "$ENV{TESTDIR}/$to.sql";

	$node->command_ok([ 'pg_dump', '--file', $file, $node->connstr($from) ], "$from is dumped");
	database($to);
	$node->command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', $file, $node->connstr($to) ], "and restored as $to");
	is($node->safe_psql($to, $many), $many_before, "$to answers as before");
	is($node->safe_psql($to, $answers), $before, "$to: what was built on 1.0.0, too");
	return;
}
restored('old', 'from_old');
like($before, qr/^\w{32}\|\d+\|t\|3\|\w{32}$/, 'views, an index and a function over 1.0.0');
unlike($node->safe_psql($_, $catalog), qr/NO DEFINITION/, "every member has a definition: $_") foreach (qw(old fresh));
isnt($node->safe_psql('old', $catalog), $node->safe_psql('fresh', $catalog), '1.0.0 is another extension');

# Every symbol that the SQL of 1.0.0 names is there: else CREATE FUNCTION had failed above. Today's suites
# give the same results, but for those that a later version changed (extension.sql reads the catalog, which does not change).
database('suites', "CREATE EXTENSION cuckoofilter VERSION '1.0.0'");
$node->safe_psql('postgres', "ALTER DATABASE suites SET $_")
  foreach ("lc_messages = 'C'", "lc_monetary = 'C'", "lc_numeric = 'C'", "lc_time = 'C'", "bytea_output = 'hex'", "timezone_abbreviations = 'Default'",
	"datestyle = 'Postgres, MDY'", "timezone = 'PST8PDT'");
replay($node, 'suites', "$FindBin::Bin/../1.0.0/differences.out", qw(aggregate errors items merge plan scalar type variadic));

$node->safe_psql('old', 'ALTER EXTENSION cuckoofilter UPDATE');
like_fresh('old', 'an upgraded database equals a fresh one');
is($node->safe_psql('old', $answers), $before, 'what was built on 1.0.0 answers as before');
is($node->safe_psql('old', $many), $many_before, 'and so does what asks for many items');
like($node->safe_psql('old', q{SELECT pg_get_viewdef('any_view')}), qr/cuckoofilter_contains_any_array\((asked\.)?f, VARIADIC ARRAY\[1, 2\]\)/, 'by the functions of its time');
restored('old', 'from_updated');
like_fresh('from_updated', 'with the extension as it is');
$node->safe_psql('old', 'REFRESH MATERIALIZED VIEW any_kept; REINDEX TABLE asked; UPDATE asked SET f = f + 9 WHERE id = 1');
is($node->safe_psql('old', 'SELECT has, more, f @> 9 FROM asked WHERE id = 1'), 'f|5|t', 'columns follow it');
is( $node->safe_psql('old', q{INSERT INTO assigned SELECT f FROM kept; SELECT md5(string_agg(b, '')) = (SELECT md5(string_agg(f::bytea, '')) FROM kept) FROM assigned}),
	't', 'assignment to bytea is still implicit');
is($node->safe_psql('old', 'DROP EXTENSION cuckoofilter CASCADE; SELECT count(*) FROM pg_depend WHERE deptype = $$e$$ AND refobjid NOT IN (SELECT oid FROM pg_extension)'),
	'0', 'dropped without a trace');

foreach my $script (glob("$FindBin::Bin/../../../sql/cuckoofilter--*--*.sql"))
{
	my ($version) = $script =~ /cuckoofilter--(.*)--/;
	my $name = "from_$version" =~ tr/./_/r;

	database($name, "CREATE EXTENSION cuckoofilter VERSION '$version'", 'ALTER EXTENSION cuckoofilter UPDATE');
	like_fresh($name, "a database upgraded from $version equals a fresh one");
}

# Updates keep the privileges on each member, whoever changed them. The update to 1.6.0 does not, so this begins there.
$node->safe_psql('postgres', 'CREATE ROLE reader');
database('privileges', "CREATE EXTENSION cuckoofilter VERSION '1.6.0'");
my $members = q{
	SELECT pg_describe_object(classid, objid, 0) AS name, objid, coalesce(p.proacl, c.relacl, t.typacl) AS acl, p.oid AS routine, c.oid AS view, t.oid AS type
	FROM pg_depend LEFT JOIN pg_proc p ON classid = 'pg_proc'::regclass AND p.oid = objid LEFT JOIN pg_class c ON classid = 'pg_class'::regclass AND c.oid = objid
		LEFT JOIN pg_type t ON classid = 'pg_type'::regclass AND t.oid = objid AND t.typtype = 'b' AND t.typelem = 0
	WHERE refclassid = 'pg_extension'::regclass AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'cuckoofilter') AND deptype = 'e'
		AND num_nonnulls(p.oid, c.oid, t.oid) = 1};
$node->safe_psql(
	'privileges', qq{
	DO \$\$DECLARE m record; object text; BEGIN FOR m IN $members LOOP
		object := CASE WHEN m.routine IS NOT NULL THEN 'ROUTINE ' || m.routine::regprocedure WHEN m.view IS NOT NULL THEN 'TABLE ' || m.view::regclass ELSE 'TYPE ' || m.type::regtype END;
		EXECUTE format('REVOKE ALL ON %s FROM PUBLIC; GRANT ALL ON %1\$s TO reader', object); END LOOP; END\$\$;
	CREATE TABLE before AS $members});
cmp_ok($node->safe_psql('privileges', q{SELECT count(*) FILTER (WHERE acl::text ~ 'reader=' AND acl::text !~ '(^.|,)=') - count(*) FILTER (WHERE acl IS NULL) FROM before}),
	'>', 100, 'privileges were changed');
$node->safe_psql('privileges', 'ALTER EXTENSION cuckoofilter UPDATE');
is($node->safe_psql('privileges', "SELECT string_agg(name, ', ') FROM (SELECT name, acl FROM before EXCEPT SELECT name, acl FROM ($members) m) lost"),
	'', 'an update keeps privileges');

$node->stop;
done_testing();
