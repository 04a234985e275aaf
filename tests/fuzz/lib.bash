# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What the scripts of the fuzzers share. Run from the top of the tree.
DIR=build/fuzz
KEPT=tests/fuzz/corpus
LIMITS=(-timeout=20 -rss_limit_mb=4096 -max_len=16384)

all_fuzzers() {
	local f
	for f in tests/fuzz/fuzz_*.c; do
		f=${f##*/fuzz_}
		echo "${f%.c}"
	done
}

# unpack NAME: its kept corpus, in $DIR/corpus/NAME
unpack() {
	rm -rf "$DIR/corpus/$1"
	mkdir -p "$DIR/corpus/$1" "$DIR/found/$1"
	[[ ! -s $KEPT/$1.tar.xz ]] || tar -C "$DIR/corpus/$1" -xJf "$KEPT/$1.tar.xz"
}

# reached LOG: 'N of M', the edges that a fuzzer reaches with the inputs that it begins with, and those that it has
reached() {
	awk '/^INFO: Loaded .* inline 8-bit counters/ { for (i = 1; i < NF; i++) if ($(i + 1) == "inline") { sub(/^\(/, "", $i); all = $i } }
		$2 == "INITED" { for (i = 1; i < NF; i++) if ($i == "cov:") seen = $(i + 1) }
		END { print seen + 0, "of", all + 0 }' "$1"
}

# Leaks count, and memory that cannot be had is no fault.
export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1:abort_on_error=0 UBSAN_OPTIONS=print_stacktrace=1
