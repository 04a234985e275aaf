<?php
// SPDX-License-Identifier: GPL-2.0-only
usleep(1000 * (int)(getenv("THINK_MS") ?: 0));
echo str_repeat("x", 1000);
