// SPDX-License-Identifier: GPL-2.0-only OR MIT
// One end of a conversation by calls: what a library has to offer for it.
#ifndef IPCSTALL_WORKLOADS_RPC_END_HH
#define IPCSTALL_WORKLOADS_RPC_END_HH

#include <memory>
#include <stdexcept>
#include <string>

#include "workloads/worker_abi.h"

// What failed and how it is reported: the codes are those of the man page.
enum fail_code { FAIL_FEATURE = 4, FAIL_RESOURCE = 5, FAIL_PEER = 7 };

struct failure : std::runtime_error {
	int code;
	failure(int c, const std::string &text) : std::runtime_error(text), code(c) {}
};

// What the server counts while it answers; its own threads write it.
struct received {
	virtual ~received() {}
	virtual void call() = 0;
	virtual void part(size_t bytes) = 0; // of a stream
};

struct marshalling {
	int64_t write_ns, read_ns, bytes;
};

// A way to read the clock, for the marshalling's samples.
struct stopwatch {
	virtual ~stopwatch() {}
	virtual uint64_t ns() const = 0;
};

struct rpc_end {
	virtual ~rpc_end() {}
	// The client: over a connected socket, whose owner it becomes.
	virtual void connect(int fd) = 0;
	virtual void call() = 0;
	virtual void stream_begin() = 0;
	virtual void stream_put() = 0;
	virtual void stream_end() = 0; // returns when the other end has all of it
	virtual marshalling marshal(const stopwatch &w) = 0;
	// The server: answer what comes over this socket, in threads of its own.
	virtual void serve(int fd, received &r) = 0;
};

std::unique_ptr<rpc_end> rpc_end_make(const worker_job &job);
extern const char rpc_library[]; // its name and version

// socket.cc
int socket_listen(const worker_job &job, address &bound);
int socket_connect(const worker_job &job, const address &to, address &from);
int socket_accept(const worker_job &job, int listener, const address &from);
void socket_facts_of(int fd, socket_facts &f);

#endif
