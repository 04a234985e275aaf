// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "host/link.h"

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

static int parse(const char *text, struct link_spec *s, struct err *e)
{
	memset(e, 0, sizeof(*e));
	return link_parse(text, s, e);
}

static const struct {
	const char *text;
	struct link_spec want;
} good[] = {
	{ "lo", { LINK_LO } },
	{ "veth", { LINK_VETH } },
	{ "bridge", { LINK_BRIDGE } },
	{ "veth,rate=100mbit", { LINK_VETH, .rate = 100000000 } },
	{ "veth,rate=100MBit", { LINK_VETH, .rate = 100000000 } },
	{ "veth,rate=2.5gbit", { LINK_VETH, .rate = 2500000000 } },
	{ "veth,rate=8000bit", { LINK_VETH, .rate = 8000 } },
	{ "veth,rate=0.1mbit", { LINK_VETH, .rate = 100000 } },
	{ "veth,rate=400gbit", { LINK_VETH, .rate = 400000000000 } },
	{ "lo,mtu=1500", { LINK_LO, .mtu = 1500 } },
	{ "veth,mtu=68", { LINK_VETH, .mtu = 68 } },
	{ "veth,mtu=65535", { LINK_VETH, .mtu = 65535 } },
	{ "veth,delay=10ms", { LINK_VETH, .delay = 10000000 } },
	{ "veth,delay=0.5us", { LINK_VETH, .delay = 500 } },
	{ "veth,delay=1ns", { LINK_VETH, .delay = 1 } },
	{ "veth,delay=60s", { LINK_VETH, .delay = 60000000000 } },
	{ "veth,delay=0s", { LINK_VETH } },
	{ "veth,delay=10ms,jitter=10ms", { LINK_VETH, .delay = 10000000, .jitter = 10000000 } },
	{ "veth,loss=1%", { LINK_VETH, .loss = 10000 } },
	{ "veth,loss=0.0001%", { LINK_VETH, .loss = 1 } },
	{ "veth,loss=100%", { LINK_VETH, .loss = 1000000 } },
	{ "veth,loss=12.3456%", { LINK_VETH, .loss = 123456 } },
	{ "veth,tso=off", { LINK_VETH, .tso = LINK_OFF } },
	{ "veth,tso=0,gso=1,gro=ON", { LINK_VETH, .tso = LINK_OFF, .gso = LINK_ON,
		.gro = LINK_ON } },
	{ "veth,pingpong=10", { LINK_VETH, .pingpong = 10 } },
	{ "veth,cwnd=2", { LINK_VETH, .cwnd = 2 } },
	{ "veth,quickack=1", { LINK_VETH, .quickack = LINK_ON } },
	{ "veth,quickack=off", { LINK_VETH, .quickack = LINK_OFF } },
	{ "bridge,qdisc=fq", { LINK_BRIDGE, .qdisc = LINK_Q_FQ } },
	{ "bridge,qdisc=pfifo,limit=15140", { LINK_BRIDGE, .qdisc = LINK_Q_PFIFO,
		.limit = 15140 } },
	{ "veth,rate=1mbit,limit=8mb", { LINK_VETH, .rate = 1000000, .limit = 8 << 20 } },
	{ "veth,rate=1mbit,burst=3100,limit=8k", { LINK_VETH, .rate = 1000000, .burst = 3100,
		.limit = 8192 } },
	{ "veth,rate=1mbit,burst=1514b", { LINK_VETH, .rate = 1000000, .burst = 1514 } },
	{ "veth,mtu=500,rate=1mbit,burst=514", { LINK_VETH, .mtu = 500, .rate = 1000000,
		.burst = 514 } },
	{ "veth,rate=100mbit,mtu=1500,delay=10ms,loss=1%,tso=off,pingpong=10,qdisc=fq,jitter=2ms,"
	  "limit=8mb,burst=3100,quickack=1",
	  { LINK_VETH, 1500, 100000000, 3100, 8 << 20, 10000000, 2000000, 10000, LINK_Q_FQ,
	  	LINK_OFF, 0, 0, 10, LINK_ON } },
};

static void test_good(void **state)
{
	struct link_spec s;
	struct err e;

	(void)state;
	for (size_t i = 0; i < LEN(good); i++) {
		if (parse(good[i].text, &s, &e))
			fail_msg("%s: %s", good[i].text, e.text);
		if (memcmp(&s, &good[i].want, sizeof(s)))
			fail_msg("%s: read as something else", good[i].text);
	}
}

static void expect_bad(const char *text)
{
	struct link_spec s;
	struct err e;

	if (parse(text, &s, &e) == 0)
		fail_msg("taken: \"%s\"", text);
	assert_int_equal(e.code, EXIT_BAD_USAGE);
	assert_null(strchr(e.text, '\n'));
	if (!strstr(e.text, "--link: ") || !strpbrk(e.text, ";:?"))
		fail_msg("\"%s\": poor message: %s", text, e.text);
}

