# SPDX-License-Identifier: GPL-2.0-only
# The stack of a stall is its own, however many others come and go while it lasts.
. "$(dirname "$0")/lib.sh"
needs_ledger
command -v cc >/dev/null || { echo 'no C compiler'; exit 77; }

# A writer stalls while another thread sleeps at the ends of as many ways through fork_left() and fork_right() as it has time for.
cat >"$WORK/crowd.c" <<'PROGRAM'
#include <pthread.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static char buf[1 << 20];
static int a[2], b[2];
static volatile int going = 1;

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

	if (!forks)
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
		go(ways, 14);
	printf("%u\n", ways);
	return arg;
}

int main(void)
{
	pthread_t writer, walker;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, a) || socketpair(AF_UNIX, SOCK_STREAM, 0, b))
		return 1;
	while (send(a[0], buf, 1000, MSG_DONTWAIT) > 0)
		;
	pthread_create(&writer, 0, stalled_writer, 0);
	usleep(20000);
	pthread_create(&walker, 0, wanderer, 0);
	usleep(900000);
	going = 0;
	pthread_join(walker, 0);
	read(a[1], buf, sizeof(buf));	/* all of it, or the writer would sleep again */
	pthread_join(writer, 0);
	usleep(200000);		/* until its names have been read */
	return 0;
}
PROGRAM
cc -O0 -fno-omit-frame-pointer -pthread -o "$WORK/crowd" "$WORK/crowd.c" 2>"$WORK/err" || { cat "$WORK/err"; exit 77; }
timeout 60 "$IPCSTALL" run -q --proto unix --stacks --threshold 500ms --json "$WORK/l.json" -- "$WORK/crowd" >"$WORK/ways" 2>"$WORK/err" </dev/null
says_true 'the stack of a stall that lasts' "d = json.load(open('$WORK/l.json'))
ways = int(open('$WORK/ways').read())
stalls = d['stalls']" 'len(stalls) == 1 and ways > 3000 and any("stalled_writer" in f for f in stalls[0]["user_stack"] or [])' '(ways, stalls)'
says_true 'stacks that found no place are counted' "d = json.load(open('$WORK/l.json'))" 'd["ledger"]["stacks_lost"] > 0' 'd["ledger"]["stacks_lost"]'
finish
