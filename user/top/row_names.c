// SPDX-License-Identifier: GPL-2.0-only
#include "top/row_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/human.h"

const char *digest_program(const struct trace_digest *s)
{
	return s->tx_tgid ? s->tx_comm : s->rx_tgid ? s->rx_comm : "";
}

static pid_t digest_pid(const struct trace_digest *s)
{
	return s->tx_tgid ? s->tx_tgid : s->rx_tgid;
}

/* Columns are counted in bytes, so each byte of a non-ASCII character becomes one '?'. */
static void one_byte_a_cell(char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s >= 0x80)
			*s = '?';
}

void program_text(const char comm[16], pid_t tgid, char *buf, size_t len)
{
	if (tgid)
		snprintf(buf, len, "%.16s[%d]", comm, (int)tgid);
	else
		snprintf(buf, len, "?");
	one_byte_a_cell(buf);
}

void digest_who(const struct trace_digest *s, char *buf, size_t len)
{
	program_text(digest_program(s), digest_pid(s), buf, len);
}

static bool is_inet(const struct trace_digest *s)
{
	return s->family == AF_INET || s->family == AF_INET6;
}

static void inode_text(const struct trace_digest *s, char *buf, size_t len)
{
	if (s->inode)
		snprintf(buf, len, "%s:[%" PRIu64 "]", trace_proto_name(s->proto), s->inode);
	else
		snprintf(buf, len, "%s #%" PRIu64, trace_proto_name(s->proto), s->serial);
}

void local_text(const struct trace_digest *s, char *buf, size_t len)
{
	if (is_inet(s))
		trace_addr_text(s->family, &s->local, buf, len);
	else
		inode_text(s, buf, len);
}

void remote_text(const struct trace_digest *s, const struct trace_digest *peer, char *buf,
		 size_t len)
{
	if (is_inet(s))
		trace_addr_text(s->family, &s->remote, buf, len);
	else if (peer || s->proto == TRACE_PIPE)
		inode_text(peer ? peer : s, buf, len);
	else
		snprintf(buf, len, "-");
}

void rate_text(const struct rows *p, uint64_t n, bool known, char *buf, size_t len)
{
	if (known)
		human_count(row_per_second(p, n), buf, len);
	else
		snprintf(buf, len, "-");
}

const char *cause_text(const struct row *r)
{
	if (r->cause != ROW_NO_CAUSE)
		return trace_tx_names[r->cause];
	return r->drops ? "drops" : "-";
}

/* The process that is blamed: the reader of the pipe itself, or the reader at the other end. */
static void blamed_who(const struct rows *p, const struct row *r, char *buf, size_t len)
{
	const struct trace_digest *s = row_digest(p, r), *peer = row_peer(p, r);

	if (s->proto == TRACE_PIPE)
		peer = s;
	if (peer && peer->rx_tgid)
		program_text(peer->rx_comm, peer->rx_tgid, buf, len);
	else
		snprintf(buf, len, "peer");
}

void blamed_text(const struct rows *p, const struct row *r, char *buf, size_t len)
{
	static const char *const part[] = {
		[BLAME_PEER_DELACK] = "delack", [BLAME_PEER_READER] = "reader",
			[BLAME_PATH] = "path", [BLAME_OWN_WRITES] = "own writes",
		[BLAME_NO_CPU] = "no CPU", [BLAME_PEER_NO_CPU] = "no CPU",
	};
	const char *sure = r->surety == INFERRED ? "?" : "";
	char who[48] = "";

	if (r->blamed == BLAME_NOBODY) {
		snprintf(buf, len, "-");
		return;
	}
	if (r->blamed != BLAME_PATH && r->blamed != BLAME_OWN_WRITES && r->blamed != BLAME_NO_CPU)
		blamed_who(p, r, who, sizeof(who));
	snprintf(buf, len, "%s%s%s%s", part[r->blamed], sure, *who ? " " : "", who);
}

void why_text(const struct row *r, char *buf, size_t len)
{
	static const char *const part[] = {
		[BLAME_PEER_DELACK] = "delack", [BLAME_PEER_READER] = "reader",
		[BLAME_PATH] = "path",		[BLAME_OWN_WRITES] = "own writes",
		[BLAME_NO_CPU] = "no CPU",	[BLAME_PEER_NO_CPU] = "no CPU",
	};
	bool blamed = r->blamed != BLAME_NOBODY;

	snprintf(buf, len, "%s%s%s%s", cause_text(r), blamed ? ", " : "",
		 blamed ? part[r->blamed] : "", blamed && r->surety == INFERRED ? "?" : "");
}

void for_whom_text(const struct rows *p, const struct row *r, char *buf, size_t len)
{
	static const char *const nobody_else[] = { [BLAME_NOBODY] = "-", [BLAME_PATH] = "the path",
		[BLAME_OWN_WRITES] = "itself", [BLAME_NO_CPU] = "a CPU" };
	size_t n = sizeof(nobody_else) / sizeof(nobody_else[0]);

	if ((size_t)r->blamed < n && nobody_else[r->blamed]) {
		snprintf(buf, len, "%s", nobody_else[r->blamed]);
		return;
	}
	blamed_who(p, r, buf, len);
	if (!strcmp(buf, "peer"))
		remote_text(row_digest(p, r), row_peer(p, r), buf, len);
}

void cgroup_text(const struct trace_digest *s, char *buf, size_t len)
{
	if (!trace_cgroup_path(s->cgroup_id, buf, len))
		snprintf(buf, len, "-");
	one_byte_a_cell(buf);
}

void row_text(const struct rows *p, const struct row *r, char *buf, size_t len)
{
	const struct trace_digest *s = row_digest(p, r);
	char writer[48], reader[48], here[80], there[80], blamed[80], cgroup[128];

	program_text(s->tx_comm, s->tx_tgid, writer, sizeof(writer));
	program_text(s->rx_comm, s->rx_tgid, reader, sizeof(reader));
	local_text(s, here, sizeof(here));
	remote_text(s, row_peer(p, r), there, sizeof(there));
	blamed_text(p, r, blamed, sizeof(blamed));
	cgroup_text(s, cgroup, sizeof(cgroup));
	snprintf(buf, len, "%s %s %s %s %s %s %s %s", writer, reader, trace_proto_name(s->proto),
		 here, there, cause_text(r), blamed, cgroup);
}
