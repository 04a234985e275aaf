// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Calls by gRPC, over a socket that was connected before.
#include <fcntl.h>
#include <grpcpp/create_channel_posix.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/server_posix.h>

#include "echo.grpc.pb.h"
#include "marshal.hh"

const char rpc_library[] = "gRPC " GRPC_CPP_VERSION_STRING;

namespace {

struct service : echo::Echo::Service {
	received *to = nullptr;

	grpc::Status EchoInt(grpc::ServerContext *, const echo::Int *q, echo::Int *a) override { return copy(q, a); }
	grpc::Status EchoDouble(grpc::ServerContext *, const echo::Double *q, echo::Double *a) override { return copy(q, a); }
	grpc::Status EchoText(grpc::ServerContext *, const echo::Text *q, echo::Text *a) override { return copy(q, a); }
	grpc::Status EchoStructure(grpc::ServerContext *, const echo::Structure *q, echo::Structure *a) override { return copy(q, a); }
	grpc::Status Put(grpc::ServerContext *, grpc::ServerReader<echo::Text> *in, echo::Total *total) override
	{
		echo::Text t;
		int64_t bytes = 0;

		while (in->Read(&t)) {
			to->part(t.v().size());
			bytes += int64_t(t.v().size());
		}
		total->set_bytes(bytes);
		return grpc::Status::OK;
	}

private:
	template <typename M> grpc::Status copy(const M *q, M *a)
	{
		to->call();
		*a = *q;
		return grpc::Status::OK;
	}
};

void check(const grpc::Status &s, const char *what)
{
	bool too_large = s.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED;

	if (!s.ok())
		throw failure(too_large ? FAIL_RESOURCE : FAIL_PEER, std::string(what) + ": gRPC says " + std::to_string(s.error_code()) + ", " +
				s.error_message() + (too_large ? "; give a smaller --size" : "; see why the server ended, and run again"));
}

void set_nonblocking(int fd)
{
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

struct grpc_end : rpc_end {
	const worker_job &job;
	std::unique_ptr<echo::Echo::Stub> stub;
	std::unique_ptr<grpc::Server> server;
	service answers;
	echo::Int an_int;
	echo::Double a_double;
	echo::Text text;
	echo::Structure structure;
	std::unique_ptr<grpc::ClientContext> stream_context;
	std::unique_ptr<grpc::ClientWriter<echo::Text>> writer;
	echo::Total total;

	explicit grpc_end(const worker_job &j) : job(j)
	{
		an_int.set_v(123456789);
		a_double.set_v(3.25);
		text.set_v(std::string(job.size, 'x'));
		structure.set_id(7);
		structure.set_time(1700000000000000000);
		structure.set_valid(true);
		structure.set_name("a structure of the usual kind");
		structure.mutable_place()->set_x(1.5);
		structure.mutable_place()->set_y(2.5);
		structure.mutable_place()->set_z(3.5);
		for (int i = 0; i < 8; i++)
			structure.add_values(i * 1000);
	}

	void connect(int fd) override
	{
		set_nonblocking(fd);
		stub = echo::Echo::NewStub(grpc::CreateInsecureChannelFromFd("ipcstall", fd));
	}
	template <typename M, typename F> void one(F method, const M &q)
	{
		grpc::ClientContext context;
		M a;

		check((stub.get()->*method)(&context, q, &a), "call");
	}
	void call() override
	{
		switch (job.payload) {
		case RPC_INT:
			return one(&echo::Echo::Stub::EchoInt, an_int);
		case RPC_DOUBLE:
			return one(&echo::Echo::Stub::EchoDouble, a_double);
		case RPC_STRUCT:
			return one(&echo::Echo::Stub::EchoStructure, structure);
		case RPC_STRING:
			return one(&echo::Echo::Stub::EchoText, text);
		}
	}
	void stream_begin() override
	{
		stream_context.reset(new grpc::ClientContext);
		writer = stub->Put(stream_context.get(), &total);
	}
	void stream_put() override
	{
		if (!writer->Write(text))
			check(writer->Finish(), "stream");
	}
	void stream_end() override
	{
		writer->WritesDone();
		check(writer->Finish(), "stream");
		writer.reset();
	}
	template <typename M> marshalling marshal_of(const M &m, const stopwatch &w)
	{
		M back;
		grpc::ByteBuffer bytes;
		bool own;

		return marshal_medians(
			w, int64_t(m.ByteSizeLong()), [&] { grpc::SerializationTraits<M>::Serialize(m, &bytes, &own); },
			[&] { grpc::SerializationTraits<M>::Deserialize(&bytes, &back); });
	}
	marshalling marshal(const stopwatch &w) override
	{
		switch (job.payload) {
		case RPC_INT:
			return marshal_of(an_int, w);
		case RPC_DOUBLE:
			return marshal_of(a_double, w);
		case RPC_STRUCT:
			return marshal_of(structure, w);
		case RPC_STRING:
			break;
		}
		return marshal_of(text, w);
	}
	void serve(int fd, received &r) override
	{
		grpc::ServerBuilder builder;

		answers.to = &r;
		builder.RegisterService(&answers);
		server = builder.BuildAndStart();
		if (!server)
			throw failure(FAIL_RESOURCE, "gRPC's server does not start; free some memory or threads");
		set_nonblocking(fd);
		grpc::AddInsecureChannelFromFd(server.get(), fd);
	}
};

} // namespace

std::unique_ptr<rpc_end> rpc_end_make(const worker_job &job)
{
	return std::unique_ptr<rpc_end>(new grpc_end(job));
}
