# SPDX-License-Identifier: GPL-2.0-only
use strict;
use IO::Socket::INET;
use Time::HiRes qw(sleep);

my ($port, $think) = @ARGV;
my $l = IO::Socket::INET->new(LocalAddr => "127.0.0.1", LocalPort => $port, Listen => 8, ReuseAddr => 1) or die;
while (my $c = $l->accept) {
	while (defined(my $line = <$c>)) {
		next if $line ne "\r\n";
		sleep($think / 1000);
		syswrite($c, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" . "x" x 1000);
	}
	close($c);
}
