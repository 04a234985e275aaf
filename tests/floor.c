// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs that do nothing, at the raw tracepoints named: what a kernel takes for calling any
 * tracer's. Says "attached", and stays until its standard input ends.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int load_nothing(void)
{
	static const struct bpf_insn nothing[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, NULL, "GPL", nothing, 2, NULL);
}

int main(int argc, char **argv)
{
	int fd = load_nothing();
	char c;

	if (fd < 0) {
		fprintf(stderr, "floor: cannot load a program: %s\n", strerror(errno));
		return 1;
	}
	for (int i = 1; i < argc; i++)
		if (bpf_raw_tracepoint_open(argv[i], fd) < 0) {
			fprintf(stderr, "floor: %s: %s\n", argv[i], strerror(errno));
			return 1;
		}
	puts("attached");
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		;
	return 0;
}
