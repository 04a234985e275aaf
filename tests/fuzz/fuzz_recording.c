// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as a recording. The first byte says how: as they are, or as blocks (a kind, three bytes
 * of length, the content) which get the heads and checksums that such a file has, for chance finds
 * no checksum. What is read is judged and shown in every form, and an endpoint written again is
 * the same.
 */
#include <zlib.h>

#include "fuzz/fuzz.h"
#include "recording/blocks.h"
#include "recording/codec.h"
#include "recording/recording.h"
#include "render/ledger_outputs.h"
#include "session/session.h"

static FILE *nowhere;

static void as_blocks(int fd, const uint8_t *data, size_t size)
{
	MUST(blocks_write_head(fd) == 0);
	while (size >= 4) {
		size_t n = (size_t)data[1] | (size_t)data[2] << 8 | (size_t)data[3] << 16, written;

		n = n < size - 4 ? n : size - 4;
		MUST(blocks_write(fd, (enum block_type)data[0], data + 4, n, &written) == 0);
		data += 4 + n;
		size -= 4 + n;
	}
}

static bool every_other(void *ctx, const struct trace_endpoint *ep)
{
	return ep->serial & 1;
}

/* What the reader made of it, the writer writes, and the reader reads the same again. */
static void check_written_again(const struct trace_endpoint *ep)
{
	struct codec w, r, w2;
	struct trace_detail detail = {};
	struct trace_endpoint copy = *ep, back = { .detail = &detail };
	uint64_t peer = 7, peer_back = 0;

	codec_writer(&w);
	codec_endpoint(&w, &copy, &peer);
	codec_reader(&r, w.v, w.n);
	codec_endpoint(&r, &back, &peer_back);
	MUST(codec_done(&r) && !r.lacks && !r.unknown && peer_back == peer);
	codec_writer(&w2);
	codec_endpoint(&w2, &back, &peer_back);
	MUST(w.n == w2.n && !memcmp(w.v, w2.v, w.n));
	codec_free(&w);
	codec_free(&w2);
}

static void show(struct replay *p)
{
	struct verdict v;
	struct err e = {};
	struct session_opts o = {};
	struct ledger_view view = { .s = &p->end, .v = &v, .stalls = &p->stalls,
		.timeline = &p->timeline, .wants_stalls = true, .wants_timeline = true,
		.head = p->state.head };

	verdict_make(&p->end, &v);
	session_defaults(&o);
	session_screen(&o, &p->end, &v, nowhere);
	for (enum ledger_output i = 0; i < LEDGER_OUTPUTS_N; i++)
		if (ledger_write(i, &view, "/dev/null", &e))
			must_be_refusal(&e);
}

static void load(const struct recording *r, endpoint_filter want)
{
	struct replay p;
	struct err e = {};

	if (replay_load(r, want, NULL, 1000, &p, &e)) {
		must_be_refusal(&e);
	} else {
		for (size_t i = 0; i < p.end.n; i++) {
			MUST(p.end.ep[i].peer < (int)p.end.n);
			check_written_again(&p.end.ep[i]);
		}
		show(&p);
	}
	replay_free(&p);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	nowhere = fopen("/dev/null", "w");
	silence_stdout();
	trace_cgroup_offline();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	bool raw = size && data[0] & 1;
	struct memory_file m = memory_file_open(data + (size > 0), raw ? size - 1 : 0);
	struct recording r;
	struct err e = {};

	if (!raw && size)
		as_blocks(m.fd, data + 1, size - 1);
	recording_is_one(m.path);
	if (recording_open(&r, m.path, &e)) {
		must_be_refusal(&e);
	} else {
		load(&r, NULL);
		load(&r, every_other);
	}
	recording_close(&r);
	memory_file_close(&m);
	return 0;
}
