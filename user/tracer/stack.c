// SPDX-License-Identifier: GPL-2.0-only
/* Stacks as text. The mappings of a process are remembered, so that its frames keep their names
 * after it ended. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "tracer/internal.h"
#include "base/text.h"
#include "tracer/symbols.h"

#define FRAMES 64
#define FILES  256 /* whose symbols are kept */
#define PROCS  256 /* whose maps are kept */

struct file {
	char *name; /* without its folder */
	dev_t dev;
	ino_t ino;
	struct symbols symbols;
};

struct mapping {
	uint64_t from, to, off;
	struct file *file;
};

struct process {
	pid_t tgid;
	struct mapping *v;
	size_t n;
};

/* kept for the life of the program: symbols do not depend on the session */
static struct {
	pthread_mutex_t lock;
	struct symbols kernel;
	bool kernel_read;
	struct file *files[FILES];
	size_t n_files;
	struct process procs[PROCS];
	size_t next_proc;
} known = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void read_kernel(void)
{
	char name[256], type;
	uint64_t addr;

	known.kernel_read = true;
	for_each_line (l, "/proc/kallsyms")
		if (sscanf(l.text, "%" SCNx64 " %c %255s", &addr, &type, name) == 3 && addr &&
		    strchr("tTwW", type) && !symbols_add(&known.kernel, addr, 0, name))
			break;
	symbols_sort(&known.kernel);
}

/* "write+0x5d (libc.so.6)", "libx.so+0x1234", "0x7f..": only kernel_frame() and user_frame() write
 * a frame. */
static int kernel_frame(uint64_t addr, char *buf, size_t size)
{
	const struct symbol *s;

	if (!known.kernel_read)
		read_kernel();
	s = symbols_find(&known.kernel, addr);
	return s ? snprintf(buf, size, "%s+0x%" PRIx64 " [k]\n", s->name, addr - s->addr)
		 : snprintf(buf, size, "0x%" PRIx64 " [k]\n", addr);
}

/* The file as the process sees it: the process may be in another mount namespace, and the file may
 * have been deleted or replaced. */
static struct file *open_file(pid_t tgid, uint64_t from, uint64_t to, const char *path)
{
	const char *slash = strrchr(path, '/');
	struct proc_path map = proc_path(tgid, "map_files/%" PRIx64 "-%" PRIx64, from, to);
	struct file *f;
	struct stat st;

	if (stat(map.text, &st))
		return NULL;
	for (size_t i = 0; i < known.n_files; i++)
		if (known.files[i]->dev == st.st_dev && known.files[i]->ino == st.st_ino)
			return known.files[i];
	f = known.n_files < FILES ? calloc(1, sizeof(*f)) : NULL;
	if (!f)
		return NULL;
	f->name = strdup(slash ? slash + 1 : path);
	if (f->name)
		text_clean(f->name, strlen(f->name) + 1);
	f->dev = st.st_dev;
	f->ino = st.st_ino;
	symbols_of_file(map.text, &f->symbols);
	known.files[known.n_files++] = f;
	return f;
}

static bool add_mapping(struct process *p, const char *line)
{
	struct mapping m = {}, *v;
	char path[512] = "", perms[8];

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %511[^\n]", &m.from,
		   &m.to, perms, &m.off, path) < 4 ||
	    !strchr(perms, 'x'))
		return true;
	m.file = path[0] == '/' ? open_file(p->tgid, m.from, m.to, path) : NULL;
	v = array_resize(p->v, p->n, 1, sizeof(*v));
	if (!v)
		return false;
	p->v = v;
	p->v[p->n++] = m;
	return true;
}

/* If the process is gone, its old mappings stay. */
static void read_maps(struct process *p)
{
	struct process now = { .tgid = p->tgid };

	for_each_line (l, proc_path(p->tgid, "maps").text)
		if (!add_mapping(&now, l.text))
			break;
	if (!now.n)
		return;
	free(p->v);
	*p = now;
}

static struct process *process_of(pid_t tgid)
{
	struct process *p;

	for (size_t i = 0; i < PROCS; i++)
		if (known.procs[i].tgid == tgid)
			return &known.procs[i];
	p = &known.procs[known.next_proc++ % PROCS];
	free(p->v);
	*p = (struct process){ .tgid = tgid };
	read_maps(p);
	return p;
}

static const struct mapping *mapping_of(const struct process *p, uint64_t addr)
{
	for (size_t i = 0; i < p->n; i++)
		if (addr >= p->v[i].from && addr < p->v[i].to)
			return &p->v[i];
	return NULL;
}

static int user_frame(uint64_t addr, pid_t tgid, char *buf, size_t size)
{
	struct process *p = process_of(tgid);
	const struct mapping *m = mapping_of(p, addr);
	const struct symbol *s;
	uint64_t off;

	if (!m) { /* the code was loaded since, or it is another program by now */
		read_maps(p);
		m = mapping_of(p, addr);
	}
	if (!m || !m->file)
		return snprintf(buf, size, "0x%" PRIx64 "\n", addr);
	off = addr - m->from + m->off;
	s = symbols_find(&m->file->symbols, off);
	if (!s)
		return snprintf(buf, size, "%s+0x%" PRIx64 "\n", m->file->name, off);
	return snprintf(buf, size, "%s+0x%" PRIx64 " (%s)\n", s->name, off - s->addr,
			m->file->name);
}

