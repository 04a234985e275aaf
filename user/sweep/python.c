// SPDX-License-Identifier: GPL-2.0-only
#include "sweep/python.h"

#include <stdlib.h>
#include <unistd.h>

#include "sweep/experiment_share.h"

/* Debian's Python has the packages that the figures need; the first python3 in PATH may not. */
static const char *interpreter(void)
{
	const char *given = getenv("PYTHON");

	if (given && *given)
		return given;
	return access("/usr/bin/python3", X_OK) == 0 ? "/usr/bin/python3" : "python3";
}

bool python_start(struct python *p, const char *argv[PYTHON_WORDS])
{
	if (!share_dir(p->share))
		return false;
	argv[0] = interpreter();
	argv[1] = "-I";
	argv[2] = "-c";
	argv[3] = "import runpy, sys; sys.path.insert(0, sys.argv.pop(1)); "
		  "runpy.run_module('analysis', run_name='__main__', alter_sys=True)";
	argv[4] = p->share;
	return true;
}
