// SPDX-License-Identifier: GPL-2.0-only
/* What this kernel allows, found out once by trying, and how to get what it does not allow. */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "tracer/internal.h"

static struct {
	struct btf *btf;
	bool asked;
} kernel;

static struct btf *kernel_btf(void)
{
	if (!kernel.asked) {
		kernel.asked = true;
		kernel.btf = btf__load_vmlinux_btf();
	}
	return kernel.btf;
}

void feature_forget_types(void)
{
	btf__free(kernel.btf);
	kernel.btf = NULL;
	kernel.asked = false;
}

bool feature_typedef(const char *name)
{
	struct btf *btf = kernel_btf();

	return btf && btf__find_by_name_kind(btf, name, BTF_KIND_TYPEDEF) > 0;
}

/* how many arguments a tracepoint passes, from the typedef of its probe; -1: unknown */
int feature_args(const char *tracepoint)
{
	struct btf *btf = kernel_btf();
	const struct btf_type *t;
	char name[128];
	int id;

	snprintf(name, sizeof(name), "btf_trace_%s", tracepoint);
	id = btf ? btf__find_by_name_kind(btf, name, BTF_KIND_TYPEDEF) : -1;
	if (id < 0)
		return -1;
	t = btf__type_by_id(btf, btf__type_by_id(btf, id)->type);
	t = t ? btf__type_by_id(btf, t->type) : NULL;
	return t && btf_is_func_proto(t) ? btf_vlen(t) - 1 : -1;
}

int feature_drop_args(void)
{
	static int args; /* 0: not asked yet */

	if (!args)
		args = feature_args("kfree_skb");
	return args;
}

bool feature_func(const char *name)
{
	struct btf *btf = kernel_btf();

	return btf && btf__find_by_name_kind(btf, name, BTF_KIND_FUNC) > 0;
}

/* how many arguments a function takes; -1: unknown */
int feature_func_args(const char *name)
{
	struct btf *btf = kernel_btf();
	int id = btf ? btf__find_by_name_kind(btf, name, BTF_KIND_FUNC) : -1;
	const struct btf_type *t =
		id > 0 ? btf__type_by_id(btf, btf__type_by_id(btf, id)->type) : NULL;

	return t ? btf_vlen(t) : -1;
}

/* the kernel functions that hooks know by address */
static struct symbol {
	const char *name;
	uint64_t addr;
} symbols[] = { { "tcp_delack_timer", 0 },	 { "tcp_write_timer", 0 },
		{ "woken_wake_function", 0 },	 { "autoremove_wake_function", 0 },
		{ "receiver_wake_function", 0 }, { "pollwake", 0 } };

#define N_SYMBOLS (sizeof(symbols) / sizeof(symbols[0]))

static bool note_symbol(const char *line)
{
	unsigned long long addr;
	char name[256], type;

	if (sscanf(line, "%llx %c %255s", &addr, &type, name) != 3)
		return false;
	for (size_t i = 0; i < N_SYMBOLS; i++) {
		if (strcmp(name, symbols[i].name) || symbols[i].addr)
			continue;
		symbols[i].addr = addr;
		return true;
	}
	return false;
}

/* once for all of them: the file has some 200,000 lines, which the kernel makes at each reading */
static void read_symbols(void)
{
	size_t found = 0;

	for_each_line (l, "/proc/kallsyms") {
		found += (strstr(l.text, " tcp_") || strstr(l.text, "wake")) && note_symbol(l.text);
		if (found == N_SYMBOLS)
			break;
	}
}

uint64_t feature_symbol(const char *name)
{
	static bool asked;

	if (!asked) {
		asked = true;
		read_symbols();
	}
	for (size_t i = 0; i < N_SYMBOLS; i++)
		if (!strcmp(name, symbols[i].name))
			return symbols[i].addr;
	return 0;
}

static const struct bpf_insn nothing[] = {
	{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = 0 },
	{ .code = BPF_JMP | BPF_EXIT },
};

static int load_nothing(enum bpf_prog_type type, struct bpf_prog_load_opts *o)
{
	int fd = bpf_prog_load(type, NULL, "GPL", nothing, 2, o);

	return fd >= 0 ? fd : -errno;
}

/* Closes fd: it is enough that it could be opened. */
static int opened(int fd)
{
	return fd < 0 ? -errno : (close(fd), 0);
}

/* where: NULL: at the program's BTF id */
static int try_attach(int fd, const char *where)
{
	int err = fd < 0 ? fd : opened(bpf_raw_tracepoint_open(where, fd));

	if (fd >= 0)
		close(fd);
	return err;
}

