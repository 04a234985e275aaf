// SPDX-License-Identifier: GPL-2.0-only
#include "workloads/rpc.h"

#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/trusted.h"

enum {
	GRPC_MOST = (4 << 20) - 64,  /* GRPC_DEFAULT_MAX_RECV_MESSAGE_LENGTH, less the frame */
	THRIFT_MOST = 16384000 - 64, /* TConfiguration::DEFAULT_MAX_FRAME_SIZE, less the frame */
	INT_SIZE = 4,
	DOUBLE_SIZE = 8,
	STRUCT_SIZE = 96, /* approximate: the fields of `Structure` in echo.proto and echo.thrift */
};

const char *const rpc_payloads[] = { "string", "int", "double", "struct", NULL };
const char *const rpc_nagle_ends[] = { "both", "client", "server", NULL };
const char *const rpc_transports[] = { "buffered", "framed", "unbuffered", NULL };

size_t rpc_payload_size(enum rpc_payload p)
{
	static const size_t sizes[] = {
		[RPC_INT] = INT_SIZE, [RPC_DOUBLE] = DOUBLE_SIZE, [RPC_STRUCT] = STRUCT_SIZE
	};

	return sizes[p];
}

/* From build/FLAVOUR/ipcstall to build/FLAVOUR/rpc, or from PREFIX/bin to PREFIX/libexec. */
static bool beside(const char *name, char path[PATH_MAX])
{
	static const char *const places[] = { "%s/rpc/%s", "%s/../libexec/ipcstall/%s" };
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n <= 0)
		return false;
	self[n] = 0;
	dirname(self);
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if (snprintf(path, PATH_MAX, places[i], self, name) < PATH_MAX &&
		    access(path, X_OK) == 0)
			return true;
	}
	return false;
}

static bool find(const char *name, char path[PATH_MAX])
{
	if (beside(name, path))
		return true;
	snprintf(path, PATH_MAX, "%s/libexec/ipcstall/%s", IPCSTALL_PREFIX, name);
	return access(path, X_OK) == 0;
}

int rpc_program(const struct workload *w, bool unoptimised, char path[PATH_MAX], struct err *e)
{
	char name[64];

	snprintf(name, sizeof(name), "ipcstall-%s%s", w->program, unoptimised ? "-O0" : "");
	if (!find(name, path))
		return err_feature(
			e,
			"--mode %s: the program %s is not there; install the package ipcstall-rpc, "
			"or build it with 'make rpc', which says what that needs",
			w->name, name);
	if (!trusted_file(path))
		return err_perm(e, "--mode %s: %s: others can write to it; run `chmod go-w` on it",
				w->name, path);
	return 0;
}

static int validate(const struct workload *w, const struct workload_options *o, struct err *e)
{
	char path[PATH_MAX];

	return rpc_program(w, o->unoptimised, path, e);
}

static int grpc_validate(const struct workload_options *o, struct err *e)
{
	if (o->transport != RPC_BUFFERED)
		return err_usage(e, "--transport with --mode grpc: gRPC has one way to write, "
				    "HTTP/2; leave it out, or give --mode thrift");
	return validate(&workload_grpc, o, e);
}

static int thrift_validate(const struct workload_options *o, struct err *e)
{
	return validate(&workload_thrift, o, e);
}

void rpc_job_fill(struct worker_job *job, const struct workload *w,
		  const struct workload_options *o, enum test t)
{
	*job = (struct worker_job){
		.test = t,
		.payload = o->payload,
		.transport = o->transport,
		.unix_socket = !(w->flags & WL_INET),
		.v6 = o->v6,
		.nodelay = { o->nodelay || o->nagle_end == NAGLE_SERVER,
			     o->nodelay || o->nagle_end == NAGLE_CLIENT },
		.unprivileged = o->unprivileged,
		.clock_shift = TICK_SHIFT,
		.port = o->port,
		.size = o->message,
		.sndbuf = o->sndbuf,
		.rcvbuf = o->rcvbuf,
		.mss = o->mss,
		.delack_max_ns = o->delack_max_ns,
		.pacing = o->pacing,
	};
	snprintf(job->cc, sizeof(job->cc), "%s", o->cc ? o->cc : "");
	snprintf(job->bind, sizeof(job->bind), "%s", o->bind ? o->bind : "");
}

static int keep_over_exec(const struct rpc_fds *fds, struct err *e)
{
	const int all[] = { fds->orders, fds->reports, fds->shared, fds->samples };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (fcntl(all[i], F_SETFD, 0))
			return err_sys(e, EXIT_NO_RESOURCE, NULL, "descriptor %d", all[i]);
	return 0;
}

/* What the libraries and the loader write to stderr must not mix with this program's messages. */
static void be_quiet(void)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (null >= 0)
		dup2(null, STDERR_FILENO);
	setenv("GRPC_VERBOSITY", "NONE", 1);
}

int rpc_become(const struct workload *w, const struct workload_options *o, enum role role,
	       const struct rpc_fds *fds, struct err *e)
{
	char path[PATH_MAX], text[6][24];
	const size_t numbers[] = { WORKER_ABI,		role,
				   (size_t)fds->orders, (size_t)fds->reports,
				   (size_t)fds->shared, (size_t)fds->samples };
	char sizes[2][24];
	char *argv[] = { path,	  text[0], text[1],  text[2],  text[3],
			 text[4], text[5], sizes[0], sizes[1], NULL };

	if (rpc_program(w, o->unoptimised, path, e) || keep_over_exec(fds, e))
		return -1;
	for (size_t i = 0; i < 6; i++)
		snprintf(text[i], sizeof(text[i]), "%zu", numbers[i]);
	snprintf(sizes[0], sizeof(sizes[0]), "%zu", fds->shared_bytes);
	snprintf(sizes[1], sizeof(sizes[1]), "%zu", fds->samples_bytes);
	be_quiet();
	execv(path, argv);
	return err_sys(e, EXIT_NO_FEATURE, "rebuild it with 'make rpc'", "%s", path);
}

const struct workload workload_grpc = {
	.name = "grpc",
	.summary = "calls by gRPC over TCP",
	.flags = WL_SOCKET | WL_TCP | WL_INET | WL_RPC,
	.program = "grpc",
	.plain = &workload_tcp,
	.max_message = GRPC_MOST,
	.validate = grpc_validate,
};

const struct workload workload_grpc_unix = {
	.name = "grpc-unix",
	.summary = "calls by gRPC over a Unix stream socket",
	.flags = WL_SOCKET | WL_RPC,
	.program = "grpc",
	.plain = &workload_unix,
	.max_message = GRPC_MOST,
	.validate = grpc_validate,
};

const struct workload workload_thrift = {
	.name = "thrift",
	.summary = "calls by Thrift over TCP",
	.flags = WL_SOCKET | WL_TCP | WL_INET | WL_RPC,
	.program = "thrift",
	.plain = &workload_tcp,
	.max_message = THRIFT_MOST,
	.validate = thrift_validate,
};
