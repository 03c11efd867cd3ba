# A client of the protocol with a named portal: SQL can run after a query has started and before its rows are
# fetched, which psql and libpq have no way for.
package CuckooPortal;

use strict;
use warnings;

use IO::Socket::UNIX;

sub new
{
	my ($class, $node) = @_;
	my $socket = IO::Socket::UNIX->new(Peer => $node->host . '/.s.PGSQL.' . $node->port) or die "no connection: $!";
	my $self = bless({ socket => $socket }, $class);
	my $user = (getpwuid($<))[0];
	my $start = pack('N(Z*)4x', 3 << 16, user => $user, database => 'postgres');

	print {$socket} pack('N', 4 + length($start)) . $start;
	$self->answer;
	return $self;
}

sub send
{
	my ($self, $type, $body) = @_;

	print { $self->{socket} } $type . pack('N', 4 + length($body)) . $body;
	return;
}

sub take
{
	my ($self, $n) = @_;
	my $bytes = '';

	while (length($bytes) < $n)
	{
		read($self->{socket}, $bytes, $n - length($bytes), length($bytes)) or die 'the server has closed the connection';
	}
	return $bytes;
}

# The rows up to the server's next ReadyForQuery, as psql -At prints them; or its error.
sub answer
{
	my ($self) = @_;
	my @rows;
	my $error;

	while (1)
	{
		my ($type, $length) = unpack('aN', $self->take(5));
		my $body = $self->take($length - 4);

		return $error // join("\n", @rows) if $type eq 'Z';
		($error) = $body =~ /\0M([^\0]*)/ if $type eq 'E';
		push(@rows, join('|', unpack('n/(N!/a)', $body))) if $type eq 'D';
	}
}

# Run SQL.
sub query
{
	my ($self, $sql) = @_;

	$self->send('Q', pack('Z*', $sql));
	return $self->answer;
}

# Plan a query, and start it: SQL can run between the two, too. A transaction is open.
sub plan
{
	my ($self, $sql) = @_;

	return $self->query("SET plan_cache_mode = force_generic_plan; PREPARE plan AS $sql; EXPLAIN EXECUTE plan");
}

sub start
{
	my ($self) = @_;

	$self->send('B', pack('Z*Z*nnn', 'portal', 'plan', 0, 0, 0));
	$self->send('S', '');
	return $self->answer;
}

# Its rows: so many, or all that are left.
sub fetch
{
	my ($self, $rows) = @_;

	$self->send('E', pack('Z*N', 'portal', $rows // 0));
	$self->send('S', '');
	return $self->answer;
}

1;