static int try_rawtp(void)
{
	return try_attach(load_nothing(BPF_PROG_TYPE_RAW_TRACEPOINT, NULL), "sched_process_exit");
}

/* Atomics that return a value (5.12), and bpf_task_pt_regs() (5.15): the ledger's programs need
 * both. */
static int try_atomics(void)
{
	static const struct bpf_insn swap[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = 0 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 1, .imm = 0 },
		{ .code = BPF_STX | BPF_MEM | BPF_DW, .dst_reg = 10, .src_reg = 1, .off = -8 },
		{ .code = BPF_STX | BPF_ATOMIC | BPF_DW, .dst_reg = 10, .src_reg = 1, .off = -8,
			.imm = BPF_CMPXCHG },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	enum bpf_prog_type type = BPF_PROG_TYPE_RAW_TRACEPOINT;
	int err = opened(bpf_prog_load(type, NULL, "GPL", swap, sizeof(swap) / sizeof(swap[0]),
				       NULL));

	if (err)
		return err;
	return libbpf_probe_bpf_helper(type, BPF_FUNC_task_pt_regs, NULL) == 1 ? 0 : -ENOENT;
}

static int try_fentry(void)
{
	LIBBPF_OPTS(bpf_prog_load_opts, o, .expected_attach_type = BPF_TRACE_FENTRY);
	struct btf *btf = kernel_btf();
	int id = btf ? btf__find_by_name_kind(btf, "tcp_sendmsg", BTF_KIND_FUNC) : -1;

	if (id < 0)
		return -ENOENT;
	o.attach_btf_id = id;
	return try_attach(load_nothing(BPF_PROG_TYPE_TRACING, &o), NULL);
}

static int try_kprobe(void)
{
	int fd;

	if (access("/sys/bus/event_source/devices/kprobe/type", R_OK))
		return -ENOSYS;
	fd = load_nothing(BPF_PROG_TYPE_KPROBE, NULL);
	return fd < 0 ? fd : opened(fd);
}

static void lockdown(char *buf, size_t size)
{
	FILE *f = fopen("/sys/kernel/security/lockdown", "r");
	char line[128] = "", *open = NULL, *end = NULL;

	if (f && fgets(line, sizeof(line), f))
		open = strchr(line, '[');
	if (open)
		end = strchr(open, ']');
	if (end)
		*end = 0;
	snprintf(buf, size, "%s", end ? open + 1 : "");
	if (f)
		fclose(f);
}

enum {
	F_BTF,
	F_RAWTP,
	F_LENGTHS,
	F_SENDMSG,
	F_FENTRY,
	F_KPROBE,
	F_ATOMICS,
	F_CASTS,
	F_SYMBOLS,
	F_N
};

static struct trace_feature features[F_N];

static void explain(struct trace_feature *f, int err, const char *otherwise)
{
	char mode[32];

	f->there = !err;
	f->why_not[0] = 0;
	if (!err)
		return;
	lockdown(mode, sizeof(mode));
	if (err == -EPERM && geteuid() != 0)
		snprintf(f->why_not, sizeof(f->why_not),
			 "not permitted: no CAP_BPF and CAP_PERFMON");
	else if (err == -EPERM && mode[0] && strcmp(mode, "none"))
		snprintf(f->why_not, sizeof(f->why_not),
			 "not permitted: the kernel is locked down (%s)", mode);
	else if (err == -EPERM &&
		 features[F_RAWTP].there) /* with a privilege missing, that would fail too */
		snprintf(f->why_not, sizeof(f->why_not),
			 "not permitted, although raw tracepoints are: is the kernel locked down?");
	else
		snprintf(f->why_not, sizeof(f->why_not), "%s",
			 otherwise ? otherwise : strerror(-err));
}

static struct trace_feature features[F_N] = {
	[F_BTF] = { "BTF", .lost = "everything: the programs need it to fit this kernel",
		    .fix = "a kernel with CONFIG_DEBUG_INFO_BTF=y" },
	[F_RAWTP] = { "raw tracepoints", .lost = "everything the ledger shows",
		      .fix = "run as root, or grant CAP_BPF and CAP_PERFMON" },
	[F_LENGTHS] = { "sock_send_length, sock_recv_length", .lost = "the rawtp backend",
			.fix = "a kernel from 6.3 on" },
	[F_SENDMSG] = { "tcp_sendmsg_locked tracepoint",
			.lost = "`work` of TCP's tx ledger with "
				"the rawtp backend",
			.fix = "a kernel from 6.16 on, or the fentry backend" },
	[F_FENTRY] = { "fentry",
		       .lost = "exact moments: a state may seem to last until the next "
			       "observed event",
		       .fix = "a kernel with CONFIG_FUNCTION_TRACER=y that is not locked down" },
	[F_KPROBE] = { "kprobe", .lost = "the kprobe backend, the second choice after fentry",
		       .fix = "a kernel with CONFIG_KPROBES=y that is not locked down" },
	[F_ATOMICS] = { "BPF atomics, a task's registers",
			.lost = "everything: the ledger's programs need them",
			.fix = "a kernel from 5.15 on" },
	[F_CASTS] = { "BPF casts to kernel types",
		      .lost = "some speed: fentry programs copy what "
			      "they read",
		      .fix = "a kernel from 6.2 on" },
	[F_SYMBOLS] = { "kernel addresses",
			.lost = "delayed-ACK blame and timeouts with the rawtp "
				"backend",
			.fix = "sysctl kernel.kptr_restrict=0, or CAP_SYSLOG" },
};

