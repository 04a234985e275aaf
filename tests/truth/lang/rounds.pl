# SPDX-License-Identifier: GPL-2.0-only
use strict;
use Socket;
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);

my ($port, $rounds, $pieces) = @ARGV;
socket(my $s, PF_INET, SOCK_STREAM, 0) or die;
connect($s, sockaddr_in($port, inet_aton("127.0.0.1"))) or die;
my $late = 0;
for (1 .. $rounds) {
	my $began = clock_gettime(CLOCK_MONOTONIC);
	if ($pieces == 2) {
		syswrite($s, "head");
		syswrite($s, "b" x 200);
	} else {
		syswrite($s, "head" . "b" x 200);
	}
	sysread($s, my $answer, 1);
	my $took = clock_gettime(CLOCK_MONOTONIC) - $began;
	$late += $took if $took >= 0.02;
}
printf "%d\n", $late * 1e9;