static const char *const bad[] = {
	"", ",", "=", "=veth", " veth", "veth ", "Veth", "vet", "eth0", "br", "bridge,,", "veth,",
		"lo,", ",veth", "veth,veth",
	"rate=100mbit", "veth;rate=1mbit", "veth,rate=1mbit,rate=2mbit", "veth,mtu=1500,mtu=1500",
		"veth,tso=on,tso=off",
	"veth,Rate=1mbit", "veth,rate =1mbit", "veth, rate=1mbit", "veth,rat=1mbit",
		"veth,bandwidth=1mbit", "veth,kind=lo",
	"veth,rate=1mbit,burst=67", "veth,rate=1mbit,burst=1513",
		"veth,mtu=9000,rate=1mbit,burst=9013", "lo,rate=1mbit,burst=3100",
	"veth,burst=3100", "veth,limit=8mb", "veth,jitter=1ms", "veth,delay=1ms,jitter=2ms",
		"veth,delay=1ms,limit=1mb",
	"veth,delay=10", "veth,delay=10m", "veth,delay=61s", "veth,delay=0.5ns",
		"veth,delay=1.0000000001s", "veth,delay=60.1s",
	"veth,loss=1", "veth,loss=0.01", "veth,loss=101%", "veth,loss=1%%", "veth,loss=0.00001%",
		"veth,loss=100.0001%",
	"veth,rate=100", "veth,rate=100m", "veth,rate=100mb", "veth,rate=100mbps",
		"veth,rate=7999bit", "veth,rate=7kbit",
	"veth,rate=401gbit", "veth,rate=400.1gbit", "veth,rate=0.1bit", "veth,rate=99999999999gbit",
		"veth,rate=0gbit",
	"veth,mtu=67", "veth,mtu=65536", "veth,mtu=0", "veth,mtu=1500b", "veth,mtu=1k",
		"veth,mtu=1500.5", "veth,mtu=18446744073709551617",
	"veth,pingpong=0", "veth,cwnd=0", "veth,cwnd=65536", "veth,pingpong=256",
		"veth,pingpong=on", "veth,quickack=2", "veth,quickack=yes", "veth,quickack",
	"veth,tso=maybe", "veth,tso=", "veth,tso", "veth,gso=2", "veth,gro=-1", "veth,qdisc=tbf",
		"veth,qdisc=", "veth,qdisc=FQ2",
	"veth,rate=1mbit,limit=0", "veth,rate=1mbit,limit=1025mb", "veth,rate=1mbit,limit=8gb",
		"veth,rate=1mbit,limit=8q",
	"veth,rate=1mbit,burst=1025mb", "veth,rate=1mbit,burst=64Q", "bridge,rate", "bridge,rate=",
		"bridge,=1", "lo,mtu",
	"veth,rate=1mbit\n", "veth,mtu=\t1500", "veth,delay=1e3ms", "veth,delay=0x10ms",
		"veth,delay=1..5ms", "veth,delay=.ms",
	"veth,loss=nan%", "veth,delay=infs", "veth,rate=\xff\xfe", "veth,\xc3\xa9=1",
};

static void test_bad(void **state)
{
	(void)state;
	for (size_t i = 0; i < LEN(bad); i++)
		expect_bad(bad[i]);
}

/* Every number-taking key with every kind of thing that is no number for it. */
static void test_bad_product(void **state)
{
	static const char *const names[] = { "mtu", "rate", "burst", "limit", "delay", "jitter",
		"loss", "pingpong" };
	static const char *const values[] = {
		"", "-1", "+1", "- 1", "x", "1x", "64Q", "1 k", " 1", "1 ", "1,5=2", "0x10", "1e3",
			"nan", "inf", "-inf", "1.2.3", ".",
		"..", "mbit", "ms", "%", "%s", "%n", "99999999999999999999",
			"99999999999999999999mbit", "340282366920938463463374607431768211456s",
		"0.00000000000000000000001s", "1;2", "1/2", "$(id)", "'1'", "\"1\"", "1\\", "1=1",
			"=1", "\x01", "1\xff", "on", "off", "true", "fq",
	};
	char text[200];

	(void)state;
	for (size_t i = 0; i < LEN(names); i++) {
		for (size_t j = 0; j < LEN(values); j++) {
			snprintf(text, sizeof(text), "veth,%s=%s", names[i], values[j]);
			expect_bad(text);
		}
	}
}

