# SPDX-License-Identifier: GPL-2.0-only
# One row per object: NAME:SOURCE:DEFINES. The probed ones are for kernels before 6.2.
BPF_OBJECTS := \
	rawtp:rawtp.bpf.c \
	fentry:fentry.bpf.c \
	fentry_probed:fentry.bpf.c:READ_PROBED \
	kprobe:kprobe.bpf.c \
	kprobe_probed:kprobe.bpf.c:READ_PROBED \
	sampled:sampled.bpf.c \
	sampled_probed:sampled.bpf.c:READ_PROBED
