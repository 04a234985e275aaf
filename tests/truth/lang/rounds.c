// SPDX-License-Identifier: GPL-2.0-only
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

int main(int argc, char **argv)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int s = socket(AF_INET, SOCK_STREAM, 0), two = argc > 3 && atoi(argv[3]) == 2;
	long long late = 0;
	char b[204];

	a.sin_port = htons((unsigned short)atoi(argv[1]));
	memset(b, 'b', sizeof(b));
	if (connect(s, (struct sockaddr *)&a, sizeof(a)))
		return 1;
	for (int i = atoi(argv[2]); i > 0; i--) {
		long long began = now(), took;

		if (write(s, b, two ? 4 : 204) < 0 || (two && write(s, b, 200) < 0) ||
		    read(s, b, 1) != 1)
			return 1;
		took = now() - began;
		late += took >= 20000000 ? took : 0;
	}
	printf("%lld\n", late);
	return 0;
}
