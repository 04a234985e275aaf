/* SPDX-License-Identifier: GPL-2.0-only */
/* Turns figures into bytes and back. The same walk over a structure writes and reads, so that what
 * is written is what is read. Numbers take seven bits a byte, the lowest first: most are small. */
#ifndef IPCSTALL_RECORDING_CODEC_H
#define IPCSTALL_RECORDING_CODEC_H

#include "verdict/stalls.h"
#include "tracer/trace.h"

struct codec {
	uint8_t *v;
	size_t n;    /* written, or to be read */
	size_t room; /* writing: size of v, which the codec owns */
	size_t at;   /* reading: position */
	bool reads;
	bool bad;	/* ran out of bytes or of memory, or read an impossible value */
	bool section;	/* reading a section: if it ends early, what is missing is read as 0 */
	bool short_of;	/* the section ended early */
	uint32_t lacks; /* sections that were missing, or ended early: 1 << their row */
	uint32_t unknown; /* sections with unknown tags */
};

/* A part of a structure. A tag is never reused. A new field goes to the end of a section, or into a
 * new section. */
struct codec_section {
	uint32_t tag;
	const char *name; /* for a replay's list of what the file lacks */
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

/* All sections of a structure. They are read in any order, and unknown ones are skipped. */
void codec_sections(struct codec *c, const struct codec_section *rows, size_t n, void *what);
/* n words. A file of another build may have more, which are skipped, or fewer: then the rest of v
 * stays as it is. */
void codec_list(struct codec *c, uint64_t *v, size_t n);

/* Names of the sections of an endpoint, which a recording may lack, by row; NULL: no more rows. */
const char *codec_endpoint_section(size_t row);

/* an endpoint; its peer by serial (0: none), since indices do not outlive a snapshot */
void codec_endpoint(struct codec *c, struct trace_endpoint *ep, uint64_t *peer_serial);
/* The head of a BLOCK_SNAPSHOT or BLOCK_CLOSED, before its endpoints. A large snapshot is split
 * into several blocks. */
struct part {
	uint64_t at_ns, n;
	struct trace_counters counters;
	bool last;
};
void codec_part(struct codec *c, struct part *p);
void codec_listeners(struct codec *c, struct trace_listeners *l);
/* stacks as numbers of texts, 0: unknown */
void codec_stall(struct codec *c, struct trace_stall *s, uint64_t texts[STACKS]);
/* `base`: the time of the transition before; it becomes this one's time */
void codec_transition(struct codec *c, struct trace_transition *tr, uint64_t *base);

#endif
