#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# stage: all
# shellcheck disable=SC2154,SC2016 # lib.sh has `here`; what Java's tool is given is expanded there
# `ipcstall try` names the function and the line that wrote what stalls; what it cannot know, it says.
. "$(dirname "$0")/lib.sh"
needs_ledger
cd "$WORK" || exit 70
writers=$here/tests/try/writers

python3 "$here/tests/try/answerer.py" port 2>/dev/null &
jobs_to_end+=($!)
until_true test -s port || { fail answerer "it does not listen"; finish; }
PORT=$(cat port)

talks() { ss -tnpH state established "dport = :$PORT" | grep -q "pid=$1,"; } # PID
# "function|file|line|begins at" of the first frame that is the program's own, and its caller's; then what is missing
stack_of() { # COMMAND...: looked at while it runs
	"$@" "$PORT" >/dev/null 2>&1 &
	writer=$!
	until_true talks $writer
	[ -z "${ready:-}" ] || until_true "$ready" $writer
	"$IPCSTALL" try -p $writer --dry-run -q --look 20s --json s.json 2>err
	kill $writer
	wait $writer 2>/dev/null
	[ -s s.json ] || cat err
}
names() { # NAME EXPRESSION over own, callers, missing
	says_true "$1" "import os
d=json.load(open('s.json'))
frames=d['stack'] or []
own=[(f['function'], os.path.basename(f['file'] or ''), f['line']) for f in frames if not f['library']]
missing=d['stack_missing'] or ''" "$2" '(own[:3], missing)'
	rm -f s.json
}
line() { grep -n 'the small piece' "$writers/$1" | cut -d: -f1; }

if command -v cc >/dev/null && cc -O2 -g -fomit-frame-pointer -o writer-c "$writers/writer.c" 2>/dev/null; then
	stack_of ./writer-c
	names 'C without frame pointers: the function and its line' "own[0] == ('write_body', 'writer.c', $(line writer.c)) and [f[0] for f in own[1:3]] == ['ask', 'main']"
	strip -g writer-c
	stack_of ./writer-c
	names 'C without debug information: the function, and that lines are not known' "own[0][0] == 'write_body' and not own[0][2] and 'debug information' in missing"
else
	echo 'skip C: no compiler'
fi
if command -v g++ >/dev/null && g++ -O2 -g -fomit-frame-pointer -o writer-cc "$writers/writer.cc" 2>/dev/null; then
	stack_of ./writer-cc
	names 'C++: the function that was inlined, demangled, and who it was inlined into' "own[0] == ('wire::Connection::put<1000>', 'writer.cc', $(line writer.cc)) and own[1][0] == 'wire::Connection::send_message'"
	strip -g writer-cc
	stack_of ./writer-cc
	names 'C++ without debug information: demangled' "own[0][0] == 'wire::Connection::send_message'"
else
	echo 'skip C++: no compiler'
fi
# the other of the two manglings than a compiler's own is an unstable option of it
for mangling in legacy v0; do
	if command -v rustc >/dev/null && RUSTC_BOOTSTRAP=1 rustc -O -g -Z unstable-options -C symbol-mangling-version=$mangling -o writer-rs "$writers/writer.rs" 2>/dev/null; then
		stack_of ./writer-rs
		names "Rust ($mangling): the method and its line" "own[0] == ('writer::Connection::send_message', 'writer.rs', $(line writer.rs)) and own[1][0] == 'writer::Connection::ask'"
		strip -g writer-rs
		stack_of ./writer-rs
		names "Rust ($mangling) without debug information: demangled" "own[0][0] == 'writer::Connection::send_message'"
	else
		echo "skip Rust ($mangling): no compiler that has it"
	fi
done
if command -v go >/dev/null && GOFLAGS=-mod=mod go build -o writer-go "$writers/writer.go" 2>/dev/null; then
	stack_of ./writer-go
	names 'Go: the function and its line' "own[0] == ('main.sendMessage', 'writer.go', $(line writer.go)) and own[1][0] == 'main.main'"
else
	echo 'skip Go: no compiler'
fi

pythons=$(for p in /usr/bin/python3 /usr/local/bin/python3 "${PYENV_ROOT:-$HOME/.pyenv}"/versions/*/bin/python3; do
	[ ! -x "$p" ] || "$p" -c 'import sys; print(sys.executable, "%d.%d" % sys.version_info[:2])'
done 2>/dev/null | sort -u -k2,2 -V)
while read -r python version; do
	stack_of "$python" "$writers/writer.py"
	case $version in
	3.11 | 3.12 | 3.13) names "Python $version: the function and its line" "own[0] == ('send_message', 'writer.py', $(line writer.py)) and own[1][0] == '<module>'" ;;
	3.*) names "Python $version: says that it does not know" "not own and '3.11 to 3.13' in missing" ;;
	esac
done <<<"$pythons"

if command -v node >/dev/null; then
	stack_of node --perf-basic-prof --interpreted-frames-native-stack "$writers/writer.js"
	begins=$(grep -n '^function sendMessage' "$writers/writer.js" | cut -d: -f1)
	names 'Node with a map: the function and where it begins' "own[0] == ('sendMessage', 'writer.js', $begins)"
	stack_of node "$writers/writer.js"
	names 'Node without one: says what would tell' "not own and '--perf-basic-prof' in missing"
	rm -f /tmp/perf-"$writer".map
else
	echo 'skip Node: not here'
fi
write_map() { jcmd "$1" Compiler.perfmap >/dev/null 2>&1 && grep -q Writer.sendMessage "/tmp/perf-$1.map"; }
if command -v javac >/dev/null && javac -d . "$writers/Writer.java" 2>/dev/null; then
	ready=write_map stack_of java -Xcomp -XX:+PreserveFramePointer -XX:CompileCommand=quiet -XX:CompileCommand=dontinline,Writer::sendMessage -cp . Writer
	names 'Java with a map: the method, and that lines are not in it' "own[0][0] == 'Writer.sendMessage' and 'line numbers' in missing"
	rm -f /tmp/perf-"$writer".map
	stack_of java -cp . Writer
	names 'Java without one: says what would tell' "not own and 'Compiler.perfmap' in missing"
else
	echo 'skip Java: not here'
fi
if command -v ruby >/dev/null; then
	stack_of ruby "$writers/writer.rb"
	names 'Ruby: says that it does not know' "not own and 'Ruby' in missing"
else
	echo 'skip Ruby: not here'
fi
finish
