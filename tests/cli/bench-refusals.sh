# SPDX-License-Identifier: GPL-2.0-only
# stage: core
# What cannot be run is refused before anything runs: one line, the right exit code.
. "$(dirname "$0")/lib.sh"
CLOCK=no # read by fail()

while IFS='|' read -r pattern args; do
	[ -n "$args" ] || continue
	# shellcheck disable=SC2086
	refuses "refused: $args" 2 "$pattern" $args
done <<'ROWS'
--mode: missing|--size 64
did you mean 'tcp'|--mode tpc
did you mean 'pipe'|--mode pip
did you mean 'udp'|-m upd
did you mean 'unix-dgram'|--mode unix-dgrm
one of: pipe|--mode xyzzyplugh
1 byte to 1G|--mode tcp --size 0
1 byte to 1G|--mode tcp --size -4
1 byte to 1G|--mode tcp --size 2G
takes 88 to 32767|--mode tcp --size 64 --mss 1
takes 88 to 32767|--mode tcp --size 64 --mss 40000
not a number of bytes|--mode tcp --size 64Q
not a number of bytes|--mode tcp --size 1e400
not a number of bytes|--mode tcp --size 4,,8
not a number of bytes|--mode tcp --size 0x40
not FROM:TO|--mode tcp --size 8:4:+1
not FROM:TO|--mode tcp --size 4:8
not FROM:TO|--mode tcp --size 4:8:+0
not FROM:TO|--mode tcp --size 4:8:*1
not FROM:TO|--mode tcp --size 4:8:-1
more than 10000 sizes|--mode tcp --size 1:1G:+1
value is missing|--mode tcp --size
value is missing|--mode
no such option; did you mean --size|--mode tcp --sise 64
no such option|--mode tcp --qqqqqqqqqqqq
-z: no such option|--mode tcp -z
takes no value|--mode tcp --nodelay=yes
unexpected operand|--mode tcp 64
did you mean 'latency'|--mode tcp --test latncy
unknown|--mode tcp --test latency,
unknown|--mode tcp --test bandwidthy
did you mean 'header'|--mode tcp --pattern heder
chunks=4096|--mode tcp --pattern chunks
not a number of bytes|--mode tcp --pattern chunks=0
not a number of bytes|--mode tcp --pattern header=x
not a number of bytes|--mode tcp --pattern single=4
nothing would be left|--mode tcp --pattern trailer=4 --size 4
nothing would be left|--mode tcp --pattern header --size 16
belongs to streams|--mode udp --pattern header --size 64
belongs to streams|--mode unix-dgram --pattern chunks=8
belongs to tcp|--mode pipe --nodelay
belongs to tcp|--mode unix --nagle
belongs to tcp|--mode udp --cork
belongs to tcp|--mode udp --quickack
belongs to tcp|--mode pipe --mss 500
belongs to tcp|--mode unix --cc cubic
belongs to tcp|--mode udp --delack-max 8ms
belongs to tcp, udp|--mode pipe -6
belongs to tcp, udp|--mode unix --link veth
belongs to tcp, udp|--mode unix --port 5000
belongs to the sockets|--mode pipe --sndbuf 64K
belongs to the sockets|--mode pipe --rcvbuf 64K
belongs to pipe|--mode tcp --pipe-size 64K
belongs to tcp, unix|--mode udp --test connect
belongs to tcp, unix|--mode pipe --test connect
--nodelay with --nagle|--mode tcp --nodelay --nagle
--more with one write|--mode tcp --more
--count with --bytes|--mode tcp --count 5 --bytes 5
--rate with --outstanding|--mode tcp --test latency --rate 100 --outstanding 4
bulk has no schedule|--mode tcp --rate 100
--rate with --test connect|--mode tcp --test connect --rate 100
no answer is awaited|--mode tcp --test throughput --outstanding 4
--ack with --test latency: only throughput|--mode tcp --test latency --ack message
--trials with --test latency,oneway: only throughput|--mode tcp --test latency,oneway --trials 5
--outstanding with --test connect: only latency|--mode tcp --test connect --outstanding 4
--raw with --test throughput: bulk|--mode tcp --test throughput --raw raw
--mean with --test throughput: bulk|--mode tcp --test throughput --mean
--nodelay with --test connect: a connect carries no|--mode tcp --test connect --nodelay
--pattern with --test connect: a connect carries no|--mode unix --test connect --pattern header
--bytes with --test connect: a connect carries no|--mode unix --test connect --bytes 1M
--nist with --test connect: a connect has no ledger|--mode tcp --test connect --nist
--pattern with --test throughput: no --size is above its chunks|--mode tcp --test throughput --size 100,200 --pattern chunks=200
--trials with --test latency: only throughput|sweep --mode tcp --test latency --size 64 -V trials=5,7
--ack with --test latency,connect: only throughput|sweep --mode tcp --size 64 -V test=latency,connect --ack message
--ack with --test latency: only throughput|diagnose --mode tcp --test latency --ack message
--backend with --no-trace|--mode tcp --backend rawtp --no-trace
would block each other|--mode tcp --test latency --outstanding 8 --size 64K
--outstanding with udp|--mode udp --test latency --outstanding 4 --size 64
out of range|--mode tcp --outstanding 0
out of range|--mode tcp --trials 0
out of range; give 1ms to 86400s|--mode tcp --duration 0
out of range; give 100us to 60s|--mode rudp --rto 5ns
out of range|--mode tcp --duration -1s
out of range|--mode tcp --count -1
out of range|--mode tcp --port 65536
out of range|--mode tcp --mss 70000
give 0 to 9007199254740992$|--mode tcp --seed -1
give 0 to 9007199254740992$|--mode tcp --seed 99999999999999999999999
give 1M to 1024G$|record -o f --max-size 0
out of range; give 0 to 9000000000s$|attach -a --threshold 99999999999s
not a whole number|--mode tcp --count many
not a time|--mode tcp --duration 3parsecs
not a number|--mode tcp --rate fast
one CPU number or two|--mode tcp --cpus a
one CPU number or two|--mode tcp --cpus 0,1,2
one CPU number or two|--mode tcp --cpus -1
that is two CPUs|--mode tcp --cpus 0,1 --placement same
that is one CPU|--mode tcp --cpus 0 --placement cross
they contradict each other|--mode tcp --cpus 0 --placement none
did you mean 'cross'|--mode tcp --placement cros
accept\(\) sleeps|--mode tcp --test connect --placement spin
did you mean 'gso'|--mode udp --engine gos
belongs to udp|--mode tcp --engine gso
belongs to pipe|--mode unix --engine splice
belongs to tcp|--mode udp --engine zerocopy
serves bulk throughput only|--mode udp --engine mmsg --test latency
serves bulk throughput only|--mode pipe --engine splice --ack message
only plain calls can spin|--mode pipe --engine splice --placement spin
its own way|--mode pipe --engine splice --pattern chunks=512
one datagram at most|--mode udp --engine mmsg --size 128K
one datagram at most|--mode udp --engine gso --size 128K --quiet
link|--mode tcp --link vethh
link|--mode tcp --link veth,mtu=1
link|--mode tcp --link veth,rate=fast
trials set this host's buffers only|--mode tcp --tuned --connect localhost
buffers and windows|--mode tcp --tuned --test connect
--duration with --count|--mode tcp -d 1s --count 10
--duration with --bytes|--mode tcp --bytes=10 --duration=1s
--duration with --count|diagnose --mode tcp -d 1s --count 10
--duration with --count|sweep --mode tcp -d 1s --count 10 -V size=4
nothing would be sent|--mode tcp --count 0
nothing would be sent|--mode tcp --bytes 0
stopwatch needs the ledger|--mode tcp --nist --no-trace
given twice; give all its values|sweep -m tcp -V size=4 -V size=8
set the same option|sweep -m tcp -V size=4 --size 8
set the same option|sweep -m tcp -V cc=reno,cubic --cc=reno --size 8
4 is given twice|sweep -m tcp -V size=4,8,4
lo is given twice|sweep -m tcp --size 4 -V link=lo;veth;lo
the file says what to run|--repeat f.json --count 10
the file says what to run|-m tcp --repeat f.json
the file says what was run|diagnose --from f.json --size 4
the file says what was run|diagnose -m pipe --from f.json --fixes run
nothing is measured|diagnose --from f.json --rounds 9
nothing is measured|diagnose --from f.json --no-trace --fixes name
one lists, the other runs|experiment --list foo
--format without --once|export --format prometheus
two outputs would mix|--mode tcp --json - --csv -
empty|--mode tcp --json=
no such command; did you mean 'bench'|bensh
no such command; did you mean 'bench'|help bensh
ROWS

