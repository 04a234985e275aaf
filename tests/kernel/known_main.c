// SPDX-License-Identifier: GPL-2.0-only
/* known CASE [key=value...]: run one known workload and print one JSON line of what its own clock
 * saw. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "known.h"

static const struct known_case *const families[] = {
	tcp_cases, tcp_share_cases, net_cases, pipe_cases, unix_cases, udp_cases, misc_cases,
		first_cases,
};
#define NR_FAMILIES (sizeof(families) / sizeof(families[0]))

static const struct known_case *find(const char *name)
{
	const struct known_case *c;
	size_t i;

	for (i = 0; i < NR_FAMILIES; i++)
		for (c = families[i]; c->name; c++)
			if (!strcmp(c->name, name))
				return c;
	return NULL;
}

static void usage(FILE *f)
{
	const struct known_case *c;
	size_t i;

	fprintf(f,
		"usage: known [--wait | --go FD|FILE] [--out FILE] CASE [key=value...]\n\n"
		"  --wait     print 'pid N', then wait for SIGUSR1 or the end of standard input\n"
		"  --go X     wait until descriptor X ends or has a byte, or until file X is "
		"there\n"
		"  --out F    write the JSON line to F instead of standard output\n"
		"  threads=1  both ends in one process (any case)\n"
		"  compat=1   read() and write() by the calls of 32-bit programs (any case); 2: by "
		"their socketcall()\n\n");
	for (i = 0; i < NR_FAMILIES; i++)
		for (c = families[i]; c->name; c++)
			fprintf(f, "  %-18s %s\n", c->name, c->help);
}

/* --- waiting for a tracer --------------------------------------------------------------------- */

static void woken(int sig)
{
}

static void wait_for_word(void)
{
	struct sigaction act = { .sa_handler = woken };
	char c;

	sigaction(SIGUSR1, &act, NULL);
	printf("pid %d\n", getpid());
	fflush(stdout);
	while (read(STDIN_FILENO, &c, 1) > 0) /* EINTR by SIGUSR1, or the end: go */
		;
}

static void wait_for_go(const char *what)
{
	char *rest, c;
	long fd = strtol(what, &rest, 10);

	if (!*rest && rest != what) {
		if (read(fd, &c, 1) < 0)
			die("--go %s", what);
		return;
	}
	while (access(what, F_OK))
		nap_ns(2 * NSEC_PER_MSEC);
}

/* --- the line --------------------------------------------------------------------------------- */

static void print_end(struct json *j, const struct end *e)
{
	json_open(j, NULL, '{');
	json_text(j, "role", e->role);
	json_text(j, "proto", e->proto);
	json_int(j, "pid", e->pid);
	json_int(j, "tid", e->tid);
	json_int(j, "inode", e->inode);
	json_int(j, "netns", e->netns);
	json_text(j, "local", e->local);
	json_text(j, "remote", e->remote);
	json_int(j, "open_ns", e->closed_ns - e->opened_ns);
	json_int(j, "in_write_ns", e->in_write_ns);
	json_int(j, "in_read_ns", e->in_read_ns);
	if (e->asks_cpu)
		json_int(j, "off_cpu_in_read_ns", e->off_cpu_in_read_ns);
	json_int(j, "napped_ns", e->napped_ns);
	json_int(j, "tx_bytes", e->tx_bytes);
	json_int(j, "rx_bytes", e->rx_bytes);
	json_int(j, "tx_messages", e->tx_messages);
	json_int(j, "rx_messages", e->rx_messages);
	json_int(j, "cpu_ns", e->cpu_ns);
	json_int(j, "runq_ns", e->runq_ns);
	json_int(j, "late_ns", e->late_ns);
	if (e->has_tcp_info) {
		json_open(j, "tcp_info", '{');
		json_int(j, "busy_ns", e->busy_ns);
		json_int(j, "rwnd_limited_ns", e->rwnd_limited_ns);
		json_int(j, "sndbuf_limited_ns", e->sndbuf_limited_ns);
		json_int(j, "retransmits", e->retransmits);
		json_close(j, '}');
	}
	if (e->drops >= 0)
		json_int(j, "drops", e->drops);
	json_close(j, '}');
}

