// SPDX-License-Identifier: GPL-2.0-only
#include "render/environment.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "json/json_text.h"

json_t *json_figure(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

json_t *json_text(const char *s)
{
	return s && s[0] ? text_json(s) : json_null();
}

static json_t *json_count(uint64_t v)
{
	return v ? json_integer((json_int_t)v) : json_null();
}

json_t *machine_to_json(const struct machine *m)
{
	return json_pack(
		"{so, so, so, so, so, so, si, si, so, so, so, so, so, so, so, so, so, so, so}",
		"hostname", json_text(m->hostname), "kernel", json_text(m->kernel), "kernel_build",
		json_text(m->kernel_build), "arch", json_text(m->arch), "distribution",
		json_text(m->distribution), "cpu_model", json_text(m->cpu_model), "cpus_online",
		m->cpus_online, "cpus_configured", m->cpus_configured, "memory_bytes",
		json_count(m->memory_bytes), "l1d_bytes", json_count(m->l1d_bytes), "l2_bytes",
		json_count(m->l2_bytes), "l3_bytes", json_count(m->l3_bytes), "virtualisation",
		json_text(m->virtualisation), "clocksource", json_text(m->clocksource), "governor",
		json_text(m->governor), "idle_driver", json_text(m->idle_driver), "preemption",
		json_text(m->preemption), "lockdown", json_text(m->lockdown), "mitigations",
		json_text(m->mitigations));
}

json_t *invocation_to_json(void)
{
	FILE *f = fopen("/proc/self/cmdline", "re");
	json_t *words = json_array();
	char *word = NULL;
	size_t room = 0;

	while (f && getdelim(&word, &room, '\0', f) > 0)
		json_array_append_new(words, text_json(json_array_size(words) ? word : "ipcstall"));
	free(word);
	if (f)
		fclose(f);
	return words;
}

json_t *build_to_json(const struct build *b)
{
	return json_pack("{ss, ss, ss, ss, ss, ss}", "version", b->version, "git", b->git,
			 "compiler", b->compiler, "flags", b->flags, "sanitizers", b->sanitizers,
			 "flavour", b->flavour);
}

json_t *tick_clock_to_json(const struct tick_clock *c)
{
	return json_pack("{ss, so, so, sI, ss}", "stamp", c->name, "hz", json_figure(c->hz),
			 "relative_error", json_figure(c->rel_error), "calibrated_over_ns",
			 (json_int_t)c->window_ns, "why", c->why);
}

static json_t *cpu_probe_to_json(const struct cpu_probe *c)
{
	return json_pack("{so, so, so}", "loop_ns", json_figure(c->loop_ns), "loop_spread",
			 json_figure(c->loop_spread), "call_ns", json_figure(c->call_ns));
}

static json_t *warnings_to_json(const struct noise_report *r)
{
	char text[NOISE_WARNINGS][NOISE_TEXT];
	int n = noise_warnings(r, &noise_default_limits, text);
	json_t *list = json_array();

	for (int i = 0; i < n; i++)
		json_array_append_new(list, json_string(text[i]));
	return list;
}

json_t *noise_to_json(const struct noise_report *r)
{
	return json_pack("{so, si, so, so, so, so, so, so, so, so, so, so, so, so, so, so, so}",
			 "window_ns", json_figure(r->window_ns), "cpus", r->n_cpus, "tick_ns",
			 json_figure(r->tick_ns), "steal_ns", json_figure(r->steal_ns),
			 "competing_ns", json_figure(r->competing_ns), "interrupt_ns",
			 json_figure(r->interrupt_ns), "involuntary_switches",
			 json_figure(r->tasks.involuntary), "voluntary_switches",
			 json_figure(r->tasks.voluntary), "migrations",
			 json_figure(r->tasks.migrations), "run_delay_ns",
			 json_figure(r->tasks.run_delay_ns), "cpu_ns", json_figure(r->tasks.cpu_ns),
			 "freq_khz_before", json_figure(r->freq_khz_before), "freq_khz_after",
			 json_figure(r->freq_khz_after), "bpf_tracers", json_figure(r->tracers),
			 "canary_before", cpu_probe_to_json(&r->cpu_probe_before), "canary_after",
			 cpu_probe_to_json(&r->cpu_probe_after), "warnings", warnings_to_json(r));
}
