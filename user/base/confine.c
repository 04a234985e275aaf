// SPDX-License-Identifier: GPL-2.0-only
#include "base/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#if defined(__x86_64__)
#define OWN_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OWN_ARCH AUDIT_ARCH_AARCH64
#endif

/* A kernel or machine without this filter does without it: it only adds to other protection. */
#ifdef OWN_ARCH
static const unsigned int refused[] = {
	/* other programs and processes */
	SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_userfaultfd, SYS_kcmp,
	SYS_personality, SYS_pidfd_getfd, SYS_process_madvise,
	/* io_uring could request the rest: no filter sees what is in its queue */
	SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register,
	/* mounts and files */
	SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, SYS_setns, SYS_unshare,
	SYS_open_by_handle_at, SYS_swapon, SYS_swapoff, SYS_quotactl, SYS_acct, SYS_mknodat,
	SYS_unlinkat, SYS_renameat2, SYS_mkdirat, SYS_linkat, SYS_symlinkat, SYS_fchmodat,
	SYS_fchownat, SYS_setxattr, SYS_lsetxattr, SYS_removexattr, SYS_lremovexattr, SYS_truncate,
	SYS_openat2,
#ifdef SYS_unlink
	SYS_unlink, SYS_rename, SYS_mkdir, SYS_rmdir, SYS_link, SYS_symlink, SYS_mknod, SYS_chmod,
	SYS_chown, SYS_lchown, SYS_creat,
#endif
#ifdef SYS_renameat
	SYS_renameat,
#endif
	SYS_open_tree, SYS_move_mount, SYS_fsopen, SYS_fsmount, SYS_fsconfig, SYS_fspick,
	SYS_mount_setattr,
#ifdef SYS_fchmodat2
	SYS_fchmodat2,
#endif
	/* the machine */
	SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_kexec_load, SYS_kexec_file_load,
	SYS_reboot,
	SYS_settimeofday, SYS_clock_settime, SYS_adjtimex, SYS_clock_adjtime,
	SYS_sethostname, SYS_setdomainname,
	SYS_add_key, SYS_request_key, SYS_keyctl, SYS_syslog,
#ifdef SYS_iopl
	SYS_iopl, SYS_ioperm,
#endif
};

enum {
	REFUSED = sizeof(refused) / sizeof(refused[0]),
	X32 = 0x40000000,
	CREATES = O_CREAT | (O_TMPFILE & ~O_DIRECTORY),
};

#define LOAD(field) \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define RETURN(what) BPF_STMT(BPF_RET | BPF_K, what)
#define NOT_PERMITTED (SECCOMP_RET_ERRNO | EPERM)

static size_t add(struct sock_filter *f, size_t n, struct sock_filter one)
{
	f[n] = one;
	return n + 1;
}

/* One comparison and one end for each call, so that no jump is long. */
static size_t refuse(struct sock_filter *f, size_t n, unsigned int call)
{
	n = add(f, n, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1));
	return add(f, n, (struct sock_filter)RETURN(NOT_PERMITTED));
}

/* Existing files may be opened. A match must return: the call's number is no longer loaded. */
static size_t refuse_creating(struct sock_filter *f, size_t n, unsigned int call,
			      unsigned int flags)
{
	n = add(f, n, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 4));
	n = add(f, n, (struct sock_filter)LOAD(args[flags]));
	n = add(f, n, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CREATES, 0, 1));
	n = add(f, n, (struct sock_filter)RETURN(NOT_PERMITTED));
	return add(f, n, (struct sock_filter)RETURN(SECCOMP_RET_ALLOW));
}

static size_t make_filter(struct sock_filter *f, unsigned int may)
{
	size_t n = 0;

	n = add(f, n, (struct sock_filter)LOAD(arch));
	n = add(f, n, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OWN_ARCH, 1, 0));
	n = add(f, n, (struct sock_filter)RETURN(NOT_PERMITTED));
	n = add(f, n, (struct sock_filter)LOAD(nr));
	n = add(f, n, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, X32, 0, 1));
	n = add(f, n, (struct sock_filter)RETURN(NOT_PERMITTED));
	for (size_t i = 0; i < REFUSED; i++)
		n = refuse(f, n, refused[i]);
	n = refuse_creating(f, n, SYS_openat, 2);
#ifdef SYS_open
	n = refuse_creating(f, n, SYS_open, 1);
#endif
	if (!(may & MAY_BPF))
		n = refuse(f, n, SYS_bpf);
	if (!(may & MAY_PERF)) /* kprobes are attached with it */
		n = refuse(f, n, SYS_perf_event_open);
	if (!(may & MAY_EXEC))
		n = refuse(f, refuse(f, n, SYS_execve), SYS_execveat);
	return add(f, n, (struct sock_filter)RETURN(SECCOMP_RET_ALLOW));
}

static int install(const struct sock_fprog *p)
{
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, p, 0, 0);
}

int confine(unsigned int may, struct err *e)
{
	struct sock_filter f[2 * REFUSED + 25];
	struct sock_fprog p = { .filter = f };

	p.len = (unsigned short)make_filter(f, may);
	if (install(&p) == 0 || errno == EINVAL || errno == ENOSYS)
		return 0;
	/* a process that is not root may do this only if no program can gain privileges any more */
	if (errno == EACCES && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && install(&p) == 0)
		return 0;
	return err_sys(e, EXIT_NO_FEATURE, NULL, "seccomp filter");
}
#else
int confine(unsigned int may, struct err *e)
{
	return 0;
}
#endif