static void print_params(struct json *j, const struct known *k)
{
	int i;

	json_open(j, "params", '{');
	for (i = 0; i < k->nr_params; i++)
		json_text(j, k->params[i].key, k->params[i].value);
	json_close(j, '}');
}

static void print_line(struct known *k, FILE *f)
{
	struct json j = { .f = f };
	struct utsname u;
	int i;

	fflush(k->truth.f);
	fflush(k->expect.f);
	fflush(k->groups.f);
	uname(&u);
	json_open(&j, NULL, '{');
	json_text(&j, "case", k->name);
	json_text(&j, "kernel", u.release);
	print_params(&j, k);
	json_int(&j, "pid", getpid());
	json_int(&j, "elapsed_ns", k->elapsed_ns);
	json_int(&j, "steal_ns", k->steal_ns);
	fprintf(f, ",\"truth\":{%s},\"endpoints\":[", k->truth_text);
	j.more = false;
	for (i = 0; i < k->shared->nr_ends; i++)
		print_end(&j, &k->shared->ends[i]);
	fprintf(f, "],\"groups\":[%s],\"expect\":[%s]}\n", k->groups_text, k->expect_text);
}

/* --- setting up ------------------------------------------------------------------------------- */

static void shared_new(struct known *k)
{
	pthread_barrierattr_t attr;

	k->shared = mmap(NULL, sizeof(*k->shared), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (k->shared == MAP_FAILED)
		die("memory");
	pthread_barrierattr_init(&attr);
	pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&k->shared->meeting, &attr, 2);
}

static void params_parse(struct known *k, char **words)
{
	for (; *words; words++) {
		char *eq = strchr(*words, '=');

		errno = 0;
		if (!eq || k->nr_params == MAX_PARAMS)
			die("'%s': expected key=value", *words);
		*eq = '\0';
		k->params[k->nr_params++] = (struct param){ .key = *words, .value = eq + 1 };
	}
}

static void params_check(const struct known *k)
{
	int i;

	errno = 0;
	for (i = 0; i < k->nr_params; i++)
		if (!k->params[i].used)
			die("%s does not use %s=", k->name, k->params[i].key);
}

/* Closing the stream moves the text: hence its address. */
static void text_free(struct json *j, char **text)
{
	fclose(j->f);
	free(*text);
}

static void run(const struct known_case *c, char **words, FILE *out)
{
	struct known k = { .name = c->name };

	params_parse(&k, words);
	k.threads = param(&k, "threads", 0);
	choose_calls(&k);
	k.truth.f = open_memstream(&k.truth_text, &k.truth_len);
	k.expect.f = open_memstream(&k.expect_text, &k.expect_len);
	k.groups.f = open_memstream(&k.groups_text, &k.groups_len);
	shared_new(&k);
	signal(SIGPIPE, SIG_IGN);
	alarm(120);
	k.steal_ns = stolen_ns();
	c->run(&k);
	k.steal_ns = stolen_ns() - k.steal_ns;
	params_check(&k);
	print_line(&k, out);
	text_free(&k.truth, &k.truth_text);
	text_free(&k.expect, &k.expect_text);
	text_free(&k.groups, &k.groups_text);
}

static FILE *out_open(const char *path)
{
	FILE *f = path ? fopen(path, "we") : stdout;

	if (!f)
		die("%s", path);
	return f;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "wait", no_argument, NULL, 'w' }, { "go", required_argument, NULL, 'g' },
		{ "out", required_argument, NULL, 'o' }, { "help", no_argument, NULL, 'h' },
			{ NULL }
	};
	const struct known_case *c;
	const char *go = NULL, *out = NULL;
	bool wait = false;
	int o;

	while ((o = getopt_long(argc, argv, "+h", options, NULL)) != -1) {
		switch (o) {
		case 'w':
			wait = true;
			break;
		case 'g':
			go = optarg;
			break;
		case 'o':
			out = optarg;
			break;
		case 'h':
			usage(stdout);
			return 0;
		default:
			return 2;
		}
	}
	c = optind < argc ? find(argv[optind]) : NULL;
	if (!c) {
		usage(stderr);
		return 2;
	}
	if (wait)
		wait_for_word();
	if (go)
		wait_for_go(go);
	run(c, argv + optind + 1, out_open(out));
	return 0;
}
