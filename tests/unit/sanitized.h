/* SPDX-License-Identifier: GPL-2.0-only */
/* With sanitizers a test that computes much does less of it: they look for bad accesses, and the
 * plain build checks the figures. */
#ifndef IPCSTALL_TESTS_UNIT_SANITIZED_H
#define IPCSTALL_TESTS_UNIT_SANITIZED_H

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#define SANITIZED __has_feature(address_sanitizer)
#else
#define SANITIZED 0
#endif

#endif
