// SPDX-License-Identifier: GPL-2.0-only
#include "remote/auth.h"

#include <fcntl.h>
#include <nettle/hmac.h>
#include <nettle/memops.h>
#include <nettle/version.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

static int read_file(struct auth_key *k, int fd, const char *path, struct err *e)
{
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st) == 0 && st.st_mode & (S_IRWXG | S_IRWXO))
		return err_perm(e, "--key %s: others may read or change it; run `chmod 600` on it",
				path);
	n = read(fd, k->v, sizeof(k->v));
	if (n < 0)
		return err_sys(e, EXIT_DATA, "give a file with a secret", "--key %s", path);
	while (n > 0 && (k->v[n - 1] == '\n' || k->v[n - 1] == '\r'))
		n--;
	k->n = (size_t)n;
	if (k->n >= AUTH_KEY_LEAST && k->n < sizeof(k->v))
		return 0;
	return err_data(e,
			"--key %s: %zu bytes, and a secret has %d to %d; make one with `head -c 32 "
			"/dev/urandom | base64`",
			path, k->n, AUTH_KEY_LEAST, AUTH_KEY_MOST - 1);
}

int auth_key_read(struct auth_key *k, const char *path, struct err *e)
{
	int fd, rc;

	k->n = 0;
	if (!path)
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return err_sys(e, EXIT_DATA, "give a file with a secret", "--key %s", path);
	rc = read_file(k, fd, path, e);
	close(fd);
	return rc;
}

static void to_hex(const uint8_t *v, size_t n, char *hex)
{
	for (size_t i = 0; i < n; i++)
		snprintf(hex + 2 * i, 3, "%02x", v[i]);
}

int auth_nonce(char hex[AUTH_HEX], struct err *e)
{
	uint8_t v[SHA256_DIGEST_SIZE];

	if (getrandom(v, sizeof(v), 0) != (ssize_t)sizeof(v))
		return err_sys(e, EXIT_NO_RESOURCE, "try again", "random numbers");
	to_hex(v, sizeof(v), hex);
	return 0;
}

bool auth_is_hex(const char *text)
{
	return strlen(text) == AUTH_HEX - 1 && strspn(text, "0123456789abcdef") == AUTH_HEX - 1;
}

int auth_proof(const struct auth_key *k, const char *who, const json_t *introduction,
	       const char *challenge, char hex[AUTH_HEX], struct err *e)
{
	char *text = json_dumps(introduction, JSON_COMPACT | JSON_SORT_KEYS);
	struct hmac_sha256_ctx c;
	uint8_t digest[SHA256_DIGEST_SIZE];

	if (!text)
		return err_resource(e, "--key: out of memory");
	hmac_sha256_set_key(&c, k->n, k->v);
	hmac_sha256_update(&c, strlen(who) + 1, (const uint8_t *)who);
	hmac_sha256_update(&c, strlen(challenge) + 1, (const uint8_t *)challenge);
	hmac_sha256_update(&c, strlen(text), (const uint8_t *)text);
#if NETTLE_VERSION_MAJOR >= 4
	hmac_sha256_digest(&c, digest);
#else
	hmac_sha256_digest(&c, sizeof(digest), digest);
#endif
	to_hex(digest, sizeof(digest), hex);
	free(text);
	return 0;
}

bool auth_same(const char *proof, const char *wanted)
{
	return auth_is_hex(proof) && auth_is_hex(wanted) && memeql_sec(proof, wanted, AUTH_HEX - 1);
}
