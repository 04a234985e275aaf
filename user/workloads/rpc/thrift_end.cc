// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Calls by Thrift's binary protocol, over a socket that was connected before.
#include <thrift/config.h>
#include <thrift/protocol/TBinaryProtocol.h>
#include <thrift/transport/TBufferTransports.h>
#include <thrift/transport/TSocket.h>

#include <climits>
#include <thread>

#include "Echo.h"
#include "marshal.hh"

const char rpc_library[] = "Thrift " PACKAGE_VERSION;

using namespace apache::thrift;
using transport::TTransport;

namespace {

struct handler : echo::EchoIf {
	received &to;
	int64_t bytes = 0;

	explicit handler(received &r) : to(r) {}
	int32_t echoInt(const int32_t v) override
	{
		to.call();
		return v;
	}
	double echoDouble(const double v) override
	{
		to.call();
		return v;
	}
	void echoText(std::string &a, const std::string &v) override
	{
		to.call();
		a = v;
	}
	void echoStructure(echo::Structure &a, const echo::Structure &v) override
	{
		to.call();
		a = v;
	}
	void put(const std::string &v) override
	{
		to.part(v.size());
		bytes += int64_t(v.size());
	}
	int64_t total() override
	{
		int64_t b = bytes;

		bytes = 0;
		return b;
	}
};

// Thrift 0.17 counts what is read towards the largest message there may be, and begins anew only when something is written: after 100 MB of
// calls without an answer it takes the next one for too large.
struct renewable {
	virtual ~renewable() {}
	virtual void renew() = 0;
};

template <typename T> struct unlimited : T, renewable {
	template <typename... A> explicit unlimited(A... a) : T(a...) { renew(); }
	void renew() override { this->knownMessageSize_ = this->remainingMessageSize_ = LONG_MAX; }
};

std::shared_ptr<TTransport> wrap(rpc_transport how, std::shared_ptr<TTransport> socket)
{
	switch (how) {
	case RPC_BUFFERED:
		return std::make_shared<unlimited<transport::TBufferedTransport>>(socket);
	case RPC_FRAMED:
		return std::make_shared<unlimited<transport::TFramedTransport>>(socket);
	case RPC_UNBUFFERED:
		break;
	}
	return socket;
}

std::shared_ptr<protocol::TProtocol> protocol_over(int fd, rpc_transport how)
{
	return std::make_shared<protocol::TBinaryProtocol>(wrap(how, std::make_shared<unlimited<transport::TSocket>>(fd)));
}

// As Thrift's own simple server does it. What ends it ends the connection too, though another descriptor of it is held for its facts.
void answer(std::shared_ptr<protocol::TProtocol> p, received *r, int fd)
{
	echo::EchoProcessor processor(std::make_shared<handler>(*r));

	auto *counting = dynamic_cast<renewable *>(p->getTransport().get());

	try {
		while (processor.process(p, p, nullptr))
			counting->renew();
	} catch (const TException &) {
	}
	shutdown(fd, SHUT_RDWR);
}

struct thrift_end : rpc_end {
	const worker_job &job;
	std::unique_ptr<echo::EchoClient> client;
	std::string text;
	echo::Structure structure;

	explicit thrift_end(const worker_job &j) : job(j), text(j.size, 'x')
	{
		structure.id = 7;
		structure.time = 1700000000000000000;
		structure.valid = true;
		structure.name = "a structure of the usual kind";
		structure.place.x = 1.5;
		structure.place.y = 2.5;
		structure.place.z = 3.5;
		for (int i = 0; i < 8; i++)
			structure.values.push_back(i * 1000);
	}

	void connect(int fd) override { client.reset(new echo::EchoClient(protocol_over(fd, job.transport))); }
	template <typename F> void attempt(const char *what, F f)
	{
		try {
			f();
		} catch (const TException &x) {
			throw failure(FAIL_PEER, std::string(what) + ": Thrift says " + x.what() + "; see why the server ended, and run again");
		}
	}
	void call_once()
	{
		std::string a;
		echo::Structure s;

		switch (job.payload) {
		case RPC_INT:
			client->echoInt(123456789);
			return;
		case RPC_DOUBLE:
			client->echoDouble(3.25);
			return;
		case RPC_STRUCT:
			client->echoStructure(s, structure);
			return;
		case RPC_STRING:
			client->echoText(a, text);
		}
	}
	void call() override
	{
		attempt("call", [&] { call_once(); });
	}
	void stream_begin() override {}
	void stream_put() override
	{
		attempt("stream", [&] { client->put(text); });
	}
	void stream_end() override
	{
		attempt("stream", [&] { client->total(); });
	}
	template <typename Args> marshalling marshal_of(const Args &q, const stopwatch &w)
	{
		auto memory = std::make_shared<unlimited<transport::TMemoryBuffer>>();
		protocol::TBinaryProtocol p(memory);
		Args back;
		int64_t bytes;

		q.write(&p);
		bytes = int64_t(memory->available_read());
		memory->resetBuffer();
		return marshal_medians(
			w, bytes,
			[&] {
				memory->resetBuffer();
				q.write(&p);
			},
			[&] { back.read(&p); });
	}
	marshalling marshal(const stopwatch &w) override
	{
		echo::Echo_echoInt_args i;
		echo::Echo_echoDouble_args d;
		echo::Echo_echoText_args t;
		echo::Echo_echoStructure_args s;

		i.v = 123456789;
		d.v = 3.25;
		t.v = text;
		s.v = structure;
		return job.payload == RPC_INT ? marshal_of(i, w) : job.payload == RPC_DOUBLE ? marshal_of(d, w) :
			job.payload == RPC_STRUCT ? marshal_of(s, w) : marshal_of(t, w);
	}
	void serve(int fd, received &r) override { std::thread(answer, protocol_over(fd, job.transport), &r, fd).detach(); }
};

} // namespace

std::unique_ptr<rpc_end> rpc_end_make(const worker_job &job)
{
	return std::unique_ptr<rpc_end>(new thrift_end(job));
}