refuses 'a CPU that is not there' 5 'no such CPU' --mode tcp --size 64 --cpus 9999
refuses 'a congestion control that is not there' 4 'cc nosuchcc' --mode tcp --size 64 --cc nosuchcc
refuses 'a directory that is not there' 6 'No such file' --mode tcp --size 64 --json /nonexistent/x.json
cd "$WORK" || exit 70
short=(--mode pipe --size 64 --test latency --count 100 --quiet)
refuses 'two outputs to one file' 2 'two outputs would mix in one file' "${short[@]}" --json x --csv x --raw y
refuses 'two outputs to one file, by two names' 2 'x and \./x: two outputs' "${short[@]}" --json x --raw ./x
"$IPCSTALL" "${short[@]}" --json kept.json && cp kept.json was.json
refuses 'an output that would replace what is repeated' 2 'this input would be overwritten' --repeat kept.json --json kept.json
check 'and it is left alone' "$(head -c 200 kept.json)" cmp -s kept.json was.json
rm kept.json was.json
ln -s x link
refuses 'two outputs to one file, one by a link' 2 'x and link: two outputs' "${short[@]}" --csv x --timeline link
rm link
"$IPCSTALL" "${short[@]}" --json - --csv mixed >mixed 2>err
rc=$?
check 'two outputs to one file, one as standard output' "$rc $(cat err)" eval '[ $rc -eq 2 ] && grep -q "standard output and mixed: two outputs" err'
rm -f mixed err out
works 'two outputs to one device' "${short[@]}" --json /dev/null --csv /dev/null
refuses 'a run that cannot begin' 4 nosuchcc --mode tcp --size 64 --cc nosuchcc --json new --csv kept
check 'what was only looked at is not left behind' "$(ls)" eval '[ "$(ls)" = "$(printf "err\nout")" ]'
echo kept >kept
refuses 'a file that is there already' 4 nosuchcc --mode tcp --size 64 --cc nosuchcc --csv kept
check 'what was there before stays' "$(ls)" [ "$(cat kept)" = kept ]
refuses 'a file to repeat that is not there' 9 ': /nonexistent/x.json: No such file or directory; give' --repeat /nonexistent/x.json
echo '{"schema": "other"}' >"$WORK/other.json"
refuses 'a file to repeat of another kind' 9 'not a result' --repeat "$WORK/other.json"
echo '{"schema": "ipcstall.result", "version": 99, "options": {}}' >"$WORK/new.json"
refuses 'a file to repeat of another version' 8 'version 99' --repeat "$WORK/new.json"
echo '{"schema": "ipcstall.result", "version": 1, "options": {"warp": 9}}' >"$WORK/warp.json"
refuses 'an option to repeat that is unknown' 8 "option 'warp'" --repeat "$WORK/warp.json"
head -c 40 "$WORK/new.json" >"$WORK/cut.json"
refuses 'a file to repeat that is cut short' 9 'line 1' --repeat "$WORK/cut.json"

