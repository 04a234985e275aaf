/* SPDX-License-Identifier: GPL-2.0-only */
/* Bytes to figures and back. One walk over a structure serves both ways, so that what is written is
 * what is read. Numbers take seven bits a byte, the lowest first: most are small. */
#ifndef IPCSTALL_RECORDING_CODEC_H
#define IPCSTALL_RECORDING_CODEC_H

#include "verdict/stalls.h"
#include "tracer/trace.h"

struct codec {
	uint8_t *v;
	size_t n;    /* written, or to be read */
	size_t room; /* writing: of v, which is the codec's own */
	size_t at;   /* reading: how far */
	bool reads;
	bool bad;	/* ran out of bytes or of memory, or read what cannot be */
	bool section;	/* reading one of another build: where it ends early, what would follow is 0
			 */
	bool short_of;	/* and it did */
	uint32_t lacks; /* sections that were not there, or ended early: 1 << their row */
	uint32_t unknown; /* sections of tags that are not known here */
};

/* A part of a structure. A tag is never used again; a field that is added goes to the end of a
 * section, or into one of its own. */
struct codec_section {
	uint32_t tag;
	const char *name; /* as a replay says what a file lacks */
	void (*walk)(struct codec *c, void *what);
};

void codec_writer(struct codec *c);
void codec_reader(struct codec *c, const void *bytes, size_t n);
void codec_free(struct codec *c);
/* everything was read, and nothing was wrong */
bool codec_done(const struct codec *c);

void codec_u64(struct codec *c, uint64_t *v);
void codec_i64(struct codec *c, int64_t *v);
void codec_u32(struct codec *c, uint32_t *v);
void codec_u32s(struct codec *c, uint32_t *v, size_t n);
void codec_bool(struct codec *c, bool *v);
void codec_bytes(struct codec *c, void *v, size_t n);
/* reading: bad unless *v < limit */
void codec_below(struct codec *c, uint64_t *v, uint64_t limit);

/* All sections of a structure; read in any order, whatever else is there. */
void codec_sections(struct codec *c, const struct codec_section *rows, size_t n, void *what);
/* n words; a file of another build may have more, which are passed over, or fewer, and the rest
 * stays as it is */
void codec_list(struct codec *c, uint64_t *v, size_t n);

/* What a recording may lack: names of the sections of an endpoint, by row; NULL: there are no more.
 */
const char *codec_endpoint_section(size_t row);

/* an endpoint; its peer by serial (0: none), since indices do not outlive a snapshot */
void codec_endpoint(struct codec *c, struct trace_endpoint *ep, uint64_t *peer_serial);
/* what stands before the endpoints of a BLOCK_SNAPSHOT or BLOCK_CLOSED: large snapshots are cut
 * into several blocks */
struct part {
	uint64_t at_ns, n;
	struct trace_counters counters;
	bool last;
};
void codec_part(struct codec *c, struct part *p);
void codec_listeners(struct codec *c, struct trace_listeners *l);
/* stacks as numbers of texts, 0: unknown */
void codec_stall(struct codec *c, struct trace_stall *s, uint64_t texts[STACKS]);
/* `base`: the time of the one before, which goes along */
void codec_transition(struct codec *c, struct trace_transition *tr, uint64_t *base);

#endif
