// SPDX-License-Identifier: GPL-2.0-only
#include "try/peer_socket.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/text.h"

/* "0100007F:1F90", as in /proc/net/tcp: words of four bytes, each in this machine's byte order */
static void table_text(int family, const struct trace_addr *a, char *buf, size_t len)
{
	int words = family == AF_INET6 ? 4 : 1, at = 0;

	for (int i = 0; i < words; i++) {
		uint32_t word;

		memcpy(&word, a->ip + 4 * i, 4);
		at += snprintf(buf + at, len - (size_t)at, "%08" PRIX32, word);
	}
	snprintf(buf + at, len - (size_t)at, ":%04X", a->port);
}

static uint64_t inode_in(const char *path, const char *local, const char *remote)
{
	char here[64], there[64];
	uint64_t inode;

	for_each_line (l, path)
		if (sscanf(l.text, " %*d: %63s %63s %*s %*s %*s %*s %*s %*s %" SCNu64, here, there,
			   &inode) == 3 &&
		    !strcmp(here, local) && !strcmp(there, remote) && inode)
			return inode;
	return 0;
}

static int find_holder(struct fd_ref *r, uint64_t inode)
{
	DIR *proc = opendir("/proc");
	struct dirent *d;
	int err = -ENOENT;

	while (proc && err && (d = readdir(proc)))
		if (isdigit((unsigned char)d->d_name[0]))
			err = fd_ref_find(r, atoi(d->d_name), inode);
	if (proc)
		closedir(proc);
	return err ? -ENOENT : 0;
}

int peer_socket_find(struct fd_ref *r, pid_t pid, const struct trace_endpoint *ep)
{
	char local[64], remote[64];
	uint64_t inode;

	if (ep->proto != TRACE_TCP)
		return -ENOENT;
	table_text(ep->family, &ep->remote, local, sizeof(local));
	table_text(ep->family, &ep->local, remote, sizeof(remote));
	inode = inode_in(proc_path(pid, ep->family == AF_INET6 ? "net/tcp6" : "net/tcp").text,
			 local, remote);
	return inode ? find_holder(r, inode) : -ENOENT;
}
