# A socket in front of a node that counts the bytes in both directions.
package CuckooProxy;

use CuckooCluster;
use IO::Select;
use IO::Socket::UNIX;
use POSIX ();

# Its host and port serve as those of the node.  A process of its own passes the
# bytes on, and writes how many they were where we read it.
sub new
{
	my ($class, $node) = @_;
	my $self = bless({ host => PostgreSQL::Test::Utils::tempdir_short(), port => $node->port }, $class);
	my $listen = IO::Socket::UNIX->new(Local => "$self->{host}/.s.PGSQL.$self->{port}", Listen => 10) or die "no socket: $!";

	my $test = $$;
	open(my $file, '>', "$self->{host}/count") or die "no file: $!";
	$self->{pid} = fork() // die "fork: $!";
	if ($self->{pid} == 0)
	{
		local $SIG{PIPE} = 'IGNORE';
		pass_on($listen, $node->host . '/.s.PGSQL.' . $node->port, $file, $test);
		POSIX::_exit(0); # not through the test's END
	}
	return $self;
}

# Pass on what comes, until the test is gone.
sub pass_on
{
	my ($listen, $server, $file, $test) = @_;
	my $ready = IO::Select->new($listen);
	my ($bytes, %other) = (0);

	while (getppid() == $test)
	{
		foreach my $near ($ready->can_read(1))
		{
			if ($near == $listen)
			{
				my $client = $listen->accept;
				my $far = IO::Socket::UNIX->new(Peer => $server);
				next if !$client || !$far;
				@other{ $client, $far } = ($far, $client);
				$ready->add($client, $far);
				next;
			}
			my $far = $other{$near} or next; # closed just now
			my $got = sysread($near, my $data, 1 << 18);
			if (!$got)
			{
				$ready->remove($near, $far);
				delete @other{ $near, $far };
				close($_) foreach ($near, $far);
				next;
			}
			# counted before the other side can have them
			$bytes += $got;
			sysseek($file, 0, 0);
			syswrite($file, sprintf('%20d', $bytes));
			for (my $at = 0; $at < $got;)
			{
				$at += syswrite($far, $data, $got - $at, $at) // last;
			}
		}
	}
	return;
}

sub bytes
{
	my ($self) = @_;

	return (slurp_file("$self->{host}/count") || 0) + 0;
}

sub stop
{
	my ($self) = @_;

	kill('KILL', $self->{pid});
	waitpid($self->{pid}, 0);
	return;
}

1;
