# SPDX-License-Identifier: GPL-2.0-only
# What a suite test needs to report; it lies in the guest as /t/suite.bash.
# shellcheck shell=bash

ok() { echo "ok $1"; }
not_ok() { echo "not ok $1: $2"; FAILED=1; }
skip() { echo "skip $1: $2"; }

# check NAME COMMAND...: ok where it succeeds; otherwise its last line is the reason.
check() {
	local name=$1 said
	shift
	if said=$("$@" 2>&1); then ok "$name"; else not_ok "$name" "${said##*$'\n'}"; fi
}

# within NAME VALUE LOW HIGH [UNIT]: numbers may have fractions; a value that is no number is not within.
within() {
	if awk -v v="$2" -v lo="$3" -v hi="$4" 'BEGIN { exit !(v ~ /^[0-9.]+$/ && v >= lo && v <= hi) }'; then
		ok "$1"
	else
		not_ok "$1" "${2:-nothing}${5:+ $5}, expected $3 to $4"
	fi
}

# meant_object BACKEND: what the kernel named in KERNEL can have at best. 6.1 has no casts.
meant_object() {
	case $KERNEL-$1 in
	6.1-fentry)	echo fentry_probed ;;
	6.1-kprobe)	echo kprobe_probed ;;
	6.1-sampled)	echo sampled_probed ;;
	*)		echo "$1" ;;
	esac
}

# object_is_meant BACKEND DOCUMENT: was it that one?
object_is_meant() {
	local taken meant
	taken=$(grep -oE '"object": *"[a-z_]+"' "$2" | head -n1 | grep -oE '[a-z_]+"$' | tr -d '"')
	meant=$(meant_object "$1")
	if [[ $taken == "$meant" ]]; then
		ok "the object meant for this kernel"
	else
		not_ok "the object meant for this kernel" "it took ${taken:-none}, not $meant"
	fi
}

# The last line of a test: its exit status.
finish() { exit "${FAILED:-0}"; }
