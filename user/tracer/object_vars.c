// SPDX-License-Identifier: GPL-2.0-only
/* The variables and constants of an object, by name: shared with the kernel half. */
#include <string.h>
#include <sys/mman.h>

#include "tracer/internal.h"

static const struct btf_type *section_of(const struct btf *btf, const char *section)
{
	int id = btf__find_by_name_kind(btf, section, BTF_KIND_DATASEC);

	return id > 0 ? btf__type_by_id(btf, id) : NULL;
}

static long var_offset(const struct btf *btf, const char *section, const char *name)
{
	const struct btf_type *sec = section_of(btf, section);

	for (int i = 0; sec && i < btf_vlen(sec); i++) {
		const struct btf_var_secinfo *v = btf_var_secinfos(sec) + i;

		if (!strcmp(btf__name_by_offset(btf, btf__type_by_id(btf, v->type)->name_off),
			    name))
			return v->offset;
	}
	return -1;
}

static struct bpf_map *section_map(struct bpf_object *obj, const char *section)
{
	struct bpf_map *map;

	bpf_object__for_each_map (map, obj) {
		const char *dot = strchr(bpf_map__name(map), '.');

		if (dot && !strcmp(dot, section))
			return map;
	}
	return NULL;
}

/* a constant, to be set before the object is loaded */
void *object_const(struct bpf_object *obj, const char *name)
{
	long off = var_offset(bpf_object__btf(obj), ".rodata", name);
	struct bpf_map *map = section_map(obj, ".rodata");
	size_t len;

	return map && off >= 0 ? (char *)bpf_map__initial_value(map, &len) + off : NULL;
}

void *object_var(const struct trace *t, const char *name)
{
	long off = t->vars ? var_offset(bpf_object__btf(t->obj), ".bss", name) : -1;

	return off >= 0 ? t->vars + off : NULL;
}

/* What the variables were before loading: 4 MB, which nobody reads again. Where libbpf has mapped
 * the kernel's copy there, this fails, and nothing is lost. */
static void drop_initial_values(struct bpf_map *map)
{
	size_t n;
	const void *initial = bpf_map__initial_value(map, &n);

	if (initial)
		(void)madvise((void *)(uintptr_t)initial, n, MADV_REMOVE);
}

/* Maps the kernel's own copy of the variables; bpf_map__initial_value() does not give that one
 * after loading. */
int object_map_vars(struct trace *t)
{
	struct bpf_map *map = section_map(t->obj, ".bss");

	if (!map)
		return -1;
	t->vars_size = bpf_map__value_size(map);
	t->vars = mmap(NULL, t->vars_size, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);
	if (t->vars == MAP_FAILED)
		t->vars = NULL;
	drop_initial_values(map);
	t->calls = object_var(t, "calls");
	t->tgid_hint = object_var(t, "tgid_hint");
	t->followed_fd = bpf_object__find_map_fd_by_name(t->obj, "followed");
	return t->vars ? 0 : -1;
}
