// A program written entirely with asio's coroutines. It takes a lock, writes a list, watches a key
// and computes a missing value. Every call is awaited, so one thread does it all.
//
// usage: asio_all [URI]    embedded://3 if none is given

#include <asio.hpp>

#include <cstdio>
#include <string>

#include <sheaf/asio.h>
#include <sheaf/async.h>

namespace {

// Throws sheaf::BadResultAccess, with the reason, if a call fails.
asio::awaitable<std::string> work(sheaf::Client& client) {
  using asio::use_awaitable;
  const sheaf::AsyncClient cache = client.async();
  const sheaf::AsyncList jobs = sheaf::List(client, "jobs").async();
  auto taken = co_await sheaf::Locker(client).async().lock("line4")(use_awaitable);
  const sheaf::LockGuard guard = std::move(taken).guard();

  sheaf::Watch watch = client.watch("line4/speed").value();
  const auto present = co_await watch.async().next()(use_awaitable);
  std::printf("speed was %s\n", present.value()->value.value_or("unknown").c_str());
  (co_await cache.set("line4/speed", "21.5")(use_awaitable)).value();
  const auto event = co_await watch.async().next()(use_awaitable);
  std::printf("speed is %s\n", event.value()->value.value_or("unknown").c_str());

  (co_await jobs.push("measure")(use_awaitable)).value();
  const auto length = co_await jobs.length()(use_awaitable);
  std::printf("%llu jobs\n", static_cast<unsigned long long>(length.value()));

  const auto compute = [] { return std::string("12 units"); };
  const auto report = co_await cache.get_or_compute("line4/report", {}, compute)(use_awaitable);
  (co_await guard.async().release()(use_awaitable)).value();
  co_return report.value().data;
}

}  // namespace

int main(int argc, char** argv) {
  asio::io_context io;  // before the client, which it outlives
  auto client = sheaf::Client::open(argc > 1 ? argv[1] : "embedded://3");
  if (!client) return std::fprintf(stderr, "%s\n", client.error().message().c_str()), 1;
  auto done = asio::co_spawn(io, work(*client), asio::use_future);
  io.run();
  try {
    std::printf("report: %s\n", done.get().c_str());
  } catch (const sheaf::BadResultAccess& failed) {
    return std::fprintf(stderr, "%s\n", failed.what()), 1;
  }
  return 0;
}
