# SPDX-License-Identifier: GPL-2.0-only
# One row per object: NAME:SOURCE:DEFINES
BPF_OBJECTS := \
	rawtp:rawtp.bpf.c
