# SPDX-License-Identifier: GPL-2.0-only
# As writer.c. writer PORT [nodelay]
use strict;
use warnings;
use IO::Socket::INET;
use Socket qw(IPPROTO_TCP TCP_NODELAY MSG_WAITALL);

my $socket = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $ARGV[0], Proto => 'tcp') or exit 1;
setsockopt($socket, IPPROTO_TCP, TCP_NODELAY, @ARGV > 1 ? 1 : 0);

sub send_message {
	syswrite($socket, 'h' x 16);
	syswrite($socket, 'b' x 1000);    # the small piece
}

while (1) {
	send_message();
	my $answer;
	last unless defined recv($socket, $answer, 32, MSG_WAITALL) && length $answer;
}
