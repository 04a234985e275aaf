// SPDX-License-Identifier: GPL-2.0-only OR MIT
// How long a message takes to be written to memory and read back from it.
#ifndef IPCSTALL_WORKLOADS_RPC_MARSHAL_HH
#define IPCSTALL_WORKLOADS_RPC_MARSHAL_HH

#include <algorithm>
#include <vector>

#include "end.hh"

enum { MARSHAL_WARM = 100, MARSHAL_TIMES = 501 };

static inline int64_t middle_of(std::vector<int64_t> &v)
{
	std::nth_element(v.begin(), v.begin() + v.size() / 2, v.end());
	return v[v.size() / 2];
}

// Writes and reads in turn, each with stamps of its own: the medians.
template <typename Write, typename Read>
static marshalling marshal_medians(const stopwatch &w, int64_t bytes, Write write, Read read)
{
	std::vector<int64_t> wrote, was_read;

	for (int i = -MARSHAL_WARM; i < MARSHAL_TIMES; i++) {
		uint64_t a = w.ns(), b, c;

		write();
		b = w.ns();
		read();
		c = w.ns();
		if (i < 0)
			continue;
		wrote.push_back(int64_t(b - a));
		was_read.push_back(int64_t(c - b));
	}
	return { middle_of(wrote), middle_of(was_read), bytes };
}

#endif