static void probe(void)
{
	static bool done;

	if (done)
		return;
	done = true;
	explain(&features[F_BTF], kernel_btf() ? 0 : -ENOENT,
		"/sys/kernel/btf/vmlinux cannot be read");
	explain(&features[F_RAWTP], try_rawtp(), NULL);
	explain(&features[F_LENGTHS], feature_typedef("btf_trace_sock_send_length") ? 0 : -ENOENT,
		"not in this kernel");
	explain(&features[F_SENDMSG], feature_typedef("btf_trace_tcp_sendmsg_locked") ? 0 : -ENOENT,
		"not in this kernel");
	explain(&features[F_FENTRY], try_fentry(), NULL);
	explain(&features[F_KPROBE], try_kprobe(), "built without kprobes");
	explain(&features[F_ATOMICS], try_atomics(),
		features[F_RAWTP].there ? "not in this kernel" : NULL);
	if (!features[F_RAWTP].there)
		features[F_ATOMICS].fix = features[F_RAWTP].fix;
	explain(&features[F_CASTS], feature_func("bpf_rdonly_cast") ? 0 : -ENOENT,
		"not in this kernel");
	explain(&features[F_SYMBOLS], feature_symbol("tcp_delack_timer") ? 0 : -ENOENT,
		"/proc/kallsyms shows no addresses");
}

bool feature_debugs(void)
{
	return getenv("IPCSTALL_DEBUG_BPF");
}

const char *feature_locked(enum trace_backend b)
{
	const struct trace_feature *f = &features[b == TRACE_FENTRY ? F_FENTRY : F_KPROBE];

	probe();
	return b != TRACE_RAWTP && features[F_RAWTP].there && !f->there ? f->why_not : NULL;
}

size_t trace_features(const struct trace_feature **f)
{
	probe();
	*f = features;
	return F_N;
}

enum trace_backend trace_best_backend(const char **why)
{
	static const int needed[] = { F_BTF, F_RAWTP, F_ATOMICS };

	probe();
	*why = "";
	if (features[F_BTF].there && features[F_RAWTP].there && features[F_ATOMICS].there) {
		*why = features[F_FENTRY].why_not;
		if (features[F_FENTRY].there)
			return TRACE_FENTRY;
		if (features[F_KPROBE].there)
			return TRACE_KPROBE;
		if (features[F_LENGTHS].there)
			return TRACE_RAWTP;
	}
	*why = features[F_LENGTHS].why_not;
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (!features[needed[i]].there) {
			*why = features[needed[i]].why_not;
			break;
		}
	return TRACE_AUTO;
}

const char *const *trace_not_covered(enum trace_backend b)
{
	static const char *const rawtp[] = { "readers asleep in poll() since before the session",
					     "tee",
					     "splice() out of sockets",
					     "calls on pipes made by io-uring or io_submit",
					     "sleeps in io_submit",
					     "`work` of receive calls that do not sleep",
					     "MPTCP: its subflows show as TCP without calls",
					     NULL };
	static const char *const others[] = { "splice",
					      "vmsplice",
					      "tee",
					      "sendfile() to pipes",
					      "sendfile() to Unix sockets before 6.5",
					      "kernel TLS receives",
					      "MPTCP: its subflows show as TCP without calls",
					      NULL };

	static const char *const sampled[] = {
		"single episodes: their number, the longest, what ended each",
		"calls that do not sleep",
		"messages, and the bytes of pipes and Unix sockets",
		"time after a wake-up until the thread ran",
		"dropped datagrams",
		"connections that open and close between two samples",
		"what a delayed-ACK timer did between two samples",
		NULL
	};

	if (b == TRACE_SAMPLED)
		return sampled;
	return b == TRACE_RAWTP ? rawtp : others;
}
