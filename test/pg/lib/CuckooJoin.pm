# Shared by the tests of join filters: a cluster that makes a filter wherever it is legal, and
# queries that give the same rows in every mode.
package CuckooJoin;

use CuckooCluster;
use Exporter 'import';

our @EXPORT = qw(join_cluster random_cluster filters_of same_rows explained plan_of grow_table time_limit);

my $node;

# A cluster whose sessions have join filters; %options as of new_cluster.
sub join_cluster
{
	my ($name, %options) = @_;

	$options{conf} = "session_preload_libraries = 'cuckoofilter_join'\n"
	  . "cuckoofilter.join_filter = on\ncuckoofilter.join_filter_min_rows = 0\ncuckoofilter.join_filter_max_pass = 1\n"
	  . "max_parallel_workers_per_gather = 0\nfsync = off\n"
	  . ($options{conf} // '');
	$node = new_cluster($name, %options);
	return $node;
}

# The same for random joins, whose plans are often parallel; with further lines of configuration and %options. Some
# joins that are drawn take hours: they are given up, and counted.
sub random_cluster
{
	my ($conf, %options) = @_;

	return join_cluster('main', %options,
		conf => "statement_timeout = '30s'\nparallel_setup_cost = 0\nparallel_tuple_cost = 0\nmin_parallel_table_scan_size = 0\nmax_parallel_workers = 8\nmax_worker_processes = 10\n"
		  . ($conf // ''));
}

# The statement_timeout of a mode. A join that takes too long without filters is given up; with them it has four times as long,
# so that no other load of the machine makes the difference.
sub time_limit
{
	my ($mode) = @_;
	return $mode eq 'off' ? "'15s'" : "'60s'";
}

# Let a table have so many blocks, 131,072 at most: the new ones are empty, and take no space on disk.
sub grow_table
{
	my ($table, $blocks) = @_;
	my $path = $node->safe_psql('postgres', "CHECKPOINT; SELECT pg_relation_filepath('$table')");

	truncate($node->data_dir . "/$path", $blocks * 8192) or die("$path: $!");
	return;
}

# EXPLAIN of a query, analyzed unless told.
sub explained
{
	my ($query, $options) = @_;
	my ($before, $last) = $query =~ /^(.*;)?\s*([^;]+?);?\s*$/s;

	$options //= 'ANALYZE, TIMING OFF, SUMMARY OFF, COSTS OFF';
	$options .= ', BUFFERS OFF' if $options =~ /ANALYZE/; # PostgreSQL 18 has them on
	return $node->safe_psql('postgres', ($before // '') . "EXPLAIN ($options) $last") =~ s/(rows=\d+)\.00/$1/gr; # also 18
}

# EXPLAIN of a query, or its error.
sub plan_of
{
	my @arguments = @_;
	return eval { explained(@arguments) } // "no plan: $@";
}

# Of the filters of a plan: how many there are. A node that only skips blocks is none.
sub filters_of
{
	my ($plan) = @_;
	return scalar(() = $plan =~ /Custom Scan \(Cuckoo Join Filter\)/g) - scalar(() = $plan =~ /Join Filter: blocks only/g);
}

# A query gives the same rows in every mode, with so many filters, or at least one.
# What comes before its last statement is done first.
sub same_rows
{
	my ($name, $query, $filters) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my %rows;

	foreach my $mode (qw(off on verify))
	{
		my ($status, $out, $err) = $node->psql('postgres', "SET cuckoofilter.join_filter = $mode; $query", on_error_stop => 1);

		$rows{$mode} = $status == 0 ? $out : $err;
	}

	my $n = filters_of(explained($query, 'COSTS OFF'));

	ok($rows{on} eq $rows{off} && $rows{verify} eq $rows{off}, "$name: the same rows")
	  or diag("$query\noff:\n$rows{off}\non:\n$rows{on}\nverify:\n$rows{verify}\n" . explained($query, 'COSTS OFF'));
	if (defined $filters)
	{
		is($n, $filters, "$name: with $filters filters") or diag(explained($query, 'COSTS OFF'));
	}
	else
	{
		cmp_ok($n, '>', 0, "$name: with a filter") or diag(explained($query, 'COSTS OFF'));
	}
	return $rows{off};
}

1;
