# SPDX-License-Identifier: GPL-2.0-only
use strict;
use HTTP::Daemon;
use HTTP::Response;
use Time::HiRes qw(sleep);

my ($port, $think) = @ARGV;
my $d = HTTP::Daemon->new(LocalAddr => "127.0.0.1", LocalPort => $port, ReuseAddr => 1) or die;
while (my $c = $d->accept) {
	while (my $q = $c->get_request) {
		sleep(($think || 0) / 1000);
		$c->send_response(HTTP::Response->new(200, "OK", [], "x" x 1000));
	}
	$c->close;
}
