/* SPDX-License-Identifier: GPL-2.0-only */
/* A client that writes a header and a body apart and waits for the answer. writer PORT [nodelay] */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static char body[1000], answer[32];

__attribute__((noinline)) static int write_header(int fd, int number)
{
	char head[16] = "";

	memcpy(head, &number, sizeof(number));
	return write(fd, head, sizeof(head)) == sizeof(head) ? number + 1 : 0;
}

__attribute__((noinline)) static int write_body(int fd, int number)
{
	body[number % sizeof(body)]++;
	return write(fd, body, sizeof(body)) == sizeof(body) ? number : 0; /* the small piece */
}

__attribute__((noinline)) static int ask(int fd, int number)
{
	number = write_header(fd, number);
	return number && write_body(fd, number) &&
	       recv(fd, answer, sizeof(answer), MSG_WAITALL) == sizeof(answer) ? number : 0;
}

int main(int argc, char **argv)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_port = htons((unsigned short)atoi(argv[1])),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1, number = 1;

	if (connect(fd, (struct sockaddr *)&to, sizeof(to)))
		return 1;
	if (argc > 2)
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	while (number)
		number = ask(fd, number);
	return 0;
}
