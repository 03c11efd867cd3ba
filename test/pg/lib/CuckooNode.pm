# A cluster whose psql and safe_psql ask a psql process that stays, since a process for each of a suite's thousands of
# questions takes longer than most answers.  Before the next question ROLLBACK and DISCARD ALL make its session as good as new.
# A question has a process of its own where that is not enough: it gives commands to psql, loads a library,
# reads the session's statistics, or sets what only new sessions read.
package CuckooNode;

use strict;
use warnings;
use IPC::Open3;
use PostgreSQL::Test::Utils ();
use Symbol 'gensym';

our @ISA;

my $most = 3; # sessions of a cluster: some clusters have ten connections
my $own = qr/(^|[;\s])\\[a-z!?]|\bLOAD\b|join_load\(|pg_stat_get_xact_|\bALTER\s+(SYSTEM|DATABASE|ROLE|USER)\b|\b(CREATE|DROP)\s+DATABASE\b/mi;
my ($file, $marks);

# A cluster of PostgreSQL's own class becomes one of this class.
sub adopt
{
	my ($node) = @_;
	@ISA = (ref $node);
	return bless $node, __PACKAGE__;
}

sub psql
{
	my ($self, $dbname, $sql, %params) = @_;
	my ($stdout, $stderr, $stop, $die, $extra) = delete @params{qw(stdout stderr on_error_stop on_error_die extra_params)};

	if (%params || $sql =~ $own)
	{
		$self->leave;
		return $self->SUPER::psql($dbname, $sql, %params, stdout => $stdout, stderr => $stderr, on_error_stop => $stop, on_error_die => $die, extra_params => $extra);
	}

	my $session = $self->session($dbname, ($stop // 1) ? ('-v', 'ON_ERROR_STOP=1') : (), @{ $extra // [] });
	$file //= PostgreSQL::Test::Utils::tempdir() . '/psql.sql';
	open(my $handle, '>', $file) or die "$file: $!";
	print $handle $sql;
	close $handle;
	my ($out, $err, $status) = ask($session, "\\i '$file'");
	if (defined $status)
	{
		$self->forget($session);
	}
	else
	{
		$status = 0;
		$self->forget($session) if defined((ask($session, 'ROLLBACK; DISCARD ALL;'))[2]);
	}
	$err =~ s/^psql:\Q$file\E:/psql:<stdin>:/mg;
	die "psql returns $status: '$err' while running '$sql'" if $status && $die;
	chomp($out, $err);
	$$stdout = $out if $stdout;
	$$stderr = $err if $stderr;
	return wantarray ? ($status, $out, $err) : $status;
}

# The session of a database and of psql's options, as it is now in the environment.
sub session
{
	my ($self, $dbname, @options) = @_;
	local %ENV = $self->_get_env();
	my $key = join("\0", $dbname, @options, map { "$_=$ENV{$_}" } grep { /^PG/ } sort keys %ENV);
	my ($session) = grep { $_->{key} eq $key } @{ $self->{sessions} //= [] };

	if ($session)
	{
		$self->forget($session, 0);
		push @{ $self->{sessions} }, $session; # the last one is the one used last
		return $session if !defined((ask($session, 'SELECT;'))[2]);
		$self->forget($session);
	}
	$self->forget($self->{sessions}[0]) if @{ $self->{sessions} } == $most;
	$session = { key => $key, err => gensym };
	$session->{pid} = open3($session->{in}, $session->{out}, $session->{err}, 'psql', '-XAtq', @options, '-d', $self->connstr($dbname));
	push @{ $self->{sessions} }, $session;
	return $session;
}

# What lines of SQL print, and their errors; and where psql has ended, its status.
sub ask
{
	my ($session, $lines) = @_;
	my $mark = 'end of ' . ++$marks;
	my @from = @{$session}{qw(out err)};
	my @read = ('', '');
	local $SIG{PIPE} = 'IGNORE';

	syswrite($session->{in}, "$lines\n\\echo '$mark'\n\\warn '$mark'\n");
	my %open = (0 => 1, 1 => 1);
	while (%open)
	{
		my $bits = '';
		vec($bits, fileno($from[$_]), 1) = 1 foreach keys %open;
		next if select($bits, undef, undef, undef) <= 0;
		foreach my $i (grep { vec($bits, fileno($from[$_]), 1) } keys %open)
		{
			my $n = sysread($from[$i], $read[$i], 1 << 16, length $read[$i]);
			$session->{ended} = 1 if !$n;
			delete $open{$i} if !$n || $read[$i] =~ s/^\Q$mark\E\n\z//m;
		}
	}
	return @read if !$session->{ended};
	waitpid($session->{pid}, 0);
	die "psql ended by signal " . ($? & 127) . ": $read[1]" if $? & 127;
	return (@read, $? >> 8);
}

# End a session of those that stay, or only take it from their list.
sub forget
{
	my ($self, $session, $end) = @_;

	@{ $self->{sessions} } = grep { $_ != $session } @{ $self->{sessions} };
	return if !($end // 1) || $session->{ended};
	local $SIG{PIPE} = 'IGNORE';
	syswrite($session->{in}, "\\q\n"); # processes that the test forked may have its end of the pipe, too
	close $session->{in};
	waitpid($session->{pid}, 0);
	return;
}

# End them all.
sub leave
{
	my ($self) = @_;

	$self->forget($_) foreach my @sessions = @{ $self->{sessions} // [] };
	return;
}

# A server that ends, or reads its settings again, leaves no old session.
foreach my $name (qw(stop restart reload kill9 teardown_node))
{
	no strict 'refs';
	*$name = sub {
		my ($self, @arguments) = @_;
		local $?;
		$self->leave;
		return $ISA[0]->can($name)->($self, @arguments);
	};
}

1;
