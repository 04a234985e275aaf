<?php
// SPDX-License-Identifier: GPL-2.0-only
[, $port, $rounds, $pieces] = array_map("intval", $argv);
$s = stream_socket_client("tcp://127.0.0.1:$port");
stream_set_write_buffer($s, 0);
stream_set_read_buffer($s, 0);
$late = 0;
for ($i = 0; $i < $rounds; $i++) {
	$began = hrtime(true);
	if ($pieces == 2) {
		fwrite($s, "head");
		fwrite($s, str_repeat("b", 200));
	} else {
		fwrite($s, "head" . str_repeat("b", 200));
	}
	fread($s, 1);
	$took = hrtime(true) - $began;
	$late += $took >= 20000000 ? $took : 0;
}
echo "$late\n";
