# A psql process with one backend that a test observes: its statements may time out, be cancelled or
# be killed, and their results are read afterwards.
package CuckooSession;

use CuckooCluster;
use IPC::Run qw(start timeout);

# Of a database, by default postgres. The session ends with its node's test.  Errors show their SQLSTATE.
sub new
{
	my ($class, $node, $database) = @_;
	my $self = bless({ node => $node, in => '', out => '', err => '', asked => 0 }, $class);

	$self->{psql} = start(
		[ 'psql', '-XAtq', '-v', 'VERBOSITY=verbose', '-d', $node->connstr($database // 'postgres') ],
		\$self->{in}, \$self->{out}, \$self->{err},
		timeout($PostgreSQL::Test::Utils::timeout_default * 10));
	$self->{pid} = $self->query('SELECT pg_backend_pid()');
	$self->query(seed_of_session());
	return $self;
}

# Begin to run SQL.
sub ask
{
	my ($self, $sql) = @_;

	$self->{mark} = 'end of ' . ++$self->{asked};
	$self->{in} .= "$sql;\n\\echo '$self->{mark}'\n\\warn '$self->{mark}'\n";
	$self->{psql}->pump_nb;
	return;
}

# Wait until it waits for a lock.
sub wait_for_lock
{
	my ($self) = @_;

	return $self->{node}->poll_query_until('postgres', "SELECT wait_event_type = 'Lock' FROM pg_stat_activity WHERE pid = $self->{pid}");
}

# Wait for its end, of the SQL or of the backend.  What it printed; in list
# context also its errors, and whether the backend is there still.
sub answer
{
	my ($self) = @_;
	my $mark = qr/^\Q$self->{mark}\E\n/m;
	my $alive;

	until ($alive = $self->{out} =~ $mark && $self->{err} =~ $mark)
	{
		last if !$self->{psql}->pumpable;
		$self->{psql}->pump;
	}
	my ($out, $err) = ($self->{out}, $self->{err});
	$self->{out} = $self->{err} = '';
	s/$mark// foreach ($out, $err);
	chomp($out, $err);
	return wantarray ? ($out, $err, $alive) : $out;
}

# The same at once, of SQL that must not fail.
sub query
{
	my ($self, $sql) = @_;

	$self->ask($sql);
	my ($out, $err, $alive) = $self->answer;
	die "query failed: $err: $sql" if !$alive || $err ne '';
	return $out;
}

sub quit
{
	my ($self) = @_;

	$self->{in} .= "\\q\n" if $self->{psql}->pumpable;
	$self->{psql}->finish;
	return;
}

1;
