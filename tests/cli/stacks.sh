# SPDX-License-Identifier: GPL-2.0-only
# The stack of a stall is its own, however many others come and go while it lasts.
. "$(dirname "$0")/lib.sh"
needs_ledger
command -v cc >/dev/null || { echo 'no C compiler'; exit 77; }

# crowd MS: a writer stalls while another thread sleeps, for so long, at the ends of as many ways through fork_left() and fork_right() as it
# has time for; then there are stalls of 15 ms, each at the end of a way of its own.
cat >"$WORK/crowd.c" <<'PROGRAM'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static char buf[1 << 20];
static int a[2], b[2];
static volatile int going = 1, later;

/* without the library, which may have no frame pointers */
static long call(long nr, long x, long y, long z)
{
	long ret;

	__asm__ volatile("syscall" : "=a"(ret) : "0"(nr), "D"(x), "S"(y), "d"(z) : "rcx", "r11", "memory");
	return ret;
}

void *stalled_writer(void *arg)
{
	call(SYS_write, a[0], (long)buf, 1);
	return arg;
}

void fork_left(unsigned int way, int forks);
void fork_right(unsigned int way, int forks);

static void go(unsigned int way, int forks)
{
	struct timespec t = { 0, 20000 };

	if (!forks && later)
		call(SYS_write, a[0], (long)buf, 1);
	else if (!forks)
		call(SYS_nanosleep, (long)&t, 0, 0);
	else if (way & 1)
		fork_left(way >> 1, forks - 1);
	else
		fork_right(way >> 1, forks - 1);
}

void fork_left(unsigned int way, int forks) { go(way, forks); }
void fork_right(unsigned int way, int forks) { go(way, forks); }

static void *wanderer(void *arg)
{
	unsigned int ways = 0;

	prctl(PR_SET_TIMERSLACK, 1);
	write(b[0], "x", 1);
	read(b[1], buf, 1);	/* seen in a call: its sleeps are followed */
	for (; going; ways++)
		go(ways, 18);
	printf("%u\n", ways);
	return arg;
}

static void fill(void)
{
	while (send(a[0], buf, 1000, MSG_DONTWAIT) > 0)
		;
}

/* all of it, or the writer would sleep again */
static void drain(void)
{
	read(a[1], buf, sizeof(buf));
}

static void *later_stalls(void *arg)
{
	for (later = 1; later <= 60; later++) {
		fill();
		go(later << 8, 18);
	}
	later = 0;
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t writer, walker;

	if (argc != 2 || socketpair(AF_UNIX, SOCK_STREAM, 0, a) || socketpair(AF_UNIX, SOCK_STREAM, 0, b))
		return 1;
	fill();
	pthread_create(&writer, 0, stalled_writer, 0);
	usleep(20000);
	pthread_create(&walker, 0, wanderer, 0);
	usleep(atoi(argv[1]) * 1000);
	going = 0;
	pthread_join(walker, 0);
	drain();
	pthread_join(writer, 0);
	usleep(1200000);	/* until its names have been read, and there is room again */
	pthread_create(&writer, 0, later_stalls, 0);
	usleep(15000);
	while (later) {
		drain();
		usleep(15000);
	}
	pthread_join(writer, 0);
	usleep(200000);
	return 0;
}
PROGRAM
cc -O0 -fno-omit-frame-pointer -pthread -o "$WORK/crowd" "$WORK/crowd.c" 2>"$WORK/err" || { cat "$WORK/err"; exit 77; }
beside_crowd() { # MS THRESHOLD
	timeout 60 "$IPCSTALL" run -q --proto unix --stacks --threshold "$2" --json "$WORK/l.json" -- "$WORK/crowd" "$1" >"$WORK/ways" 2>"$WORK/err" </dev/null
}
found="d = json.load(open('$WORK/l.json'))
ways = int(open('$WORK/ways').read())
stalls = d['stalls']
known = [s for s in stalls if s['user_stack']]"

beside_crowd 900 500ms
says_true 'the stack of a stall that lasts' "$found" 'len(stalls) == 1 and ways > 3000 and any("stalled_writer" in f for f in stalls[0]["user_stack"] or [])' '(ways, stalls)'
says_true 'stacks that found no place are counted' "$found" 'd["ledger"]["stacks_lost"] > 0' 'd["ledger"]'
beside_crowd 3500 10ms
says_true 'there is room again' "$found
later = [s for s in stalls if s['ns'] < 1e9]
right = [s for s in later if any('later_stalls' in f for f in s['user_stack'] or [])]" \
	'len(later) >= 40 and len(right) >= len(later) * 0.6' '(ways, len(stalls), len(later), len(right), d["ledger"]["stacks_lost"])'
finish
