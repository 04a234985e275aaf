// SPDX-License-Identifier: GPL-2.0-only
/* The client's way to the other host: connecting, introducing itself, and being refused. */
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "json/json_options.h"
#include "remote/auth.h"
#include "remote/remote.h"
#include "remote/wire.h"

#define CONNECT_NS 5000000000ULL
#define HELLO_NS   10000000000ULL
#define BYE_NS	   1000000000ULL

static bool is_port(const char *s)
{
	char *end;
	long v = strtol(s, &end, 10);

	return s[0] >= '0' && s[0] <= '9' && !*end && v <= 65535;
}

int remote_split(const char *text, char *host, size_t size, char port[8])
{
	const char *colon = strrchr(text, ':'), *first = strchr(text, ':'),
		   *close = strchr(text, ']');
	size_t n = strlen(text);

	snprintf(port, 8, "%d", WIRE_PORT);
	if (text[0] == '[') {
		if (!close || (close[1] && close[1] != ':'))
			return -1;
		colon = close[1] ? close + 1 : NULL;
		n = (size_t)(close - text) - 1;
		text++;
	} else if (colon && colon == first) {
		n = (size_t)(colon - text);
	} else {
		colon = NULL; /* none, or an IPv6 address without brackets */
	}
	if (!n || n >= size || (colon && (!is_port(colon + 1) || strlen(colon + 1) > 5)))
		return -1;
	snprintf(host, size, "%.*s", (int)n, text);
	if (colon)
		snprintf(port, 8, "%s", colon + 1);
	return 0;
}

/* connect() with a time limit: a host that drops the packets would hold it for minutes. */
static int connect_in_time(const struct addrinfo *a)
{
	int fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), why = 0;
	socklen_t len = sizeof(why);
	struct pollfd p = { fd, POLLOUT, 0 };

	if (fd < 0)
		return -1;
	if (connect(fd, a->ai_addr, a->ai_addrlen) == 0)
		return fd;
	if (errno == EINPROGRESS && poll(&p, 1, CONNECT_NS / 1000000) == 0)
		why = ETIMEDOUT;
	else if (errno == EINPROGRESS)
		getsockopt(fd, SOL_SOCKET, SO_ERROR, &why, &len);
	else
		why = errno;
	if (!why)
		return fd;
	close(fd);
	errno = why;
	return -1;
}

static int dial(const char *target, bool v6, struct remote *r, struct err *e)
{
	struct addrinfo hints = { .ai_family = v6 ? AF_INET6 : AF_UNSPEC,
				  .ai_socktype = SOCK_STREAM },
			*list = NULL;
	char host[128], port[8];
	int rc;

	if (remote_split(target, host, sizeof(host), port))
		return err_usage(e, "--connect '%s': not HOST, HOST:PORT or [IPV6]:PORT", target);
	rc = getaddrinfo(host, port, &hints, &list);
	if (rc)
		return err_peer(e,
				"--connect %s: %s; give the name or address of a host where "
				"'ipcstall server' runs",
				target, gai_strerror(rc));
	r->fd = -1;
	for (struct addrinfo *a = list; a && r->fd < 0; a = a->ai_next) {
		r->fd = connect_in_time(a);
		memcpy(&r->ss, a->ai_addr, a->ai_addrlen);
		r->len = a->ai_addrlen;
	}
	freeaddrinfo(list);
	if (r->fd < 0)
		return err_peer(
			e,
			"--connect %s port %s: %s; start 'ipcstall server --listen ADDRESS' there",
			host, port, strerror(errno));
	getnameinfo((void *)&r->ss, r->len, r->address, sizeof(r->address), NULL, 0,
		    NI_NUMERICHOST);
	return wire_prepare(r->fd, e);
}

static int refused(const struct remote *r, const json_t *answer, struct err *e)
{
	int64_t code = EXIT_PEER;
	char why[400];
	struct err none = {};

	wire_text(answer, "why", why, sizeof(why));
	if (wire_int(answer, "code", 1, 130, &code, &none))
		code = EXIT_PEER;
	return err_set(e, (enum exit_code)code, "server %s: %s", r->address,
		       why[0] ? why : "refused without a reason");
}

static json_t *introduction(const struct bench_plan *plan, const struct remote *r,
			    const char *nonce)
{
	json_t *hello = json_pack("{s:s, s:i, s:s, s:o, s:o, s:s}", "hello", WIRE_NAME, "protocol",
				  WIRE_PROTOCOL, "version", IPCSTALL_VERSION, "host",
				  host_to_json(&r->here), "options",
				  opt_to_json(bench_option_rows, &plan->o), "nonce", nonce);

	json_object_del(json_object_get(hello, "options"), "connect");
	return hello;
}

static int check_answer(const struct bench_plan *plan, const struct remote *r, const json_t *answer,
			struct err *e)
{
	int64_t protocol;

