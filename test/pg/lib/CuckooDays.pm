# Shared by the tests of joins whose key is an expression of a column: zones and their changes of time, columns and
# expressions that are drawn.
package CuckooDays;

use CuckooCluster;
use CuckooRandom;
use Exporter 'import';

our @EXPORT = qw(objects_sql read_changes draw_zone draw_column draw_key expression halves values_sql near_change_sql ends_of functions_sql);

# ----------------------------------------------------------------------- zones

# Some change at midnight, some across it, one has steps of a day, one of minutes.
my @zones = map { "'$_'" } ('Europe/Berlin', 'America/Sao_Paulo', 'Africa/Cairo', 'Asia/Kathmandu', 'Pacific/Apia', 'America/St_Johns', 'America/Juneau', 'Asia/Manila', 'Pacific/Kwajalein', 'Australia/Lord_Howe');
my @other_zones = ("'UTC'", "'+3'", "'<+0530>-5:30'", "'Pacific/Kiritimati'", "'Etc/GMT+12'");
my %changes; # a zone's days of changes, as SQL

# All days of a year in which a zone changes its time.
sub read_changes
{
	my ($session) = @_;

	foreach my $zone (@zones)
	{
		my $offset = "extract(epoch FROM (%s AT TIME ZONE $zone) - (%s AT TIME ZONE 'UTC'))";
		my $days = $session->query('SELECT d FROM (SELECT to_char(d AT TIME ZONE $$UTC$$, $$YYYY-MM-DD$$) AS d, ' . ($offset =~ s/%s/d/gr) . ' AS a, ' . ($offset =~ s/%s/(d + interval '24 hours')/gr) . " AS b FROM generate_series(timestamptz '1840-01-01 00:00+00', '2030-01-01 00:00+00', '24 hours') d) x WHERE a <> b");

		$changes{$zone} = [ map { "timestamptz '$_ 00:00+00'" } split(/\n/, $days) ];
		BAIL_OUT("$zone has no changes of time") if $days eq '';
	}
	return;
}

sub draw_zone
{
	return pick(@zones, @zones, @other_zones);
}

