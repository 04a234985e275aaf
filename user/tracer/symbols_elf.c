// SPDX-License-Identifier: GPL-2.0-only
/* The functions of an ELF file, by their offset in the file: a frame's offset is known from
 * /proc/PID/maps. Symbols have addresses, which are converted. */
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <unistd.h>

#include "tracer/symbols.h"

/* the offset of an address in the file, from the loadable segments */
static bool file_offset(Elf *elf, uint64_t addr, uint64_t *off)
{
	size_t n = 0;
	GElf_Phdr ph;

	elf_getphdrnum(elf, &n);
	for (size_t i = 0; i < n; i++) {
		if (!gelf_getphdr(elf, (int)i, &ph) || ph.p_type != PT_LOAD || addr < ph.p_vaddr ||
		    addr - ph.p_vaddr >= ph.p_memsz)
			continue;
		*off = addr - ph.p_vaddr + ph.p_offset;
		return true;
	}
	return false;
}

static Elf_Scn *section_of_type(Elf *elf, uint32_t type, GElf_Shdr *sh)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, sh) && sh->sh_type == type && sh->sh_entsize)
			return scn;
	return NULL;
}

/* segments: the file whose offsets count. A debug file has the same addresses as the file that it
 * belongs to, but other offsets. */
static size_t add_table(Elf *elf, Elf *segments, uint32_t type, struct symbols *out)
{
	GElf_Shdr sh;
	Elf_Scn *scn = section_of_type(elf, type, &sh);
	Elf_Data *data = scn ? elf_getdata(scn, NULL) : NULL;
	size_t before = out->n;
	GElf_Sym sym;

	for (size_t i = 0; data && i < sh.sh_size / sh.sh_entsize; i++) {
		uint64_t off;
		const char *name;

		if (!gelf_getsym(data, (int)i, &sym) || !sym.st_value ||
		    sym.st_shndx == SHN_UNDEF ||
		    (GELF_ST_TYPE(sym.st_info) != STT_FUNC &&
		     GELF_ST_TYPE(sym.st_info) != STT_GNU_IFUNC))
			continue;
		name = elf_strptr(elf, sh.sh_link, sym.st_name);
		if (name && *name && file_offset(segments, sym.st_value, &off) &&
		    !symbols_add(out, off, sym.st_size, name))
			break;
	}
	return out->n - before;
}

/* /usr/lib/debug/.build-id/ab/cdef....debug, where distributions put what they strip */
static bool debug_path(Elf *elf, char *buf, size_t size)
{
	GElf_Shdr sh;
	GElf_Nhdr nh;
	Elf_Scn *scn = NULL;
	size_t name, desc;

	while ((scn = elf_nextscn(elf, scn))) {
		Elf_Data *d = gelf_getshdr(scn, &sh) && sh.sh_type == SHT_NOTE
				      ? elf_getdata(scn, NULL)
				      : NULL;
		const unsigned char *id;
		int len;

		if (!d || !gelf_getnote(d, 0, &nh, &name, &desc) || nh.n_type != NT_GNU_BUILD_ID ||
		    nh.n_descsz < 2 || nh.n_descsz > 64)
			continue;
		id = (const unsigned char *)d->d_buf + desc;
		len = snprintf(buf, size, "/usr/lib/debug/.build-id/%02x/", id[0]);
		for (size_t i = 1; i < nh.n_descsz; i++)
			len += snprintf(buf + len, size - (size_t)len, "%02x", id[i]);
		snprintf(buf + len, size - (size_t)len, ".debug");
		return true;
	}
	return false;
}

static void add_debug_file(Elf *elf, struct symbols *out)
{
	char path[256];
	int fd = debug_path(elf, path, sizeof(path)) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	Elf *debug = fd >= 0 ? elf_begin(fd, ELF_C_READ_MMAP, NULL) : NULL;

	if (debug)
		add_table(debug, elf, SHT_SYMTAB, out);
	elf_end(debug);
	if (fd >= 0)
		close(fd);
}

bool symbols_of_file(const char *path, struct symbols *out)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf *elf;
	bool is_elf;

	if (fd < 0)
		return false;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	is_elf = elf && elf_kind(elf) == ELF_K_ELF;
	if (is_elf && !add_table(elf, elf, SHT_SYMTAB, out)) {
		add_debug_file(elf, out);
		add_table(elf, elf, SHT_DYNSYM, out);
	}
	elf_end(elf);
	close(fd);
	symbols_sort(out);
	return is_elf;
}
