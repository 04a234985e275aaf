// SPDX-License-Identifier: GPL-2.0-only
/* The text of a link: "veth,rate=100mbit,delay=10ms". Numbers are kept exactly. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "host/link.h"
#include "base/opt.h"

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define NEXT_HELP    "`ipcstall bench --help` lists the keys of --link"

/* A choice is a unit without a number. */
struct unit {
	const char *name;
	uint64_t factor;
};

static const struct unit rate_units[] = {
	{ "gbit", 1000000000 }, { "mbit", 1000000 }, { "kbit", 1000 }, { "bit", 1 }, { NULL, 0 },
};
static const struct unit time_units[] = {
	{ "s", 1000000000 }, { "ms", 1000000 }, { "us", 1000 }, { "ns", 1 }, { NULL, 0 },
};
static const struct unit size_units[] = {
	{ "mb", 1 << 20 }, { "m", 1 << 20 }, { "kb", 1 << 10 }, { "k", 1 << 10 }, { "b", 1 },
		{ "", 1 }, { NULL, 0 },
};
static const struct unit percent_units[] = { { "%", 10000 }, { NULL, 0 } };
static const struct unit plain_units[] = { { "", 1 }, { NULL, 0 } };
static const struct unit switch_units[] = {
	{ "on", LINK_ON }, { "off", LINK_OFF }, { "1", LINK_ON }, { "0", LINK_OFF }, { NULL, 0 },
};
static const struct unit qdisc_units[] = {
	{ "fq", LINK_Q_FQ }, { "fq_codel", LINK_Q_FQ_CODEL }, { "pfifo", LINK_Q_PFIFO },
		{ NULL, 0 },
};

struct key {
	const char *name;
	size_t offset;
	const struct unit *units;
	bool choice;
	uint64_t min, max;
	const char *range; /* in words, for the help and for errors */
	const char *help;
};

#define KEY(field) #field, offsetof(struct link_spec, field)
#define SWITCH(field, text) \
	{ \
		KEY(field), switch_units, true, 0, 0, "on or off", text \
	}

static const struct key keys[] = {
	{ KEY(mtu), plain_units, false, 68, 65535, "68 to 65535 bytes; below 1280 there is no IPv6",
		"largest packet" },
	{ KEY(rate), rate_units, false, 8000, 400000000000,
		"8kbit to 400gbit; units bit, kbit, mbit, gbit",
	  "rate limit of each direction (tbf)" },
	{ KEY(burst), size_units, false, 68, 1 << 30, "68 bytes to 1024mb; units b, kb, mb",
	  "what the rate limit lets through at once" },
	{ KEY(limit), size_units, false, 1, 1 << 30, "1 byte to 1024mb; units b, kb, mb",
	  "length of the queue before the rate limit" },
	{ KEY(delay), time_units, false, 0, 60000000000, "0s to 60s; units ns, us, ms, s",
	  "propagation delay of each direction (netem)" },
	{ KEY(jitter), time_units, false, 0, 60000000000, "0s to 60s, not above delay; units ns, "
		"us, ms, s",
	  "how far the delay varies" },
	{ KEY(loss), percent_units, false, 0, 1000000, "0% to 100% in steps of 0.0001%",
		"random loss, each direction (netem)" },
	{ KEY(qdisc), qdisc_units, true, 0, 0, "fq, fq_codel or pfifo", "the innermost queue" },
	SWITCH(tso, "segmentation by the device; off takes gso and gro with it"),
	SWITCH(gso, "segmentation by the kernel just before the device"),
	SWITCH(gro, "merging of received segments"),
	{ KEY(pingpong), plain_units, false, 1, 255, "1 to 255",
		"net.ipv4.tcp_pingpong_thresh: one message in N meets a delayed ACK" },
	SWITCH(quickack, "no delayed ACKs on this link's routes"),
	{ KEY(cwnd), plain_units, false, 1, 65535, "1 to 65535 segments",
		"limit of the congestion window, as `ip route ... cwnd lock N`" },
};

static const char *const kinds[] = { [LINK_LO] = "lo", [LINK_VETH] = "veth",
	[LINK_BRIDGE] = "bridge" };

static uint64_t *field_of(struct link_spec *spec, const struct key *k)
{
	return (uint64_t *)((char *)spec + k->offset);
}

static uint64_t value_of(const struct link_spec *spec, const struct key *k)
{
	return *(const uint64_t *)((const char *)spec + k->offset);
}

static const struct unit *unit_find(const struct unit *u, const char *name)
{
	for (; u->name; u++)
		if (strcasecmp(u->name, name) == 0)
			return u;
	return NULL;
}

/* The digits of "12.34" as 1234 and two decimals. Fails without digits, and if they exceed 64
 * bits. */
static const char *read_decimal(const char *s, uint64_t *digits, unsigned int *decimals)
{
	bool point = false;
	unsigned int n = 0;

	*digits = 0;
	*decimals = 0;
	for (; isdigit((unsigned char)*s) || (*s == '.' && !point); s++) {
		if (*s == '.') {
			point = true;
			continue;
		}
		if (__builtin_mul_overflow(*digits, 10, digits) ||
		    __builtin_add_overflow(*digits, (uint64_t)(*s - '0'), digits))
			return NULL;
		*decimals += point;
		n++;
	}
	return n ? s : NULL;
}