	if (!answer)
		return -1;
	if (strcmp(wire_string(answer, "hello"), WIRE_NAME))
		return err_version(e,
				   "--connect %s: the program that answers there is not 'ipcstall "
				   "server'; give the server's port",
				   plan->o.connect);
	if (!json_is_true(json_object_get(answer, "ok")))
		return refused(r, answer, e);
	return wire_int(answer, "protocol", WIRE_PROTOCOL, WIRE_PROTOCOL, &protocol, e);
}

/* Send our proof for the server's challenge. The answer holds the server's proof for it. */
static json_t *prove(const struct remote *r, const struct auth_key *key, const json_t *hello,
		     const json_t *asked, uint64_t deadline, struct err *e)
{
	const char *challenge = wire_string(asked, "challenge");
	char ours[AUTH_HEX], theirs[AUTH_HEX];
	json_t *answer;

	if (!auth_is_hex(challenge)) {
		err_perm(e,
			 "server %s: it was started without a secret; start it with the same --key "
			 "FILE, or leave out --key",
			 r->address);
		return NULL;
	}
	if (auth_proof(key, "client", hello, challenge, ours, e) ||
	    auth_proof(key, "server", hello, challenge, theirs, e) ||
	    wire_send(r->fd, json_pack("{s:s}", "proof", ours), deadline, e))
		return NULL;
	answer = wire_recv(r->fd, WIRE_HELLO_MAX, deadline, e);
	if (!answer || !json_is_true(json_object_get(answer, "ok")) ||
	    auth_same(wire_string(answer, "proof"), theirs))
		return answer;
	json_decref(answer);
	err_perm(e, "server %s: its secret differs; give the same --key FILE at both ends",
		 r->address);
	return NULL;
}

static int converse(const struct bench_plan *plan, struct remote *r, const struct auth_key *key,
		    const json_t *hello, struct err *e)
{
	uint64_t deadline = now_ns() + HELLO_NS;
	json_t *answer = NULL, *proven;
	int rc;

	if (wire_send(r->fd, json_incref((json_t *)hello), deadline, e) == 0)
		answer = wire_recv(r->fd, WIRE_HELLO_MAX, deadline, e);
	rc = check_answer(plan, r, answer, e);
	if (rc == 0 && !key->n && *wire_string(answer, "challenge"))
		rc = err_perm(e,
			      "server %s: it requires a secret; give --key with the same FILE that "
			      "it uses",
			      r->address);
	if (rc == 0 && key->n) {
		proven = prove(r, key, hello, answer, deadline, e);
		json_decref(answer);
		answer = proven;
		rc = check_answer(plan, r, answer, e);
	}
	host_from_json(&r->host, json_object_get(answer, "host"));
	json_decref(answer);
	return rc;
}

static int introduce(struct bench_plan *plan, struct remote *r, struct err *e)
{
	char nonce[AUTH_HEX] = "";
	struct auth_key key;
	json_t *hello;
	int rc;

	if (auth_key_read(&key, plan->o.key, e) || (key.n && auth_nonce(nonce, e)))
		return -1;
	hello = introduction(plan, r, nonce);
	rc = converse(plan, r, &key, hello, e);
	json_decref(hello);
	return rc;
}

static int check_oneway(const struct bench_plan *plan, const struct remote *r, struct err *e)
{
	if (!(plan->tests >> TEST_ONEWAY & 1) || r->shares_clock)
		return 0;
	return err_usage(e,
			 "--test oneway with --connect %s: that host shares no clock with this "
			 "one, so a one-way time would be the clocks' difference; give --test "
			 "latency (half a round trip)",
			 plan->o.connect);
}

/* Wait until the server has closed, so that the next run does not find it busy with this one. */
static void remote_close(struct bench_plan *plan)
{
	struct remote *r = plan->remote;
	struct err ignored = {};
	json_t *bye;

	plan->remote = NULL;
	if (!r)
		return;
	if (r->fd >= 0 && shutdown(r->fd, SHUT_WR) == 0) {
		while ((bye = wire_recv(r->fd, WIRE_MAX, now_ns() + BYE_NS, &ignored)))
			json_decref(bye);
	}
	if (r->fd >= 0)
		close(r->fd);
	free(r);
}

static int remote_open(struct bench_plan *plan, struct err *e)
{
	struct remote *r = calloc(1, sizeof(*r));

	if (!r)
		return err_resource(e, "--connect: out of memory");
	r->fd = -1;
	host_read(&r->here, plan->clock.name);
	plan->remote = r;
	if (dial(plan->o.connect, plan->o.v6, r, e) == 0) {
		plan->o.v6 = r->ss.ss_family == AF_INET6;
		if (introduce(plan, r, e) == 0) {
			r->shares_clock = host_shares_clock(&r->here, &r->host);
			if (check_oneway(plan, r, e) == 0)
				return 0;
		}
	}
	remote_close(plan);
	return -1;
}

json_t *remote_to_json(const struct remote *r)
{
	if (!r)
		return json_null();
	return json_pack("{s:s, s:s, s:s, s:s, s:b}", "address", r->address, "hostname",
			 r->host.name, "kernel", r->host.kernel, "version", r->host.version,
			 "shares_clock", r->shares_clock);
}

const struct far_end_ops remote_far_end = { remote_open, remote_close, remote_worker_main };
