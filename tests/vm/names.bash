# SPDX-License-Identifier: GPL-2.0-only
# A suite test's name, and the script and the variant that it stands for; used on both sides, with the folder in SUITE.
# shellcheck shell=bash
# shellcheck disable=SC2154

script_of() { [[ -f $SUITE/$1 ]] && echo "$1" || echo "${1%-*}"; }

# Nothing for a test that is a script of its own.
variant_of() { [[ -f $SUITE/$1 ]] || echo "${1##*-}"; }

# comment KEY TEST: the values that a test's comments '# KEY: VALUE' give.
comment() { sed -n "s/^# $1: *//p" "$SUITE/$(script_of "$2")"; }
