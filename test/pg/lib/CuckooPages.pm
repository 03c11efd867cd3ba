# Runs the SQL blocks of the project's pages in psql. test/sqlite/examples.py describes the form of
# a block, and runs the blocks in SQLite.
package CuckooPages;

use CuckooCluster;
use Exporter 'import';

our @EXPORT = qw(page blocks examples pattern check_blocks check_page);

my $mark = '@@ end of an example';

# A page of the project, named from its root.
sub page
{
	my ($path) = @_;

	return slurp_file(__FILE__ =~ s{[^/]*$}{../../../$path}r);
}

# The text of the blocks that are marked so, in order.
sub blocks
{
	my ($text, @marks) = @_;
	my %wanted = map { $_ => 1 } @marks;
	my @found;

	while ($text =~ /^```([^\n]*)\n(.*?)^```/msg)
	{
		push @found, $2 if $wanted{$1};
	}
	return @found;
}

# Not within the body of a function.
sub is_whole
{
	return (() = $_[0] =~ /\$\$/g) % 2 == 0;
}

# [statement, rows of its result] of a block.
sub examples
{
	my ($block) = @_;
	my ($statement, $below, @found) = ('', 0);

	foreach my $line (split /\n/, $block)
	{
		my ($sql, $row) = $line =~ /^(.*;)(?: +-- (.*))?$/;

		if ($statement eq '' && $line =~ /^-- (.*)/) { push @{ $found[-1][1] }, $1 if $below; }
		elsif ($statement eq '' && $line =~ /^\\/)
		{
			push @found, [ $line, [] ];
			$below = 1;
		}
		elsif (defined $sql && is_whole($statement . $sql))
		{
			push @found, [ $statement . $sql, [ $row // () ] ];
			$statement = '';
			$below = 1;
		}
		elsif ($line ne '' || $statement ne '') { $statement .= "$line\n"; }
		else { $below = 0; }
	}
	is($statement, '', 'nothing is left of a block');
	return @found;
}

# A row of the page as a pattern, in PostgreSQL's words; … alone stands for any rows. From 16 on a table
# that is filled in bulk may have more blocks than it needs.
sub pattern
{
	my ($row, $bulk) = @_;
	return '(?:.*\n)*' if $row eq '…';
	my $words = join '|', map { { true => 't', false => 'f' }->{$_} // $_ } split /\|/, $row, -1;

	my $pattern = join('.*', map { quotemeta } split /…/, $words, -1) . '\n';
	$pattern =~ s/(Skipped\\:\\ )\d+(\\ of\\ )\d+/$1\\d+$2\\d+/ if $bulk;
	return $pattern;
}

# What psql printed, without what releases say differently of a plan that ran.
sub tidy
{
	my ($out, $statement) = @_;

	$out =~ s/ +$//mg;
	return $out if $statement !~ /^EXPLAIN \(ANALYZE/;
	$out =~ s/^.*(Buffers:|Planning:|Storage:).*\n//mg;
	return $out =~ s/(rows=\d+)\.00/$1/gr;
}

# Run blocks in one session, as they build on each other: each statement gives the rows that it shows.
sub check_blocks
{
	my ($name, $node, $database, @blocks) = @_;
	my @examples = map { examples($_) } @blocks;
	my $script = "\\pset null NULL\n";

	$script .= "$_->[0]\n\\if :ERROR\n\\echo ERROR :SQLSTATE: :LAST_ERROR_MESSAGE\n\\endif\n\\echo '$mark'\n" foreach @examples;
	my ($status, $out) = $node->psql($database, $script, on_error_stop => 0);
	is($status, 0, "$name: a session runs its examples");
	my @got = split /^\Q$mark\E\n?/m, "$out\n", -1;
	foreach my $i (0 .. $#examples)
	{
		my ($statement, $rows) = @{ $examples[$i] };
		my $want = join '', map { pattern($_, server_version($node) >= 160000) } @$rows;

		like(tidy($got[$i] // 'nothing', $statement), qr/\A$want\z/, "$name: $statement");
	}
	return scalar(@examples);
}

# All of a page's blocks for PostgreSQL.
sub check_page
{
	my ($path, $node, $database) = @_;

	return check_blocks($path, $node, $database // 'postgres', blocks(page($path), 'sql', 'sql postgresql'));
}

1;
