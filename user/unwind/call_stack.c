// SPDX-License-Identifier: GPL-2.0-only
#include "unwind/call_stack.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unwind/frame_sources.h"

enum { READ_AT_MOST_S = 20 }; /* debug information can be large */

/* --- is a frame the program's own? ------------------------------------------------------------ */

static bool has_any(const char *text, const char *const *words)
{
	for (; *words; words++)
		if (strstr(text, *words))
			return true;
	return false;
}

static bool begins_with_any(const char *text, const char *const *words)
{
	for (; *words; words++)
		if (!strncmp(text, *words, strlen(*words)))
			return true;
	return false;
}

static bool is_library(const struct call_frame *f)
{
	static const char *const folders[] = { "/usr/include/",
					       "/rustc/",
					       "/rustlib/src/",
					       "/go/src/",
					       "/lib/go-",
					       "/lib/python3",
					       "/dist-packages/",
					       "/site-packages/",
					       "<frozen",
					       "node:",
					       "/sysdeps/",
					       "/nptl/",
					       NULL };
	static const char *const sources[] = { "library/std/", "library/core/", "library/alloc/",
					       NULL };
	static const char *const modules[] = { "libc.so",    "libc-",	   "ld-linux", "ld-musl",
					       "libpthread", "libstdc++",  "libc++",   "libssl",
					       "libcrypto",  "libuv",	   "libjvm",   "libnet.so",
					       "libnio.so",  "libjava.so", "libruby",  "libpython",
					       "[vdso",	     NULL };
	static const char *const names[] = { "std::",	  "core::",   "alloc::",     "<std::",
					     "<core::",	  "<alloc::", "__gnu_cxx::", "java.",
					     "javax.",	  "sun.",     "jdk.",	     "com.sun.net.",
					     "runtime.",  "syscall.", "internal/",   "net.",
					     "net/http.", "os.",      "bufio.",	     "io.",
					     "fmt.",	  "crypto/",  "_start",	     NULL };

	return has_any(f->file, folders) || begins_with_any(f->file, sources) ||
	       begins_with_any(f->module, modules) || begins_with_any(f->function, names);
}

static bool any_managed(const struct call_stack *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->v[i].managed)
			return true;
	return false;
}

/* If some frames are an interpreter's, the native ones are the interpreter itself. */
static void note_libraries(struct call_stack *s)
{
	bool managed = any_managed(s);

	for (size_t i = 0; i < s->n; i++)
		s->v[i].library |= s->v[i].managed != managed || is_library(&s->v[i]);
}

void call_stack_disown(struct call_stack *s)
{
	for (size_t i = 0; i < s->n; i++)
		s->v[i].library = true;
}

const struct call_frame *call_stack_own(const struct call_stack *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (!s->v[i].library && s->v[i].function[0])
			return &s->v[i];
	return NULL;
}

void call_frame_text(const struct call_frame *f, char *buf, size_t len)
{
	const char *slash = strrchr(f->file, '/');
	const char *file = slash ? slash + 1 : f->file;

	if (f->begins)
		snprintf(buf, len, "%s (%s, begins at line %d)", f->function, file, f->line);
	else if (f->file[0] && f->line)
		snprintf(buf, len, "%s (%s:%d)", f->function, file, f->line);
	else
		snprintf(buf, len, "%s (%s)", f->function, file[0] ? file : f->module);
}

/* --- in a child process ----------------------------------------------------------------------- */

/* the child's input and output, in memory that it shares with its parent */
struct job {
	void (*run)(struct job *job);
	pid_t tgid;
	struct stack_copy copy;
	struct python_layout layout;
	struct call_stack stack;
};

static void find_layout(struct job *job)
{
	python_layout_find(job->tgid, &job->layout);
}

static void read_stack(struct job *job)
{
	if (job->copy.python.threads_head)
		python_frames_read(&job->copy, job->tgid, &job->stack);
	if (!job->stack.n)
		unwind_native(&job->copy, job->tgid, &job->stack);
	note_libraries(&job->stack);
}

static struct job *begin_job(void (*run)(struct job *job), pid_t tgid)
{
	struct job *job =
		mmap(NULL, sizeof(*job), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (job == MAP_FAILED)
		return NULL;
	job->run = run;
	job->tgid = tgid;
	return job;
}

static int wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return status;
}

static bool carry_out(struct job *job)
{
	pid_t pid = fork();

	if (pid == 0) {
		signal(SIGALRM, SIG_DFL);
		alarm(READ_AT_MOST_S);
		job->run(job);
		_exit(0);
	}
	return pid > 0 && wait_for(pid) == 0;
}

void python_layout_of(pid_t tgid, struct python_layout *out)
{
	struct job *job = begin_job(find_layout, tgid);

	*out = (struct python_layout){};
	if (job && carry_out(job))
		*out = job->layout;
	if (job)
		munmap(job, sizeof(*job));
}

void call_stack_read(const struct stack_copy *copy, pid_t tgid, struct call_stack *out)
{
	struct job *job = begin_job(read_stack, tgid);
	bool done = false;

	*out = (struct call_stack){};
	if (job) {
		job->copy = *copy;
		done = carry_out(job);
		*out = job->stack;
		munmap(job, sizeof(*job));
	}
	if (!done)
		snprintf(out->missing, sizeof(out->missing), "its files could not be read");
}
