// SPDX-License-Identifier: GPL-2.0-only
#include "host/machine.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/text.h"

#ifndef IPCSTALL_GIT
#define IPCSTALL_GIT "unknown"
#endif
#ifndef IPCSTALL_CFLAGS
#define IPCSTALL_CFLAGS "unknown"
#endif

/* gcc defines __SANITIZE_ADDRESS__, clang answers __has_feature(). UBSan has no such mark, but the
 * build always adds it to ASan. */
#if defined(__SANITIZE_ADDRESS__)
#define HAS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_ASAN 1
#endif
#endif
#ifndef HAS_ASAN
#define HAS_ASAN 0
#endif

const struct build build = {
	.version = IPCSTALL_VERSION,
	.git = IPCSTALL_GIT,
#ifdef __clang__
	.compiler = "clang " __clang_version__,
#else
	.compiler = "gcc " __VERSION__,
#endif
	.flags = IPCSTALL_CFLAGS,
	.sanitizers = HAS_ASAN ? "address,undefined" : "none",
	.flavour = IPCSTALL_BUILD,
};

static void copy(char *out, size_t size, const char *from)
{
	snprintf(out, size, "%.*s", (int)size - 1, from);
}

static void read_uname(struct machine *m)
{
	struct utsname u;

	if (uname(&u))
		return;
	copy(m->hostname, sizeof(m->hostname), u.nodename);
	copy(m->kernel, sizeof(m->kernel), u.release);
	copy(m->kernel_build, sizeof(m->kernel_build), u.version);
	copy(m->arch, sizeof(m->arch), u.machine);
}

/* PRETTY_NAME="Debian GNU/Linux 12 (bookworm)" */
static void read_distribution(struct machine *m)
{
	static const char key[] = "PRETTY_NAME=\"";

	for_each_line (l, "/etc/os-release")
		if (!strncmp(l.text, key, sizeof(key) - 1)) {
			copy(m->distribution, sizeof(m->distribution), l.text + sizeof(key) - 1);
			m->distribution[strcspn(m->distribution, "\"\n")] = 0;
		}
}

static uint64_t known_size(int name)
{
	long v = sysconf(name);

	return v > 0 ? (uint64_t)v : 0;
}

static void read_cpu(struct machine *m)
{
	/* x86, arm, mips, riscv */
	const char *keys[] = { "model name", "Model", "cpu model", "uarch" };

	for (size_t i = 0; i < 4 && !m->cpu_model[0]; i++)
		text_field("/proc/cpuinfo", keys[i], m->cpu_model, sizeof(m->cpu_model));
	m->cpus_online = (int)sysconf(_SC_NPROCESSORS_ONLN);
	m->cpus_configured = (int)sysconf(_SC_NPROCESSORS_CONF);
	m->memory_bytes = known_size(_SC_PHYS_PAGES) * known_size(_SC_PAGESIZE);
}

/* sysfs, not sysconf(_SC_LEVEL1_DCACHE_SIZE): glibc answers that with cpuid, and sysfs gives the
 * same. */
static void read_caches(struct machine *m)
{
	for (int i = 0; i < 8; i++) {
		char path[96], type[32], size[32];
		uint64_t level, *to;

		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu0/cache/index%d/level", i);
		if (!text_u64(path, &level) || level < 1 || level > 3)
			continue;
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu0/cache/index%d/type", i);
		if (!text_first_line(path, type, sizeof(type)) || !strcmp(type, "Instruction"))
			continue;
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu0/cache/index%d/size", i);
		text_first_line(path, size, sizeof(size)); /* "48K" */
		to = level == 1 ? &m->l1d_bytes : level == 2 ? &m->l2_bytes : &m->l3_bytes;
		*to = strtoull(size, NULL, 10) << (strchr(size, 'M') ? 20 : 10);
	}
}

/* The firmware's name for the product if there is one; else the CPU's own flag, which every x86
 * hypervisor sets. */
static void read_virtualisation(struct machine *m)
{
	char flags[8192];

	if (text_first_line("/sys/hypervisor/type", m->virtualisation, sizeof(m->virtualisation)))
		return;
	if (!text_field("/proc/cpuinfo", "flags", flags, sizeof(flags)))
		return;
	if (!text_has_word(flags, "hypervisor"))
		copy(m->virtualisation, sizeof(m->virtualisation), "none");
	else if (!text_first_line("/sys/class/dmi/id/product_name", m->virtualisation,
				  sizeof(m->virtualisation)))
		copy(m->virtualisation, sizeof(m->virtualisation), "hypervisor");
}

static void read_policies(struct machine *m)
{
	text_first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource",
			m->clocksource, sizeof(m->clocksource));
	text_first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", m->governor,
			sizeof(m->governor));
	text_first_line("/sys/devices/system/cpu/cpuidle/current_driver", m->idle_driver,
			sizeof(m->idle_driver));
	text_first_line("/sys/kernel/debug/sched/preempt", m->preemption, sizeof(m->preemption));
	text_first_line("/sys/kernel/security/lockdown", m->lockdown, sizeof(m->lockdown));
}

/* "retbleed: Vulnerable", "spectre_v2: Mitigation": the word before the first ':' ';' or ','. */
static void add_mitigation(struct machine *m, const char *name)
{
	char path[320], line[256];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/vulnerabilities/%s", name);
	if (!text_first_line(path, line, sizeof(line)) || !strncmp(line, "Not affected", 12))
		return;
	line[strcspn(line, ":;,")] = 0;
	text_append(m->mitigations, sizeof(m->mitigations), "%s%s: %s",
		    m->mitigations[0] ? ", " : "", name, line);
}

static void read_mitigations(struct machine *m)
{
	struct dirent **names;
	int n = scandir("/sys/devices/system/cpu/vulnerabilities", &names, NULL, alphasort);

	for (int i = 0; i < n; i++) {
		if (names[i]->d_name[0] != '.')
			add_mitigation(m, names[i]->d_name);
		free(names[i]);
	}
	if (n >= 0)
		free(names);
}

void machine_read(struct machine *m)
{
	memset(m, 0, sizeof(*m));
	read_uname(m);
	read_distribution(m);
	read_cpu(m);
	read_caches(m);
	read_virtualisation(m);
	read_policies(m);
	read_mitigations(m);
}
