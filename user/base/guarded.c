// SPDX-License-Identifier: GPL-2.0-only
#include "base/guarded.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static size_t whole_pages(size_t bytes)
{
	return (bytes + page_size() - 1) / page_size() * page_size();
}

static int fill_middle(char *guard, size_t bytes, int fd)
{
	int kind = MAP_FIXED | MAP_SHARED | MAP_POPULATE | (fd < 0 ? MAP_ANONYMOUS : 0);
	void *middle =
		mmap(guard + page_size(), whole_pages(bytes), PROT_READ | PROT_WRITE, kind, fd, 0);

	return middle == MAP_FAILED ? -1 : 0;
}

/* fd -1: anonymous memory */
static void *map_over(size_t bytes, const char *next, int fd, struct err *e)
{
	size_t whole;
	char *guard = MAP_FAILED;

	if (bytes <= SIZE_MAX / 2) {
		whole = whole_pages(bytes) + 2 * page_size();
		guard = mmap(NULL, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			     -1, 0);
	}
	if (guard != MAP_FAILED && fill_middle(guard, bytes, fd) == 0)
		return guard + page_size() + whole_pages(bytes) - bytes;
	err_sys(e, EXIT_NO_RESOURCE, next, "memory for %zu bytes", bytes);
	if (guard != MAP_FAILED)
		munmap(guard, whole);
	return NULL;
}

void *guarded_map(size_t bytes, const char *next, struct err *e)
{
	return map_over(bytes, next, -1, e);
}

void *guarded_map_file(size_t bytes, const char *next, int *fd, struct err *e)
{
	void *p = NULL;

	*fd = memfd_create("ipcstall", MFD_CLOEXEC);
	if (*fd < 0 || ftruncate(*fd, (off_t)whole_pages(bytes)))
		err_sys(e, EXIT_NO_RESOURCE, next, "memory for %zu bytes", bytes);
	else
		p = map_over(bytes, next, *fd, e);
	if (!p && *fd >= 0) {
		close(*fd);
		*fd = -1;
	}
	return p;
}

void guarded_unmap(void *p, size_t bytes)
{
	if (p)
		munmap((char *)p + bytes - whole_pages(bytes) - page_size(),
		       whole_pages(bytes) + 2 * page_size());
}
