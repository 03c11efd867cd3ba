# sql/REFERENCE.md is complete and correct: its examples give their results, and it names every
# object of the extension; sql/JOIN_FILTERS.md has the settings and the view of join filters. test/sqlite/reference.py checks the rest: errors,
# fields, links.
use CuckooCluster;
use CuckooPages;

my $page = page('sql/REFERENCE.md');
my $joins = page('sql/JOIN_FILTERS.md');
my $node = new_cluster('main', conf => "max_parallel_workers_per_gather = 0\n");

# The text below a heading, up to the next heading of the same or a higher level.
sub section
{
	my ($heading, $text) = @_;
	my $level = $heading =~ /^(#+)/ ? length($1) : 0;

	return ($text // $page) =~ /\n\Q$heading\E\n(.*?)(?=\n#{1,$level} |\z)/s ? $1 : die "no section $heading";
}

# The rows of its first table, as lists of cells without the backquotes around them.
sub table
{
	my ($table) = section(@_) =~ /((?:^\|.*\n)+)/m;
	my @lines = split /\n/, $table;

	return map { [ map { s/^\s*`?|`?\s*$//gr =~ s/\\\|/|/gr } /((?:[^|\\]|\\.)+)/g ] } @lines[ 2 .. $#lines ];
}

sub sorted
{
	my %seen;
	return [ sort grep { !$seen{$_}++ } @_ ];
}

# The first column of a query's rows.
sub rows
{
	return sorted(split /\n/, $node->safe_psql('postgres', "LOAD 'cuckoofilter_join'; $_[0]"));
}

# ---------------------------------------------------------------------- examples

cmp_ok(check_page('sql/REFERENCE.md', $node), '>', 60, 'the page has examples');

# ------------------------------------------------------------------------- names

my $of_extension = q{FROM pg_depend WHERE deptype = 'e' AND refclassid = 'pg_extension'::regclass
	AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'cuckoofilter') AND classid =};
my $functions = "pg_proc WHERE oid IN (SELECT objid $of_extension 'pg_proc'::regclass)";

# Functions: the result and the numbers of arguments of each.
my (%results, %arguments);
foreach my $row (table('## Names at a glance'))
{
	my ($name, $list) = $row->[0] =~ /\[`(\w+)\((.*?)\)`\]/;

	next if $row->[1] eq '-';
	my $least = () = ($list =~ s/\[.*//r) =~ /\w+/g;
	my $most = () = $list =~ /\w+/g;
	$results{"$name: $row->[1]"} = 1;
	$arguments{ $list =~ /\.\.\./ ? "$name: any" : "$name: $_" } = 1 foreach $least .. $most;
}
my @internal = map { $_->[0] =~ /(\w+)/g } table('### Support functions');
my $internal = join ',', map { "'$_'" } @internal;

is_deeply(rows("SELECT proname FROM $functions AND proname IN ($internal)"), sorted(@internal), 'functions behind the others');
is_deeply(rows("SELECT proname || ': ' || pg_get_function_result(oid) FROM $functions AND proname NOT IN ($internal)"),
	sorted(keys %results), 'functions and their results');
my $counts = 'unnest(array(SELECT generate_series(pronargs - pronargdefaults, pronargs::integer))) n';
is_deeply(
	rows("SELECT proname || ': ' || CASE WHEN provariadic <> 0 THEN 'any' ELSE n::text END FROM (SELECT * FROM $functions) AS f, $counts WHERE proname NOT IN ($internal)"),
	sorted(keys %arguments), 'numbers of arguments');

# Operators, casts, types, operator classes; nothing else is there.
is_deeply(
	rows("SELECT concat_ws(' ', format_type(oprleft, NULL), oprname, format_type(oprright, NULL)) || ': ' || format_type(oprresult, NULL)
		FROM pg_operator WHERE oid IN (SELECT objid $of_extension 'pg_operator'::regclass)"),
	sorted(map { $_->[0] =~ s/filter/cuckoofilter/gr =~ s/item/anycompatible/r . ": $_->[1]" } table('### Operators')),
	'operators and their results');
is_deeply(
	rows("SELECT format_type(castsource, NULL) || ' ' || format_type(casttarget, NULL) FROM pg_cast WHERE oid IN (SELECT objid $of_extension 'pg_cast'::regclass)"),
	sorted(map { "$_->[0] $_->[1]" } table('### Casts')), 'casts');
is_deeply(rows("SELECT typname FROM pg_type WHERE typtype = 'b' AND typelem = 0 AND oid IN (SELECT objid $of_extension 'pg_type'::regclass)"),
	['cuckoofilter'], 'the type');
is_deeply(rows("SELECT opcname FROM pg_opclass WHERE oid IN (SELECT objid $of_extension 'pg_opclass'::regclass)"),
	['cuckoofilter_ops'], 'operator classes');
is_deeply(rows("SELECT relkind::text || ' ' || relname FROM pg_class WHERE oid IN (SELECT objid $of_extension 'pg_class'::regclass)"),
	['v cuckoofilter_join_stats'], 'the view');
is_deeply(rows("SELECT attname || ' ' || format_type(atttypid, NULL) FROM pg_attribute WHERE attrelid = 'cuckoofilter_join_stats'::regclass AND attnum > 0"),
	sorted(map { "$_->[0] " . $_->[1] =~ s/`//gr } table('## cuckoofilter_join_stats', $joins)), 'its columns');
is_deeply(
	rows("SELECT classid::regclass::text $of_extension classid"),
	[qw(pg_cast pg_class pg_opclass pg_operator pg_opfamily pg_proc pg_type)], 'kinds of objects that the page has a section for');

# ---------------------------------------------------------------------- settings

my @settings = table('## Settings', $joins);
is_deeply(rows("SELECT name || ' ' || current_setting(name) FROM pg_settings WHERE name LIKE 'cuckoofilter.%'"),
	sorted(map { "$_->[0] $_->[1]" } @settings), 'settings and their defaults');
foreach my $row (@settings)
{
	my ($name, undef, $values) = @$row;
	my $of = "FROM pg_settings WHERE name = '$name'";

	my $range = $node->safe_psql('postgres', "LOAD 'cuckoofilter_join'; SELECT vartype, enumvals, min_val, max_val $of");
	my ($type, $enum, $least, $most) = split /\|/, $range;
	my $said = join ',', $values =~ /(\w+)/g;

	is($said, $enum =~ s/[{}"]//gr, "$name: its values") if $type eq 'enum';
	is($said, 'off,on', "$name: its values") if $type eq 'bool';
	like($values, qr/^(\Q$least\E \.\. \Q$most\E|from \Q$least\E kB)$/, "$name: its range") if $type =~ /integer|real/;
}

$node->stop;
done_testing();
