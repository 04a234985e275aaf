# SPDX-License-Identifier: GPL-2.0-only
# stage: core
# Row 7 of docs/SECURITY.md: as whom a traced command runs, and what export may still do once it is
# attached.
. "$(dirname "$0")/users.bash"

# --- the command ---
cat >whoami.sh <<'SH'
echo "uid $(id -u) $(id -ru) gid $(id -g) groups $(id -G)"
echo "home $HOME user $USER logname $LOGNAME sudo ${SUDO_USER-}${SUDO_UID-}${SUDO_GID-}${SUDO_COMMAND-}"
grep -E '^(Uid|Gid|Cap(Inh|Prm|Eff|Amb|Bnd)|NoNewPrivs):' /proc/self/status | tr -s '\t\n' ' '
SH
bounding=$(sed -n 's/^CapBnd:\s*//p' /proc/self/status)
sudo_env() { # UID GID COMMAND...: as sudo sets it for alice
	local uid=$1 gid=$2
	shift 2
	env SUDO_USER=alice SUDO_UID="$uid" SUDO_GID="$gid" SUDO_COMMAND=ipcstall HOME=/root USER=root LOGNAME=root "$@"
}
is_alice() { # GID
	grep -qx "uid 23456 23456 gid $1 groups $1 .*" out && grep -qw 23456 out && grep -qw 23457 out && grep -qw 23458 out &&
		grep -qx "home $WORK/home user alice logname alice sudo " out &&
		grep -q "^Uid: 23456 23456 23456 23456 Gid: $1 $1 $1 $1 CapInh: $none CapPrm: $none CapEff: $none CapBnd: $bounding CapAmb: $none NoNewPrivs: 0" out
}
is_root() { grep -q '^uid 0 0 gid 0 ' out && grep -q "CapEff: $mine " out; }
sudo_env 23456 23456 "$IPCSTALL" run --proto unix -- sh ./whoami.sh >out 2>err
check 'row7: under sudo the command is the caller: ids, groups, home, no capabilities, and sudo works in it' "$(cat out err)" is_alice 23456
check 'row7: which is said in one line' "$(cat err)" [ "$(grep -cx 'ipcstall: running sh as alice (--as-root: as root)' err)" -eq 1 ]
sudo_env 23456 23457 "$IPCSTALL" run --proto unix -q -- sh ./whoami.sh >out 2>err
check 'row7: in the group that the caller was in' "$(cat out err)" is_alice 23457
check 'row7: -q says nothing' "$(cat err)" [ ! -s err ]
sudo_env 23456 23456 "$IPCSTALL" record --proto unix -q -o r.rec -- sh ./whoami.sh >out 2>err
check 'row7: record does as run' "$(cat out err)" is_alice 23456
sudo_env 23456 23456 "$IPCSTALL" run --proto unix --as-root -- sh ./whoami.sh >out 2>err
check 'row7: --as-root keeps root' "$(cat out err)" is_root
check 'row7: and says nothing of it' "$(cat err)" eval '! grep -q "running sh as" err'
env -u SUDO_USER SUDO_UID=23456 SUDO_GID=23456 \
	"$IPCSTALL" run --proto unix -- sh ./whoami.sh >out 2>err
check 'row7: without SUDO_USER nothing changes' "$(cat out err)" is_root
env SUDO_USER=root SUDO_UID=0 SUDO_GID=0 "$IPCSTALL" run --proto unix -- sh ./whoami.sh >out 2>err
check "row7: nor where root called sudo" "$(cat out err)" is_root
"$IPCSTALL" run --proto unix -u alice -- sh ./whoami.sh >out 2>err
check 'row7: -u chooses a user' "$(cat out err)" is_alice 23456
sudo_env 23456 23456 "$IPCSTALL" run --proto unix -u nobody -- sh ./whoami.sh >out 2>err
check 'row7: also under sudo' "$(cat out err)" eval "grep -q \"^uid $(id -u nobody) \" out && grep -q 'user nobody logname nobody' out && grep -q 'CapEff: $none ' out"

refuses 'row7: a user there is none of' 2 '^ipcstall: --user nobody-has-this-name: no such user; ' run -u nobody-has-this-name -- true
refuses 'row7: two users' 2 'exclude each other' run -u alice --as-root -- true
refuses 'row7: a user and no command' 2 'apply to a command' record -u alice -o x.rec -p $$
for pair in '0 0' '23456 23459' '23456 ' ' 23456' '23456x 23456' '-1 23456' '4294967295 23456' '99999999999999999999 23456' '23499 23456'; do
	CLOCK=no
	sudo_env "${pair% *}" "${pair#* }" "$IPCSTALL" run -- touch ran >out 2>err
	rc=$?
	check "row7: variables of sudo that name no user: $pair" "$(cat err)" eval "[ $rc -eq 2 ] && [ ! -e ran ] && [ \"\$(wc -l <err)\" -eq 1 ] && grep -q 'they do not name one user' err"
	CLOCK=yes