static bool read_number(const char *text, const struct unit *units, uint64_t *out)
{
	unsigned int decimals;
	const struct unit *u;
	uint64_t v;

	text = read_decimal(text, &v, &decimals);
	u = text ? unit_find(units, text) : NULL;
	if (!u || __builtin_mul_overflow(v, u->factor, &v))
		return false;
	for (; decimals; decimals--, v /= 10)
		if (v % 10)
			return false; /* finer than the key can hold */
	*out = v;
	return true;
}

static bool read_value(const struct key *k, const char *text, uint64_t *out)
{
	const struct unit *u;

	if (!k->choice)
		return read_number(text, k->units, out) && *out >= k->min && *out <= k->max;
	u = unit_find(k->units, text);
	if (u)
		*out = u->factor;
	return u;
}

static const struct key *key_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (strcmp(keys[i].name, name) == 0)
			return &keys[i];
	return NULL;
}

static int bad_word(struct err *e, const char *what, const char *word, const char *const *names,
		    size_t n)
{
	const char *near = nearest_word(word, names, n);

	if (near)
		return err_usage(e, "--link: unknown %s \"%s\": did you mean \"%s\"? " NEXT_HELP,
				 what, word, near);
	return err_usage(e, "--link: unknown %s \"%s\"; " NEXT_HELP, what, word);
}

static int bad_key(struct err *e, const char *word)
{
	const char *names[ARRAY_LEN(keys)];

	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		names[i] = keys[i].name;
	return bad_word(e, "key", word, names, ARRAY_LEN(keys));
}

static int parse_kind(const char *word, struct link_spec *spec, struct err *e)
{
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		if (strcmp(kinds[i], word) == 0) {
			spec->kind = (enum link_kind)i;
			return 0;
		}
	}
	if (!*word || strchr(word, '='))
		return err_usage(e, "--link: \"%s\" is not a kind; begin with lo, veth or bridge",
				 word);
	return bad_word(e, "kind", word, kinds, ARRAY_LEN(kinds));
}

static int parse_pair(char *word, struct link_spec *spec, uint32_t *seen, struct err *e)
{
	char *value = strchr(word, '=');
	const struct key *k;
	uint32_t bit;

	if (value)
		*value++ = '\0';
	k = key_find(word);
	if (!k)
		return bad_key(e, word);
	bit = 1U << (k - keys);
	if (*seen & bit)
		return err_usage(e, "--link: %s is given twice; give it once", k->name);
	*seen |= bit;
	if (!value || !read_value(k, value, field_of(spec, k)))
		return err_usage(e, "--link: %s=%s cannot be used; give %s", k->name,
				 value ? value : "", k->range);
	return 0;
}

static int conflict(struct err *e, const char *text)
{
	return err_usage(e, "--link: %s", text);
}

/* Refuse values that are valid alone, but not with, or without, another key. */
static int check_whole(const struct link_spec *s, struct err *e)
{
	if (s->burst && !s->rate)
		return conflict(e, "burst belongs to a rate and none is given; add rate=");
	if (s->limit && !s->rate && !s->qdisc)
		return conflict(
			e, "limit is the length of a queue and there is none; add rate= or qdisc=");
	if (s->jitter > s->delay)
		return conflict(e, "jitter is larger than delay and no packet arrives before it is "
				   "sent; raise delay= or lower jitter=");
	if (s->burst && s->mtu && s->burst < s->mtu + 14)
		return conflict(e, "burst holds less than one frame, so nothing would ever pass; "
				   "raise burst= above mtu + 14");
	if (s->burst && !s->mtu && s->kind != LINK_LO && s->burst < 1514)
		return conflict(e, "burst holds less than one frame of 1514 bytes, so nothing "
				   "would ever pass; raise burst= or lower mtu=");
	if (s->burst && !s->mtu && s->kind == LINK_LO && s->burst < 65550)
		return conflict(e, "burst holds less than one packet of lo (65550 bytes), so "
				   "nothing would ever pass; raise burst= or give mtu=");
	return 0;
}

/* Keys and values have no other characters, and an error message stays one line. */
static bool is_plain_text(const char *s)
{
	while (*s > ' ' && *s < 0x7f)
		s++;
	return !*s;
}

int link_parse(const char *text, struct link_spec *spec, struct err *e)
{
	char copy[512], *at = copy, *word;
	uint32_t seen = 0;

	memset(spec, 0, sizeof(*spec));
	if (strlen(text) >= sizeof(copy))
		return err_usage(e, "--link: the text is longer than %zu characters; " NEXT_HELP,
				 sizeof(copy) - 1);
	if (!is_plain_text(text))
		return err_usage(
			e,
			"--link: the text holds a space or an unprintable character; " NEXT_HELP);
	memcpy(copy, text, strlen(text) + 1);
	if (parse_kind(strsep(&at, ","), spec, e))
		return -1;
	while ((word = strsep(&at, ",")))
		if (parse_pair(word, spec, &seen, e))
			return -1;
	return check_whole(spec, e);
}

bool link_key_help(size_t i, const char **name, char *text, size_t len)
{
	if (i >= ARRAY_LEN(keys))
		return false;
	*name = keys[i].name;
	snprintf(text, len, "%s: %s", keys[i].help, keys[i].range);
	return true;
}

bool link_is_plain(const struct link_spec *spec)
{
	if (spec->kind != LINK_LO)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (value_of(spec, &keys[i]))
			return false;
	return true;
}
