/* SPDX-License-Identifier: GPL-2.0-only */
/* The circumstances of a result as JSON: machine, build, clock, noise. Unknown figures are null. */
#ifndef IPCSTALL_RENDER_ENVIRONMENT_H
#define IPCSTALL_RENDER_ENVIRONMENT_H

#include <jansson.h>

#include "base/clock.h"
#include "host/machine.h"
#include "host/noise.h"

json_t *json_figure(double v);	  /* null for NaN and infinities */
json_t *json_text(const char *s); /* null for "" and NULL */

json_t *machine_to_json(const struct machine *m);
/* The command line of this process, with argv[0] as `ipcstall`; [] without /proc. */
json_t *invocation_to_json(void);
json_t *build_to_json(const struct build *b);
json_t *tick_clock_to_json(const struct tick_clock *c);
json_t *noise_to_json(const struct noise_report *r); /* with warnings by the default limits */

#endif
