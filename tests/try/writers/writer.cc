// SPDX-License-Identifier: GPL-2.0-only
// As writer.c, through layers that are inlined. writer PORT [nodelay]
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <stdexcept>

namespace wire {

class Connection {
public:
	explicit Connection(int fd) : fd_(fd) {}

	template <std::size_t N> inline __attribute__((always_inline)) void put(const std::array<char, N> &part)
	{
		if (::write(fd_, part.data(), part.size()) != static_cast<ssize_t>(N)) // the small piece
			throw std::runtime_error("write");
	}

	__attribute__((noinline)) void send_message(const std::array<char, 16> &head, const std::array<char, 1000> &body)
	{
		put(head);
		put(body);
	}

	bool answered()
	{
		char answer[32];
		return ::recv(fd_, answer, sizeof(answer), MSG_WAITALL) == sizeof(answer);
	}

private:
	int fd_;
};

} // namespace wire

int main(int argc, char **argv)
{
	sockaddr_in to = {};
	int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	to.sin_family = AF_INET;
	to.sin_port = htons(static_cast<unsigned short>(std::atoi(argv[1])));
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (connect(fd, reinterpret_cast<sockaddr *>(&to), sizeof(to)))
		return 1;
	if (argc > 2)
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	wire::Connection connection(fd);
	std::array<char, 16> head{};
	std::array<char, 1000> body{};
	do
		connection.send_message(head, body);
	while (connection.answered());
}