done
printf '#!/bin/sh\ntouch %s/ran\n' "$WORK" >private && chmod 700 private
sudo_env 23456 23456 "$IPCSTALL" run -q -- ./private >out 2>err
rc=$?
check 'row7: a program that the caller may not run is not run' "$(cat err)" eval "[ $rc -eq 3 ] && [ ! -e ran ] && grep -q 'private: Permission denied' err"
setpriv --reuid=23456 --regid=23456 --clear-groups "$IPCSTALL" run -u nobody -- touch ran >out 2>err
rc=$?
check 'row7: only root takes another user' "$(cat err)" eval "[ $rc -eq 3 ] && [ ! -e ran ] && grep -q 'only root can run a command as another user' err"

sudo_env 23456 23456 "$IPCSTALL" run -q --json m.json -- ./known nagle n=20 >out 2>err
says_true 'row7: its ledger is kept as before' "
eps = [e for e in json.load(open('m.json'))['ledger']['endpoints'] if e['proto'] == 'tcp']
sums = [(sum(s['ns'] or 0 for s in e[d]['states'].values()), e[d]['lifetime_ns']) for e in eps for d in ('tx', 'rx')]
held = max([e['tx']['states']['nagle']['ns'] or 0 for e in eps], default=0)" "len(eps) >= 2 and held > 200e6 and all(a == b for a, b in sums)" "(held, sums)"

# --- the exporter ---
begin_export() { # ARGUMENTS...: its number in $exporter, its port in $port, and something to see
	rm -f metrics export.err
	./known nagle n=100000 >/dev/null 2>&1 &
	jobs_to_end+=($!)
	port=$(free_port)
	"$IPCSTALL" export --listen "127.0.0.1:$port" --interval 1s "$@" 2>export.err &
	exporter=$!
	jobs_to_end+=("$exporter")
	until_true grep -qs 'metrics at' export.err
}
scrape() { python3 -c "import urllib.request; print(urllib.request.urlopen('http://127.0.0.1:$port/metrics', timeout=20).read().decode())" >metrics; }
stalled() { # so many seconds
	scrape && python3 -c "import re, sys
sys.exit(not any(float(v) >= $1 for v in re.findall(r'(?m)^ipcstall_stall_seconds_total\{process=\"known\",.*cause=\"nagle\"\} ([0-9.]+)', open('metrics').read())))"
}
ends() { kill -INT "$exporter" && wait "$exporter"; }
begin_export --exact
status_of $exporter >threads
check 'row7: a filter refuses its threads what serving never needs' "$(seccomp_of $exporter)" \
	filtered $exporter
check 'row7: the exporter serves as nobody, in no group, without capabilities' "$(cat threads)" every_thread "$(id -u nobody)" "$(id -g nobody)" $first
until_true scrape
check 'row7: and still sees what comes' "$(grep -m3 known metrics)" until_true stalled 1
check 'row7: and ends in good order' "$(cat export.err)" ends
begin_export --exact --user alice
status_of $exporter >threads
check 'row7: --user names another' "$(cat threads)" every_thread 23456 23456 $first
ends
begin_export
status_of $exporter >threads
# what it has besides: DAC_READ_SEARCH (2), SYS_PTRACE (19), SYS_NICE (23)
check 'row7: a sampled one can look into /proc, and no more' "$(cat threads)" every_thread "$(id -u nobody)" "$(id -g nobody)" \
	"$(printf '%016x' $((0x$first | 1 << 2 | 1 << 19 | 1 << 23)))"
until_true scrape
check 'row7: and sees what comes too' "$(grep -m3 known metrics)" until_true stalled 1
ends
begin_export --user root
status_of $exporter >threads
check 'row7: --user root stays root' "$(cat threads)" stays_root
ends
"$IPCSTALL" export --once --interval 0.3 >metrics 2>err
check 'row7: --once prints as before' "$(cat err)" grep -q '^ipcstall_endpoints' metrics
"$IPCSTALL" export --once --user nobody-has-this-name >out 2>err
rc=$?
check 'row7: the exporter as a user there is none of' "$(cat out err)" eval "[ $rc -eq 2 ] && [ ! -s out ] && [ \"\$(wc -l <err)\" -eq 1 ] && grep -q 'no such user' err"
finish
