// SPDX-License-Identifier: GPL-2.0-only
/* Stacks as text: kernel frames by /proc/kallsyms, user frames as file and offset, which addr2line takes. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define FRAMES 64

struct symbol {
	uint64_t addr;
	char name[64];
};

struct symbols {
	struct symbol *s;
	size_t n;
};

static int by_addr(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static bool add_symbol(struct symbols *all, size_t *room, uint64_t addr, const char *name)
{
	if (all->n == *room) {
		struct symbol *p = realloc(all->s, 2 * (*room + 512) * sizeof(*p));

		if (!p)
			return false;
		*room = 2 * (*room + 512);
		all->s = p;
	}
	all->s[all->n].addr = addr;
	snprintf(all->s[all->n++].name, sizeof(all->s->name), "%.63s", name);
	return true;
}

static struct symbols kernel;

static void read_symbols(void)
{
	struct symbols *all = &kernel;
	FILE *f = fopen("/proc/kallsyms", "r");
	char line[512], name[256], type;
	uint64_t addr;
	size_t room = 0;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%" SCNx64 " %c %255s", &addr, &type, name) == 3 && addr && strchr("tTwW", type) &&
		    !add_symbol(all, &room, addr, name))
			break;
	if (f)
		fclose(f);
	qsort(all->s, all->n, sizeof(*all->s), by_addr);
}

/* read once: the table stays for the life of the process */
static const struct symbols *kernel_symbols(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, read_symbols);
	return &kernel;
}

static int print_kernel(uint64_t addr, char *buf, size_t size)
{
	const struct symbols *all = kernel_symbols();
	size_t lo = 0, hi = all->n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (all->s[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo)
		return snprintf(buf, size, "0x%" PRIx64 "\n", addr);
	return snprintf(buf, size, "%s+0x%" PRIx64 "\n", all->s[lo - 1].name, addr - all->s[lo - 1].addr);
}

static int print_user(uint64_t addr, pid_t tgid, char *buf, size_t size)
{
	char name[64], line[512], path[256];
	uint64_t from, to, off;
	int got = 0;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/maps", tgid);
	f = fopen(name, "r");
	while (f && !got && fgets(line, sizeof(line), f)) {
		path[0] = 0;
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %255s", &from, &to, &off, path) >= 3 &&
		    addr >= from && addr < to && path[0])
			got = snprintf(buf, size, "%s+0x%" PRIx64 "\n", path, addr - from + off);
	}
	if (f)
		fclose(f);
	return got ? got : snprintf(buf, size, "0x%" PRIx64 "\n", addr);
}

/* the upper half of the address space is the kernel's on every machine this runs on */
static int print_frame(uint64_t addr, pid_t tgid, char *buf, size_t size)
{
	return addr >> 63 ? print_kernel(addr, buf, size) : print_user(addr, tgid, buf, size);
}

int trace_stack(struct trace *t, int id, pid_t tgid, char *buf, size_t size)
{
	int fd = bpf_object__find_map_fd_by_name(t->obj, "stacks"), n = 0;
	uint64_t frames[FRAMES] = {};
	size_t used = 0;

	if (size)
		buf[0] = 0;
	if (id < 0 || bpf_map_lookup_elem(fd, &id, frames))
		return 0;
	while (n < FRAMES && frames[n] && used < size) {
		int len = print_frame(frames[n], tgid, buf + used, size - used);

		used += len > 0 ? (size_t)len : 0;
		n++;
	}
	return n;
}