static void test_long(void **state)
{
	char text[2000];

	(void)state;
	memset(text, '1', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	expect_bad(text);
	memcpy(text, "veth,mtu=", 9);
	expect_bad(text);
	text[511] = '\0';
	expect_bad(text);
}

static void test_nearest(void **state)
{
	static const char *const rows[][2] = {
		{ "vth", "\"veth\"" }, { "bridg", "\"bridge\"" },     { "veth,rat=1mbit",
			"\"rate\"" },
		{ "veth,dealy=1ms", "\"delay\"" }, { "veth,mut=1500", "\"mtu\"" },
			{ "veth,quickak=1", "\"quickack\"" },
	};
	struct link_spec s;
	struct err e;

	(void)state;
	for (size_t i = 0; i < LEN(rows); i++) {
		assert_int_equal(parse(rows[i][0], &s, &e), -1);
		if (!strstr(e.text, rows[i][1]))
			fail_msg("%s: %s", rows[i][0], e.text);
	}
}

static void say(FILE *f, const char *key, uint64_t v, const char *unit)
{
	if (v)
		fprintf(f, ",%s=%llu%s", key, (unsigned long long)v, unit);
}

static void say_switch(FILE *f, const char *key, uint64_t v)
{
	if (v)
		fprintf(f, ",%s=%s", key, v == LINK_ON ? "on" : "off");
}

/* A spec in the smallest units: what a user may write to get it. */
static void spell(const struct link_spec *s, char *text, size_t size)
{
	static const char *const kinds[] = { "lo", "veth", "bridge" }, *const qdiscs[] = { "",
		",qdisc=fq", ",qdisc=fq_codel", ",qdisc=pfifo" };
	FILE *f = fmemopen(text, size, "w");

	assert_non_null(f);
	fprintf(f, "%s%s", kinds[s->kind], qdiscs[s->qdisc]);
	say(f, "mtu", s->mtu, "");
	say(f, "rate", s->rate, "bit");
	say(f, "burst", s->burst, "b");
	say(f, "limit", s->limit, "b");
	say(f, "delay", s->delay, "ns");
	say(f, "jitter", s->jitter, "ns");
	if (s->loss)
		fprintf(f, ",loss=%.4f%%", (double)s->loss / 1e4);
	say_switch(f, "tso", s->tso);
	say_switch(f, "gso", s->gso);
	say_switch(f, "gro", s->gro);
	say(f, "pingpong", s->pingpong, "");
	say_switch(f, "quickack", s->quickack);
	say(f, "cwnd", s->cwnd, "");
	fclose(f);
}

static void round_trip(const struct link_spec *s)
{
	struct link_spec back;
	char text[512];
	struct err e;

	spell(s, text, sizeof(text));
	if (parse(text, &back, &e))
		fail_msg("%s: %s", text, e.text);
	if (memcmp(s, &back, sizeof(back)))
		fail_msg("%s: came back as something else", text);
}

/* xorshift: the same specs in every run. */
static uint64_t draw(uint64_t *x, uint64_t lo, uint64_t hi)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return lo + *x % (hi - lo + 1);
}

/* Into zeroed memory: specs are compared as bytes, gaps between fields included. */
static void any_spec(struct link_spec *to, uint64_t *x)
{
	static const uint64_t steps[] = { 1, 1000, 1000000 };
	uint64_t step = steps[draw(x, 0, 2)];

	memset(to, 0, sizeof(*to));
	to->kind = (enum link_kind)draw(x, LINK_LO, LINK_BRIDGE);
	to->mtu = draw(x, 68, 65535);
	to->rate = draw(x, 8000 / step + 1, 400000000000 / step) * step;
	to->burst = draw(x, to->mtu + 14, 1 << 30);
	to->limit = draw(x, 1, 1 << 30);
	to->delay = draw(x, 0, 60000000000 / step) * step;
	to->jitter = draw(x, 0, to->delay);
	to->loss = draw(x, 0, 1000000);
	to->qdisc = draw(x, 0, LINK_Q_PFIFO);
	to->tso = draw(x, 0, 2);
	to->gso = draw(x, 0, 2);
	to->gro = draw(x, 0, 2);
	to->pingpong = draw(x, 1, 255);
	to->quickack = draw(x, 0, 2);
	to->cwnd = draw(x, 1, 65535);
}

static void test_round_trip(void **state)
{
	uint64_t x = 20240517;

	(void)state;
	for (size_t i = 0; i < LEN(good); i++)
		round_trip(&good[i].want);
	for (int i = 0; i < 2000; i++) {
		struct link_spec s;

		any_spec(&s, &x);
		round_trip(&s);
	}
}

static void test_plain(void **state)
{
	struct link_spec s;
	struct err e;

	(void)state;
	parse("lo", &s, &e);
	assert_true(link_is_plain(&s));
	parse("lo,loss=0%,delay=0s", &s, &e);
	assert_true(link_is_plain(&s));
	parse("lo,quickack=0", &s, &e);
	assert_false(link_is_plain(&s));
	parse("veth", &s, &e);
	assert_false(link_is_plain(&s));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good), cmocka_unit_test(test_bad),
		cmocka_unit_test(test_bad_product), cmocka_unit_test(test_long),
		cmocka_unit_test(test_nearest), cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_plain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