/* Is the frame the tracer's own, above the function that was traced? */
static bool is_tracer(const char *frame)
{
	static const char *const prefixes[] = {
		"bpf_",	       "__bpf_",     "__traceiter_", "call_trace_",  "trace_call_bpf",
		"kprobe_",     "kretprobe_", "ftrace_",	     "arch_ftrace_", "aggr_pre_handler",
		"perf_trace_", "rethook_",   "arch_rethook_"
	};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (!strncmp(frame, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

/* In a program without frame pointers, numbers on the stack are taken for return addresses. */
static bool is_garbage(uint64_t addr, pid_t tgid)
{
	const struct process *p = process_of(tgid);

	return !(addr >> 63) && p->n && !mapping_of(p, addr);
}

/* The upper half of the address space is the kernel's on every machine that this runs on. */
static int print_frame(uint64_t addr, pid_t tgid, char *buf, size_t size)
{
	return addr >> 63 ? kernel_frame(addr, buf, size) : user_frame(addr, tgid, buf, size);
}

/* ---- the two maps: see stack_number() in bpf/emit.bpf.h ---- */

#define TEND_EVERY 50 /* calls, one every 20 ms */

static int map_of_age(const struct trace *t, uint32_t age)
{
	return bpf_object__find_map_fd_by_name(t->obj, age & 1 ? "stacks_odd" : "stacks_even");
}

int stacks_size(struct trace *t)
{
	struct bpf_map *even = bpf_object__find_map_by_name(t->obj, "stacks_even"),
		       *odd = bpf_object__find_map_by_name(t->obj, "stacks_odd");
	unsigned int n = t->opts.stacks ? STACK_PLACES : 1;

	return !even || !odd || bpf_map__set_max_entries(even, n) ||
			       bpf_map__set_max_entries(odd, n)
		       ? -1
		       : 0;
}

static size_t count_places(int fd)
{
	uint32_t place, *prev = NULL;
	size_t n = 0;

	for (; !bpf_map_get_next_key(fd, prev, &place); n++)
		prev = &place;
	return n;
}

/* stack_map_get_next_key() needs a key that is still in the map: so each is deleted after the next
 * one was found. */
static void empty_map(int fd)
{
	uint32_t place, next;
	bool more = !bpf_map_get_next_key(fd, NULL, &place);

	while (more) {
		more = !bpf_map_get_next_key(fd, &place, &next);
		bpf_map_delete_elem(fd, &place);
		place = next;
	}
}

/* A session of days meets more stacks than there are places, most of them only once (in a program
 * without frame pointers, numbers on the stack look like callers). When stacks were lost and a
 * quarter of the places is taken, the other map is emptied and used from then on. Stacks of the age
 * before are still there for stalls that hold them; a thread that sleeps through two changes has
 * lost its stack. */
void stacks_tend(struct trace *t)
{
	uint32_t *age = object_var(t, "stack_age");
	uint64_t lost;

	if (!t->opts.stacks || !age || ++t->stacks.samples % TEND_EVERY)
		return;
	lost = counters_one(t, COUNT_STACKS);
	if (lost == t->stacks.lost)
		return;
	t->stacks.lost = lost;
	if (count_places(map_of_age(t, *age)) <
	    STACK_PLACES / 4) /* stacks that share a place would share it in the other map too */
		return;
	empty_map(map_of_age(t, *age + 1));
	__atomic_store_n(age, *age + 1, __ATOMIC_RELEASE);
}

static bool find_stack(struct trace *t, int number, uint64_t frames[FRAMES])
{
	const uint32_t *age = object_var(t, "stack_age");
	uint32_t place = STACK_PLACE(number);

	if (number < 0 || !age || (*age - STACK_AGE(number)) % STACK_AGES > 1)
		return false;
	return !bpf_map_lookup_elem(map_of_age(t, STACK_AGE(number)), &place, frames);
}

int trace_stack(struct trace *t, int number, pid_t tgid, char *buf, size_t size)
{
	uint64_t frames[FRAMES] = {};
	size_t used = 0;
	int n = 0;

	if (size)
		buf[0] = 0;
	if (!find_stack(t, number, frames))
		return 0;
	pthread_mutex_lock(&known.lock);
	while (n < FRAMES && frames[n]) {
		int len = print_frame(frames[n], tgid, buf + used, size - used);

		if (n && is_garbage(frames[n],
				    tgid)) /* after print_frame(), which has read the maps again */
			len = -1;
		if (len < 0 || (size_t)len >= size - used) { /* whole frames only */
			buf[used] = 0;
			break;
		}
		if (used || !is_tracer(buf))
			used += (size_t)len;
		n++;
	}
	pthread_mutex_unlock(&known.lock);
	return n;
}
