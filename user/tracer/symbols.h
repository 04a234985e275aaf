/* SPDX-License-Identifier: GPL-2.0-only */
/* Names for addresses, in one kind of table for the kernel's symbols and for a file's. */
#ifndef IPCSTALL_TRACER_SYMBOLS_H
#define IPCSTALL_TRACER_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct symbol {
	uint64_t addr, size; /* size 0: up to the next */
	char *name;
};

struct symbols {
	struct symbol *v;
	size_t n, room;
};

bool symbols_add(struct symbols *s, uint64_t addr, uint64_t size, const char *name);
void symbols_sort(struct symbols *s);
/* the symbol that the address lies in; NULL: none */
const struct symbol *symbols_find(const struct symbols *s, uint64_t addr);

/* An ELF file's functions by their offset in the file, from .symtab or else .dynsym, and from the
 * separate debug file that its build id names. False: it is no ELF file, or cannot be read. */
bool symbols_of_file(const char *path, struct symbols *out);

#endif
