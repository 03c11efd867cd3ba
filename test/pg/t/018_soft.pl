# Soft errors: from PostgreSQL 16 on, a caller of the input function receives an error as a value,
# and the transaction continues.
use CuckooCluster;

my $node = new_cluster('main');

# A value that is no filter raises the same error as before.
my %refused = (
	'' => 'not a cuckoofilter: the text is not base64',
	'Zz=' => 'not a cuckoofilter: the text is not base64',
	'Zz==' => 'not a cuckoofilter: the text is not base64',
	'ZZ==' => 'not a cuckoofilter: the text is not base64',
	'ZQ==' => 'not a cuckoofilter: the bytes are damaged or are something else',
	'Q0tG' x 22 => 'cuckoofilter of an unknown format or hash version');
my $good = $node->safe_psql('postgres', 'SELECT cuckoofilter_agg(g) FROM generate_series(1, 20) g');
my $newer = $node->safe_psql('postgres', "SELECT encode(set_byte(decode('$good', 'base64'), 3, 200), 'base64')");
$newer =~ s/\n//g;
$refused{$newer} = 'cuckoofilter of an unknown format or hash version';
foreach my $text (sort keys %refused)
{
	is(error_state($node, "SELECT '$text'::cuckoofilter"), '22P02', "an error: '$text'");
}

SKIP:
{
	skip 'PostgreSQL before 16', 1 + 2 * (keys %refused) if server_version($node) < 160000;

	is($node->safe_psql('postgres', "SELECT pg_input_is_valid('$good', 'cuckoofilter')"), 't', 'a filter is valid');
	foreach my $text (sort keys %refused)
	{
		is($node->safe_psql('postgres', "SELECT pg_input_is_valid('$text', 'cuckoofilter')"), 'f', "invalid: '$text'");
		is($node->safe_psql('postgres', "SELECT message, sql_error_code FROM pg_input_error_info('$text', 'cuckoofilter')"),
			"$refused{$text}|22P02", "its error: '$text'");
	}
}

$node->stop;
done_testing();
