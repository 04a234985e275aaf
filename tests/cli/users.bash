# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# shellcheck disable=SC2034 # what is set here is used by those who read this
# For tests/cli/privileges*.sh, which read it before anything else: users of a passwd file that is
# seen here only, and what a process of theirs may do.
[ "$(id -u)" -eq 0 ] || { echo 'needs root'; exit 77; }
if [ -z "${OWN_ETC-}" ]; then
	unshare --mount true 2>/dev/null || { echo 'no mount namespace of its own to be had'; exit 77; }
	OWN_ETC=1 exec unshare --mount --propagation private bash "$0" "$@"
fi
. "$(dirname "$0")/lib.sh"
needs_ledger
chmod 755 "$WORK"
cp "$KNOWN" "$WORK/known"
{ cat /etc/passwd; echo "alice:x:23456:23456::$WORK/home:/bin/sh"; } >"$WORK/passwd"
{
	cat /etc/group
	printf '%s\n' alice:x:23456: crew:x:23457:alice lab:x:23458:alice other:x:23459:
} >"$WORK/group"
mount --bind "$WORK/passwd" /etc/passwd && mount --bind "$WORK/group" /etc/group ||
	{ echo 'no users of its own to be had'; exit 77; }
cd "$WORK" || exit 70
mine=$(sed -n 's/^CapEff:\s*//p' /proc/self/status)
none=0000000000000000
status_of() { # PID: of each of its threads
	local t keys='Uid\|Gid\|Groups\|Cap[IPEA].*\|NoNewPrivs'
	for t in /proc/"$1"/task/*/status; do
		sed -n "s/^\\($keys\\):\\s*/\\1 /p" "$t" | tr -s '\t\n ' ' '
		echo
	done
}
every_thread() { # UID GID CAPABILITIES
	local ids="Uid $1 $1 $1 $1 Gid $2 $2 $2 $2 Groups ?"
	local may="CapInh $none CapPrm $3 CapEff $3 CapAmb $none NoNewPrivs 1 ?"
	[ "$(sort -u threads | wc -l)" -eq 1 ] && [ "$(wc -l <threads)" -ge 2 ] &&
		grep -qxE "$ids$may" threads
}
# bpf() on what is open is everybody's since Linux 5.19; before, it may want CAP_BPF (bit 39)
release=$(uname -r) first=$none
IFS=.- read -r major minor _ <<<"$release"
[ $((major * 100 + minor)) -ge 519 ] ||
	[ "$(cat /proc/sys/kernel/unprivileged_bpf_disabled)" = 0 ] || first=0000008000000000
looks=$((0x$first | 1 << 2 | 1 << 19 | 1 << 23)) # DAC_READ_SEARCH, SYS_PTRACE, SYS_NICE
filtered() { # PID: each of its threads
	[ "$(grep -hc '^Seccomp:.*2' /proc/"$1"/task/*/status | sort -u)" = 1 ]
}
seccomp_of() { grep -h Seccomp: /proc/"$1"/task/*/status; } # PID
stays_root() { grep -q "^Uid 0 0 0 0 .* CapEff $mine .* NoNewPrivs 0" threads; }
