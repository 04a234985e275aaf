// SPDX-License-Identifier: GPL-2.0-only
#include "remote/host.h"

#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/text.h"
#include "remote/wire.h"

void host_read(struct host_id *h, const char *clock)
{
	struct utsname u;
	ssize_t n;

	memset(h, 0, sizeof(*h));
	if (uname(&u) == 0) {
		text_append(h->name, sizeof(h->name), "%s", u.nodename);
		text_clean(h->name, sizeof(h->name)); /* sethostname() takes any bytes */
		text_append(h->kernel, sizeof(h->kernel), "%s", u.release);
	}
	text_append(h->version, sizeof(h->version), "%s", IPCSTALL_VERSION);
	text_first_line("/proc/sys/kernel/random/boot_id", h->boot_id, sizeof(h->boot_id));
	n = readlink("/proc/self/ns/time", h->time_ns, sizeof(h->time_ns) - 1);
	if (n < 0) /* before Linux 5.6 there was one for all */
		text_append(h->time_ns, sizeof(h->time_ns), "only");
	text_append(h->clock, sizeof(h->clock), "%s", clock);
}

json_t *host_to_json(const struct host_id *h)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "name", h->name, "kernel", h->kernel,
			 "version", h->version, "boot_id", h->boot_id, "time_ns", h->time_ns,
			 "clock", h->clock);
}

void host_from_json(struct host_id *h, const json_t *o)
{
	wire_text(o, "name", h->name, sizeof(h->name));
	wire_text(o, "kernel", h->kernel, sizeof(h->kernel));
	wire_text(o, "version", h->version, sizeof(h->version));
	wire_text(o, "boot_id", h->boot_id, sizeof(h->boot_id));
	wire_text(o, "time_ns", h->time_ns, sizeof(h->time_ns));
	wire_text(o, "clock", h->clock, sizeof(h->clock));
}

bool host_shares_clock(const struct host_id *a, const struct host_id *b)
{
	return a->boot_id[0] && a->time_ns[0] && !strcmp(a->boot_id, b->boot_id) &&
	       !strcmp(a->time_ns, b->time_ns) && !strcmp(a->clock, b->clock);
}