# Every way to ask shows the same, and none of it is wider than it should be; an example is one line to be copied.
"$IPCSTALL" run --help >"$WORK/help"
for ask in 'help run' '--help run' '-h run'; do
	# shellcheck disable=SC2086
	"$IPCSTALL" $ask 2>&1 | cmp -s - "$WORK/help" && pass "asked by $ask" || fail "asked by $ask" "$("$IPCSTALL" $ask 2>&1 | head -1)"
done
for command in $("$IPCSTALL" --help | sed -n '/^Commands:/,/^`/s/^  \([a-z]*\) .*/\1/p'); do
	wide=$("$IPCSTALL" "$command" --help | sed '/^Examples:/,$d' | awk 'length > 100')
	[ -z "$wide" ] && pass "help of $command: not too wide" || fail "help of $command: not too wide" "$wide"
	"$IPCSTALL" "$command" --help | grep -q '^Examples:' && pass "help of $command: examples" || fail "help of $command: examples" none
done
while IFS='|' read -r command option default; do
	text=$("$IPCSTALL" "$command" --help | tr -s ' \n' ' ')
	text=${text#*" --$option "}
	text=${text%%" --"*}
	if [[ $text == *"(default $default)"* ]]; then pass "default of $command --$option"; else fail "default of $command --$option" "$text"; fi
done <<'ROWS'
run|max-endpoints|4096
attach|max-endpoints|4096
top|max-endpoints|32768
export|max-endpoints|32768
run|timeline-max|1000000
run|shown|10
run|backend|auto
bench|duration|1s
diagnose|duration|150ms
top|interval|1s
top|sort|stall
top|width|132
export|listen|127.0.0.1:19435
export|max-groups|100
export|cgroup-depth|8
export|interval|10s
ROWS
refuses 'a key of a link that is not there says where they are listed' 2 'ipcstall bench --help` lists the keys' -m tcp -L veth,colour=red
"$IPCSTALL" man bench >"$WORK/man"
"$IPCSTALL" man >"$WORK/main"
for key in mtu rate burst limit delay jitter loss qdisc tso gso gro pingpong quickack cwnd; do
	"$IPCSTALL" bench --help | grep "^      $key  " >/dev/null && grep -qx ".B $key" "$WORK/man" && pass "key $key is explained" || fail "key $key is explained" 'not in help and man'
done
for said in 'a bare number is seconds' 'no.*NAME' '128+N'; do
	tr '\n' ' ' <"$WORK/main" | grep -q -- "$said" && pass "the man page says: $said" || fail "the man page says: $said" missing
done
"$IPCSTALL" --help | tr '\n' ' ' | grep -q 'a bare number is seconds' && pass 'help says how values are written' || fail 'help says how values are written' missing
finish
