#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# stage: core
# What a person asks the program about itself: help, man pages, explanations, completion in the shells themselves.
# shellcheck disable=SC2154 # here: lib.sh
. "$(dirname "$0")/lib.sh"
cd "$WORK" || exit 70
commands=$("$IPCSTALL" completion fish | sed -n 's/.*__ipcstall_first -f -a \([a-z]*\) .*/\1/p')

works 'explain a state' explain nagle && check 'it says how the fix is written' "$(cat out)" grep -q 'python .*TCP_NODELAY' out
works 'explain in any case and spelling' explain Delayed_ACK
works 'explain a fix' explain quickack && check 'and how it is tried' "$(cat out)" grep -q 'ipcstall try -p PID --fix quickack' out
works 'causes with a word' causes sndbuf
refuses 'explain a word that is not there' 2 "did you mean 'nagle'" explain naggle
refuses 'explain without a word' 2 'give one word' explain
for word in $("$IPCSTALL" explain --help | sed -n '/^Words:/,/^Examples:/s/^      \([a-z-]*\) .*/\1/p'); do
	"$IPCSTALL" explain "$word" >out 2>err || fail "explain $word" "$(cat err)"
done
check 'every word of its list is explained' "$(tail -1 err)" [ ! -s err ]
for command in $commands; do
	"$IPCSTALL" help "$command" >out 2>err || fail "help $command" "$(cat err)"
	"$IPCSTALL" "$command" --help >again 2>>err
	cmp -s out again || fail "help $command" 'differs from --help'
done
check 'help COMMAND is COMMAND --help' "$(cat err)" [ ! -s err ]

mkdir pages
works 'man pages' man --dir pages
check 'a page a command, and one for all' "$(ls pages)" [ "$(ls pages | wc -l)" -eq $(($(wc -w <<<"$commands") + 1)) ]
for tool in 'mandoc -Tlint' 'man --warnings -E UTF-8 -l'; do
	command -v "${tool%% *}" >/dev/null || { echo "skip $tool: not installed"; continue; }
	for page in pages/*; do $tool "$page" 2>&1 | grep -E "^(mandoc|man|troff|an.tmac)|: warning"; done >lint
	check "$tool has nothing to say" "$(head -3 lint)" [ ! -s lint ]
done

for shell in bash zsh fish; do
	command -v $shell >/dev/null || { echo "skip completion in $shell: not installed"; continue; }
	"$IPCSTALL" completion $shell >script.$shell
	ln -sf "$IPCSTALL" ipcstall
	shows() { # NAME TEXT WORD...
		local name=$1 why
		shift
		why=$(PATH=$PWD:$PATH python3 "$here/tests/cli/complete.py" $shell "$PWD/script.$shell" "$@") && pass "$shell: $name" || fail "$shell: $name" "$why"
	}
	shows 'commands' 'ipcstall ' run attach try explain
	shows 'options' 'ipcstall attach --p' --pid --proto --port
	shows 'values of an option' 'ipcstall --mode u' unix udp unix-dgram
	shows 'values of a hint' 'ipcstall attach --proto ' tcp udp pipe
	shows 'names of experiments' 'ipcstall experiment ' nagle-comb pipe-peak
	shows 'words that are explained' 'ipcstall explain s' sndbuf stall
done
refuses 'completion of another shell' 2 'known: bash, zsh, fish' completion tcsh
finish
