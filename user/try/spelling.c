// SPDX-License-Identifier: GPL-2.0-only
#include "try/spelling.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

const struct spelling spellings[] = {
	{ "nodelay", "c", "setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int)), or "
		"one writev() for a message" },
	{ "nodelay", "python", "sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1); "
		"http.server: wbufsize = -1 (one write)" },
	{ "nodelay", "java", "socket.setTcpNoDelay(true); com.sun.net.httpserver: "
		"-Dsun.net.httpserver.nodelay=true" },
	{ "nodelay", "go", "conn.(*net.TCPConn).SetNoDelay(true), which is the default: the "
		"program has turned it off" },
	{ "nodelay", "node", "socket.setNoDelay(true); http.createServer({ noDelay: true })" },
	{ "nodelay", "ruby", "sock.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)" },
	{ "nodelay", "rust", "stream.set_nodelay(true)" },
	{ "nodelay", "nginx", "tcp_nodelay on; in http, server or location" },
	{ "nodelay", "haproxy", "option http-no-delay" },
	{ "nodelay", "apache", "it is on by default: a module or a CGI program writes in small "
		"pieces; look there" },
	{ "nodelay", "postgres", "it is on by default at the server: set it in the client's "
		"driver" },
	{ "nodelay", "redis", "it is on by default; for replication: repl-disable-tcp-nodelay no" },
	{ "uncork", "c", "setsockopt(fd, IPPROTO_TCP, TCP_CORK, &(int){0}, sizeof(int)) after a "
		"message; no MSG_MORE on its last piece" },
	{ "uncork", "python", "sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 0) after a "
		"message" },
	{ "uncork", "nginx", "tcp_nopush off;" },
	{ "quickack", "c", "setsockopt(fd, IPPROTO_TCP, TCP_QUICKACK, &(int){1}, sizeof(int)) at "
		"the reader, after each read" },
	{ "quickack", "python", "sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1) at "
		"the reader, after each read" },
	{ "no-pacing", "c", "do not set SO_MAX_PACING_RATE, or set it higher" },
	{ "no-pacing", "nginx", "limit_rate 0;" },
	{ "notsent-lowat", "c", "setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &(int){131072}, "
		"sizeof(int)), or net.ipv4.tcp_notsent_lowat" },
	{ "cc", "c", "setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, strlen(name)), or "
		"net.ipv4.tcp_congestion_control" },
	{ "sndbuf-auto", "c", "do not set SO_SNDBUF: the kernel then sizes it by itself, up to "
		"net.ipv4.tcp_wmem" },
	{ "sndbuf-auto", "java", "do not call socket.setSendBufferSize()" },
	{ "sndbuf-auto", "nginx", "no sndbuf= in listen" },
	{ "sndbuf", "c", "setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &(int){8 << 20}, sizeof(int)), "
		"after raising net.core.wmem_max to 8388608" },
	{ "sndbuf", "python", "sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 8 << 20), "
		"after raising net.core.wmem_max to 8388608" },
	{ "rcvbuf-auto", "c", "do not set SO_RCVBUF: the kernel then sizes it by itself, up to "
		"net.ipv4.tcp_rmem" },
	{ "rcvbuf-auto", "java", "do not call socket.setReceiveBufferSize()" },
	{ "rcvbuf-auto", "nginx", "no rcvbuf= in listen" },
	{ "rcvbuf", "c", "setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &(int){8 << 20}, sizeof(int)), "
		"after raising net.core.rmem_max to 8388608" },
	{ "pipe-size", "c", "fcntl(fd, F_SETPIPE_SZ, 1 << 20)" },
	{ "pipe-size", "python", "subprocess.Popen(..., pipesize=1 << 20), or fcntl.fcntl(fd, "
		"fcntl.F_SETPIPE_SZ, 1 << 20)" },
	{},
};

/* --- which program it is ---------------------------------------------------------------------- */

static const struct {
	const char *begins, *kind;
} executables[] = {
	{ "nginx", "nginx" }, { "haproxy", "haproxy" }, { "apache2", "apache" },
		{ "httpd", "apache" }, { "postgres", "postgres" },
	{ "redis", "redis" }, { "valkey", "redis" }, { "python", "python" },  { "pypy", "python" },
		{ "java", "java" },
	{ "node", "node" },	{ "ruby", "ruby" },
}, libraries[] = {
	{ "libpython", "python" }, { "libjvm.so", "java" }, { "libruby", "ruby" }, { "libnode.so",
		"node" },
};

static const char *by_executable(pid_t pid)
{
	char exe[PATH_MAX];
	const char *name;
	ssize_t n = readlink(proc_path(pid, "exe").text, exe, sizeof(exe) - 1);

	exe[n > 0 ? n : 0] = '\0';
	name = strrchr(exe, '/');
	name = name ? name + 1 : exe;
	for (size_t i = 0; i < sizeof(executables) / sizeof(executables[0]); i++)
		if (!strncmp(name, executables[i].begins, strlen(executables[i].begins)))
			return executables[i].kind;
	return NULL;
}

static const char *library_in(const char *line)
{
	for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++)
		if (strstr(line, libraries[i].begins))
			return libraries[i].kind;
	return NULL;
}

static const char *by_libraries(pid_t pid)
{
	for_each_line (l, proc_path(pid, "maps").text) {
		const char *kind = library_in(l.text);

		if (kind)
			return kind;
	}
	return NULL;
}

enum { EXECUTABLE_READ = 1 << 22 };

/* Executables show their compiler: Go's have a build record, Rust's the paths of its library. */
static const char *by_compiler(pid_t pid)
{
	static char part[(1 << 16) + 32];
	const char *kind = NULL;
	size_t kept = 0, got, all = 0;
	FILE *f = fopen(proc_path(pid, "exe").text, "re");

	while (f && !kind && all < EXECUTABLE_READ &&
	       (got = fread(part + kept, 1, 1 << 16, f)) > 0) {
		size_t n = kept + got;

		if (memmem(part, n, "\xff Go buildinf:", 14))
			kind = "go";
		else if (memmem(part, n, "/rustc/", 7))
			kind = "rust";
		kept = n < 16 ? n : 16;
		memmove(part, part + n - kept, kept);
		all += got;
	}
	if (f)
		fclose(f);
	return kind;
}

const char *program_kind(pid_t pid)
{
	const char *kind = pid ? by_executable(pid) : "c";

	if (!kind)
		kind = by_libraries(pid);
	if (!kind)
		kind = by_compiler(pid);
	return kind ? kind : "c";
}

static const struct spelling *row_of(const char *fix, const char *program)
{
	for (const struct spelling *s = spellings; s->fix; s++)
		if (!strcmp(s->fix, fix) && !strcmp(s->program, program))
			return s;
	return NULL;
}

bool spelling_for(const char *fix, pid_t pid, char *buf, size_t len)
{
	const char *kind = program_kind(pid);
	const struct spelling *s = row_of(fix, kind);

	if (s && strcmp(kind, "c"))
		snprintf(buf, len, "%s: %s", kind, s->text);
	else if ((s = row_of(fix, "c")))
		snprintf(buf, len, "%s", s->text);
	return s;
}
