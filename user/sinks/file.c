// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <string.h>

#include "sinks/sink.h"

bool sink_is_stdout(const char *path)
{
	return path && strcmp(path, "-") == 0;
}

const char *sink_name(const char *path)
{
	return sink_is_stdout(path) ? "standard output" : path;
}

FILE *sink_open(const char *path, struct err *e)
{
	FILE *f = sink_is_stdout(path) ? stdout : fopen(path, "we");

	if (!f)
		err_sys(e, EXIT_IO, "give a path that can be written", "%s", path);
	return f;
}

int sink_close(FILE *f, const char *path, struct err *e)
{
	bool bad = fflush(f) != 0 || ferror(f);

	if (bad)
		err_sys(e, EXIT_IO, f == stdout ? "give it room or a reader and run again" : "give it room and run again", "%s", sink_name(path));
	if (f != stdout && fclose(f) != 0 && !bad)
		return err_sys(e, EXIT_IO, "give it room and run again", "%s", path);
	return bad ? -1 : 0;
}

const char *size_text(int64_t size, char buf[24])
{
	if (size >= 1 << 20 && size % (1 << 20) == 0)
		snprintf(buf, 24, "%" PRId64 "M", size >> 20);
	else if (size >= 1024 && size % 1024 == 0)
		snprintf(buf, 24, "%" PRId64 "K", size >> 10);
	else
		snprintf(buf, 24, "%" PRId64, size);
	return buf;
}
