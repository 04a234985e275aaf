# SPDX-License-Identifier: GPL-2.0-only
lassign $argv port rounds pieces
set s [socket 127.0.0.1 $port]
fconfigure $s -translation binary -buffering none
set late 0
for {set i 0} {$i < $rounds} {incr i} {
	set began [clock microseconds]
	if {$pieces == 2} {
		puts -nonewline $s head
		puts -nonewline $s [string repeat b 200]
	} else {
		puts -nonewline $s head[string repeat b 200]
	}
	read $s 1
	set took [expr {[clock microseconds] - $began}]
	if {$took >= 20000} {
		incr late $took
	}
}
puts [expr {$late * 1000}]