# A day of a change; in Juneau and Apia often that of the step of a day.
sub change_of
{
	my ($zone) = @_;

	return pick(@{ $changes{$zone} // $changes{ pick(@zones) } }) if chance(0.7) || $zone !~ /Juneau|Apia|Manila/;
	return $zone =~ /Juneau/ ? "timestamptz '1867-10-18 00:00+00'" : $zone =~ /Apia/ ? "timestamptz '2011-12-30 00:00+00'" : "timestamptz '1844-12-31 00:00+00'";
}

# --------------------------------------------------------------------- columns

my %ends = (
	timestamp => [ [ 'infinity', '-infinity' ], [ '4714-11-24 00:00:00 BC', '4713-01-02 03:04:05 BC', '294276-12-31 23:59:59.999999', '294276-12-01', '0044-03-15 BC', '0001-01-01', '0001-12-31 23:59:59.999999 BC' ] ],
	timestamptz => [ [ 'infinity', '-infinity' ], [ '4714-11-24 00:00:00+00 BC', '4713-01-02 03:04:05+00 BC', '294276-12-31 23:59:59.999999+00', '294276-12-01 00:00+00', '0044-03-15 00:00+00 BC', '0001-01-01 00:00+00' ] ],
	date => [ [ 'infinity', '-infinity' ], [ '4713-01-01 BC', '4714-11-24 BC', '294276-12-31', '294277-01-01', '5874897-12-31', '0044-03-15 BC' ] ],
	smallint => [ [], [ -32768, 32767, 0 ] ],
	integer => [ [], [ -2147483648, 2147483647, 0 ] ],
	bigint => [ [], [ '-9223372036854775808', '9223372036854775807', '9007199254740993', '-9007199254740993' ] ],
	numeric => [ ['NaN'], [ '9223372036854775807', '9223372036854775808', '-1e30', '2147483648', '0.5', '-0.5', '1e1000' ] ],
	'double precision' => [ [ 'NaN', 'Infinity', '-Infinity' ], [ '-0', '1e300', '9.2233720368547758e18', '0.5', '9007199254740992' ] ],
	real => [ [ 'NaN', 'Infinity', '-Infinity' ], [ '-0', '1e30', '16777217' ] ],
	text => [ [''], ['zz'] ],
	time => [ ['00:00'], ['24:00'] ],
	oid => [ [0], [4294967295] ]);

# Special values of a type; also its limits, of which some functions fail.
sub ends_of
{
	my ($type, $limits) = @_;
	my ($special, $last) = @{ $ends{ $type =~ s/\(.*//r } };

	return (@$special, $limits || !@$special ? @$last : ());
}

# Of a column: type, the type below a domain, the zone, and SQL of its values from `from` over a span.
sub draw_column
{
	my $zone = draw_zone();
	my %column = (zone => $zone, type => pick('timestamp', 'timestamp', 'timestamp', 'timestamptz', 'timestamptz', 'timestamptz', 'date', 'smallint', 'integer', 'integer', 'bigint', 'bigint', 'moment', 'small', 'timestamp(0)'));

	$column{base} = { moment => 'timestamp', small => 'integer' }->{ $column{type} } // $column{type} =~ s/\(.*//r;
	$column{temporal} = $column{base} =~ /time|date/;
	$column{guarded} = $column{type} =~ /moment|small$/; # a domain, which has no values at the limits
	if ($column{temporal})
	{
		$column{span} = 86400 * pick(1, 3, 60, 60, 700, 1826, 15000, $column{guarded} ? 1 : 400000);
		$column{from} = $column{guarded} || chance(0.6) ? change_of($zone) . " - interval '" . int(rand($column{span})) . " seconds'" : 'timestamptz ' . pick("'2020-01-01'", "'0044-03-15 BC'", "'1582-10-01'", "'2004-02-28'", "'1999-12-25'", "'0001-12-20 BC'");
	}
	else
	{
		my ($low, $high) = @{ $ends{ $column{base} }[1] };

		$column{span} = pick(20, 1000, 30000, 30000, $column{guarded} ? 1 : (3000000, '1e12'));
		$column{from} = $column{guarded} ? pick(-500, 20000101) : pick(0, 0, -500, $low, "$high.0 - $column{span}", $column{base} eq 'bigint' ? '9007199254740000' : 20000101);
		($column{low}, $column{high}) = ($low, $high);
	}
	return %column;
}

# SQL of a column's value for a share from 0 to 1 of its span.
sub values_sql
{
	my ($column, $share) = @_;

	return "greatest(least(($column->{from})::numeric + round(($share * $column->{span}::float8)::numeric), $column->{high}), $column->{low})::$column->{base}" if !$column->{temporal};
	my $value = "($column->{from} + $share * $column->{span} * interval '1 second')";

	# the starts of hours and days, and the last moment before them
	$value = "(date_trunc('" . pick('hour', 'day', 'month') . "', $value) - (g % 2) * interval '1 microsecond')" if chance(0.2);
	return of_instant($column, $value);
}

# Within hours of a change of time, in a zone that the column's queries use.
sub near_change_sql
{
	my ($column) = @_;
	my @changes = map { change_of($column->{zone}) } (1 .. pick(1, 2, 5));
	my $step = pick(1, 7, 60, 900);

	return of_instant($column, '((array[' . join(', ', @changes) . '])[1 + (g & 1023) % ' . @changes . "] + ((hashint4(g + 11) % 180000) / $step * $step) * interval '1 second')");
}

sub of_instant
{
	my ($column, $value) = @_;

	$value = "($value AT TIME ZONE $column->{zone})" if $column->{base} ne 'timestamptz';
	return "$value\::$column->{base}";
}

# ----------------------------------------------------------------- expressions

# Functions of X by its type, and the types of their results. Some are not monotone, some are not on the list of those that
# can be mapped.
my %functions = (
	timestamp => [
		(map { [ 'date', 'X::date' ] } (1 .. 5)), [ 'date', 'date(X)' ], [ 'date', 'pg_catalog.date(X)' ],
		(map { [ 'timestamp', "date_trunc('{unit}', X)" ] } (1 .. 5)),
		(map { [ 'timestamptz', 'X AT TIME ZONE {zone}' ] } (1, 2)), [ 'timestamptz', 'X::timestamptz' ],
		(map { [ 'timestamp', "X {sign} interval '{interval}'" ] } (1, 2)), [ 'timestamp', 'X::moment' ], [ 'timestamp', 'X::timestamp(0)' ],
		[ 'numeric', 'extract({field} FROM X)' ], [ 'numeric', 'extract(year FROM X)' ], [ 'double precision', "date_part('{field}', X)" ],
		[ 'text', "to_char(X, 'YYYY-MM')" ], [ 'time', 'X::time' ], [ 'date', 'mine.date(X)' ], [ 'timestamp', "mine.date_trunc('{unit}', X)" ], [ 'timestamp', 'coalesce(X, $$2020-01-01$$)' ] ],
	timestamptz => [
		(map { [ 'date', 'X::date' ] } (1 .. 5)), [ 'date', 'date(X)' ],
		(map { [ 'timestamp', 'X::timestamp' ] } (1, 2)),
		(map { [ 'timestamptz', "date_trunc('{unit}', X)" ] } (1 .. 4)),
		(map { [ 'timestamptz', "date_trunc('{unit}', X, {zone})" ] } (1 .. 3)),
		(map { [ 'timestamp', 'X AT TIME ZONE {zone}' ] } (1 .. 4)), [ 'timestamp', 'X AT TIME ZONE {abbreviation}' ], [ 'timestamp', "X AT TIME ZONE interval '-3 hours'" ],
		[ 'timestamptz', "X {sign} interval '{interval}'" ],
		[ 'numeric', 'extract({field} FROM X)' ], [ 'text', "to_char(X, 'YYYY-MM-DD')" ], [ 'time', 'X::time' ] ],
	date => [ [ 'timestamp', 'X::timestamp' ], [ 'timestamptz', "date_trunc('{unit}', X)" ], [ 'date', 'X + {n}' ], [ 'numeric', 'extract(year FROM X)' ], [ 'timestamp', "X {sign} interval '{interval}'" ], [ 'timestamptz', 'X::timestamptz' ] ],
	smallint => [
		(map { ([ 'integer', 'X::integer' ], [ 'bigint', 'X::bigint' ]) } (1 .. 3)),
		(map { ([ 'numeric', 'X::numeric' ], [ 'double precision', 'X::float8' ]) } (1, 2)),
		[ 'integer', 'X / {n}' ], [ 'real', 'X::real' ], [ 'integer', 'X % {n}' ] ],
	integer => [
		(map { [ 'bigint', 'X::bigint' ] } (1 .. 4)),
		(map { ([ 'numeric', 'X::numeric' ], [ 'double precision', 'X::float8' ]) } (1, 2)),
		(map { [ 'integer', 'X / {n}' ] } (1, 2)), [ 'integer', 'X / -7' ], [ 'integer', 'X % {n}' ], [ 'integer', '-X' ], [ 'integer', 'abs(X)' ], [ 'integer', 'X + {n}' ], [ 'integer', '{n}0 / X' ],
		[ 'smallint', 'X::smallint' ], [ 'oid', 'X::oid' ], [ 'real', 'X::real' ], [ 'integer', 'X::small' ], [ 'text', 'X::text' ] ],
	bigint => [
		(map { ([ 'numeric', 'X::numeric' ], [ 'double precision', 'X::float8' ]) } (1 .. 4)),
		(map { [ 'bigint', 'X / {n}' ] } (1, 2)), [ 'integer', 'X::integer' ], [ 'bigint', 'X / 0' ], [ 'bigint', 'X % {n}' ], [ 'real', 'X::real' ], [ 'date', 'X::date' ] ],
	numeric => [ [ 'double precision', 'X::float8' ], [ 'numeric', 'floor(X)' ], [ 'numeric', 'round(X, 2)' ], [ 'numeric', '-X' ] ],
	'double precision' => [ [ 'numeric', 'X::numeric' ], [ 'double precision', 'floor(X)' ], [ 'real', 'X::real' ] ],
	real => [ [ 'double precision', 'X::float8' ] ],
	text => [ [ 'text', 'X::varchar::text' ], [ 'text', 'lower(X)' ] ],
	time => [ [ 'text', 'X::text' ] ],
	oid => [ [ 'bigint', 'X::bigint' ] ]);

# The types that a key of a type is compared with by a hash join.
my %compared = (
	smallint => [ 'smallint', 'integer', 'bigint' ],
	integer => [ 'smallint', 'integer', 'bigint' ],
	bigint => [ 'smallint', 'integer', 'bigint' ],
	numeric => [ 'numeric', 'numeric' ],
	'double precision' => [ 'double precision', 'real' ],
	real => [ 'double precision', 'real' ]);

my %draw = (
	'{unit}' => sub { pick('day', 'day', 'month', 'hour', 'week', 'year', qw(microseconds milliseconds second minute quarter decade century millennium)) },
	'{field}' => sub { pick(qw(year year decade century month day hour dow epoch)) },
	'{interval}' => sub { pick('3 hours', '6 hours 30 minutes', '1 day', '1 month', '-2 days', '1 year 1 second', '0', '1 month -30 days') },
	'{sign}' => sub { pick('+', '-') },
	'{n}' => sub { pick(1, 2, 7, 100, 100, 1000, 32767) },
	'{zone}' => \&draw_zone,
	'{abbreviation}' => sub { pick("'CET'", "'IST'", "'EST5EDT'", "'utc'", "'GMT'") });

# A key of a column: functions one after the other, and the type of the other side.
sub draw_key
{
	my ($column) = @_;
	my $type = $column->{base};
	my $plain = chance(0.75); # the functions that come first in their lists
	my %key;

	foreach (1 .. pick(1, 1, 1, 1, 2, 2, 3))
	{
		my @list = @{ $functions{$type} };
		my ($to, $sql) = @{ $plain ? $list[ int(rand(0.6 * @list)) ] : pick(@list) };

		push(@{ $key{names} }, $sql);
		$sql =~ s/(\{\w+\})/$draw{$1}->()/ge;
		push(@{ $key{functions} }, $sql);
		$type = $to;
	}
	$key{type} = pick(@{ $compared{$type} // [$type] });
	return \%key;
}

sub apply
{
	my ($column, @functions) = @_;

	$column = '(' . ($_ =~ s/\bX\b/$column/r) . ')' foreach @functions;
	return $column;
}

# The expression of a key over a column of this name.
sub expression
{
	my ($key, $column) = @_;
	return apply($column, @{ $key->{functions} });
}

# The same in two halves: of the column, and of f.y, which is the first half.
sub halves
{
	my ($key, $column) = @_;
	my @functions = @{ $key->{functions} };
	my $n = int(rand(@functions + 1));

	return (apply($column, @functions[ 0 .. $n - 1 ]), apply('f.y', @functions[ $n .. $#functions ]));
}

# --------------------------------------------------------------------- objects

# Domains, functions and casts of the tests, some with names of PostgreSQL's own, and a role that row security hides rows
# from.
sub objects_sql
{
	return q{
	CREATE DOMAIN moment AS timestamp CHECK (VALUE BETWEEN '1500-01-01' AND '2100-01-01' OR VALUE IN ('infinity', '-infinity'));
	CREATE DOMAIN small AS integer CHECK (VALUE BETWEEN -1000000 AND 30000000);
	CREATE SCHEMA mine;
	CREATE FUNCTION mine.date(timestamp) RETURNS date LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS
		$$BEGIN RETURN CASE WHEN isfinite($1) THEN date '2000-01-01' + extract(day FROM $1)::integer ELSE pg_catalog.date($1) END; END$$;
	CREATE FUNCTION mine.date_trunc(text, timestamp) RETURNS timestamp LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS
		$$BEGIN RETURN timestamp '2000-01-01' + extract(minute FROM $2)::integer * interval '1 hour'; END$$;
	CREATE FUNCTION mine.date_trunc(text, timestamptz) RETURNS timestamptz LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS
		$$BEGIN RETURN timestamptz '2000-01-01 00:00+00' + extract(minute FROM $2)::integer * interval '1 hour'; END$$;
	CREATE FUNCTION mine.day_of(bigint) RETURNS date LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$BEGIN RETURN date '2000-01-01' + ($1 % 100)::integer; END$$;
	CREATE CAST (bigint AS date) WITH FUNCTION mine.day_of(bigint);
	CREATE FUNCTION leaks(integer) RETURNS boolean LANGUAGE plpgsql STABLE PARALLEL SAFE COST 1 AS $$BEGIN RETURN $1 % 5 <> 2; END$$;
	CREATE ROLE reader;
	GRANT USAGE ON SCHEMA mine, public TO reader};
}

# Functions that compute a key of a column, and values near a key; NULL instead of an error.
sub functions_sql
{
	my ($name, $type, $key) = @_;
	my %near = (date => '$1 + $2', timestamp => q{$1 + $2 * interval '1 microsecond'}, timestamptz => q{$1 + $2 * interval '1 microsecond'}, numeric => '$1 + $2 * 0.5', 'double precision' => '$1 + $2 * 0.5', real => '$1 + $2 * 0.5', text => q{$1 || $2}, time => q{$1 + $2 * interval '1 second'}, oid => '($1::bigint + $2)::oid');
	my $near = $near{ $key->{type} =~ s/\(.*//r } // '($1::numeric + $2)';
	my $of = expression($key, '$1');

	return (
		"DROP FUNCTION IF EXISTS key_of_$name, near_to_$name",
		"CREATE FUNCTION key_of_$name($type) RETURNS $key->{type} LANGUAGE plpgsql AS \$_\$BEGIN RETURN $of\::$key->{type}; EXCEPTION WHEN others THEN RETURN NULL; END\$_\$",
		"CREATE FUNCTION near_to_$name($key->{type}, integer) RETURNS $key->{type} LANGUAGE plpgsql AS \$_\$BEGIN RETURN ($near)::$key->{type}; EXCEPTION WHEN others THEN RETURN NULL; END\$_\$");
}

1;
