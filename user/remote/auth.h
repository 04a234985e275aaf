/* SPDX-License-Identifier: GPL-2.0-only */
/* Both ends prove that they know a secret without sending it: HMAC-SHA256 over a fresh random
 * number of each end and over the client's introduction, so that a proof is valid for no other
 * session and no other options. What follows the proofs is neither authenticated nor encrypted. */
#ifndef IPCSTALL_REMOTE_AUTH_H
#define IPCSTALL_REMOTE_AUTH_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

enum { AUTH_KEY_LEAST = 16, AUTH_KEY_MOST = 4096, AUTH_HEX = 65 };

struct auth_key {
	unsigned char v[AUTH_KEY_MOST];
	size_t n; /* 0: none */
};

/* The file must be accessible to its owner only. Line ends after the secret are ignored. */
int auth_key_read(struct auth_key *k, const char *path, struct err *e);
int auth_nonce(char hex[AUTH_HEX], struct err *e);
bool auth_is_hex(const char *text);

/* who: "client" or "server". The introduction holds the client's number as "nonce". */
int auth_proof(const struct auth_key *k, const char *who, const json_t *introduction,
	       const char *challenge, char hex[AUTH_HEX], struct err *e);
/* Compare in constant time. */
bool auth_same(const char *proof, const char *wanted);

#endif
