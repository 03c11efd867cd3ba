# Today's SQL suites, replayed on the SQL of an older version.
package CuckooReplay;

use CuckooCluster;
use Exporter 'import';
use File::Basename;
use FindBin;

our @EXPORT = qw(replay);

# The statements of a suite with their results, as psql -a printed them: [ statement, line, ... ]. Comments
# stay with the statement after them. Of an error only the first line is kept: details differ between servers.
sub statements
{
	my ($sql, $printed) = @_;
	$sql =~ s/^(COPY [^\n;]* FROM STDIN;\n).*?^\\\.\n/$1/gms; # psql does not print the data
	my @printed = split /\n/, $printed;
	my @found = ([ '' ]);
	foreach my $line (grep { /\S/ } split /\n/, $sql)
	{
		while (@printed && $printed[0] ne $line) { push @{ $found[-1] }, shift @printed }
		shift @printed;
		push @found, [ '' ] if $found[-1][0] =~ /(;|^\\.*|\\g(set|exec).*)\n\z/m;
		$found[-1][0] .= "$line\n";
	}
	push @{ $found[-1] }, @printed;
	foreach my $one (@found)
	{
		my ($error) = grep { /^ERROR: / } @$one;
		@$one = ($one->[0], $error) if $error;
	}
	return @found;
}

# How a suite's results in a database differ from the expected ones: the first line of each statement, and the lines of
# its result that are not expected. What a later version added ("does not exist") is left out.
sub differences
{
	my ($node, $dbname, $name) = @_;
	my ($sql, $expected) = map { slurp_file("$FindBin::Bin/../$_") } ("sql/$name.sql", "expected/$name.out");
	my $printed = '';
	run_log([ 'psql', '-X', '-a', '-q', '-d', $node->connstr($dbname), '-v', 'HIDE_TABLEAM=on', '-f', "$FindBin::Bin/../sql/$name.sql" ], '>', \$printed, '2>&1');
	$printed =~ s/^psql:\S+ //gm;
	my @expected = statements($sql, $expected);
	my @differences = ("== $name");
	foreach my $found (statements($sql, $printed))
	{
		my ($statement, @result) = @$found;
		my (undef, @usual) = @{ shift @expected };
		next if "@result" eq "@usual" || "@result" =~ /^ERROR:  .* does not exist$/;
		my %usual = map { $_ => 1 } @usual;
		my ($first) = $statement =~ /^(?:--.*\n)*(.*)/;
		push @differences, $first, grep { !$usual{$_} && !/ does not exist$|^  HINT No function matches/ } @result;
	}
	return @differences;
}

# Replay suites in a database. What differs must be what FILE says.
sub replay
{
	my ($node, $dbname, $file, @names) = @_;
	my $found = join("\n", map { differences($node, $dbname, $_) } @names) . "\n";
	my $same = $found eq slurp_file($file);
	ok($same, 'results differ from those that are expected today where ' . basename($file) . ' says so');
	diag("The results are:\n$found") if !$same;
	return;
}

1;
