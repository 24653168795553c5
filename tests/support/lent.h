#pragma once

// Lent<Process>: a server that a test borrows. It is as after its start: it has no client, and
// nothing that an earlier test has stored, counted or logged. A start takes longer than most tests,
// so a server outlives its borrower, and the next one of the same test program that wants the same
// options gets it.
//
// A borrower gets a const server. One that stops, kills or restarts it says so with to_break(); the
// server is lent again if it answers in the end. A test keeps a server of its own if it depends on
// what a start resets and Process::forget() does not (see there), or if no other test wants its
// options: servers that are not lent run until the program ends.
//
// Thread rule: one thread, the one that runs the tests (that of ServerProcess).

#include <gtest/gtest.h>

#include <iterator>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "tests/support/server_process.h"
#include "tests/support/wait_for_condition.h"
#include "tests/support/wire.h"
#ifdef SHEAF_TEST_TLS
#include "tests/support/tls/client_wire.h"
#endif

namespace sheaf::test {

// The servers of a kind that no test has borrowed at the moment. They end after the last test. A
// broker says then whether it has found a fault, such as a leak.
template <class Process>
class Lender final : public testing::Environment {
 public:
  using Options = typename Process::Options;

  struct Server {
    explicit Server(const Options& wanted) : options(wanted), process(wanted) {
      wait_for_condition("nobody is connected", [&] { return !has_connections(process.port()); });
      sockets = process.sockets();
    }
    // Then the server has read all that its clients have sent.
    void wait_until_left() const {
      wait_for_condition("the server has closed all connections",
                         [&] { return process.sockets() <= sockets; });
    }

    Options options;
    Process process;
    std::size_t sockets;  // without connections
  };

  static Lender& instance() {
    static auto* const lender = new Lender;
    static auto* const registered = testing::AddGlobalTestEnvironment(lender);  // which owns it
    static_cast<void>(registered);
    return *lender;
  }

  std::unique_ptr<Server> take(const Options& options) {
    while (std::unique_ptr<Server> server = idle(options)) {
      if (make_new(*server)) return server;
    }
    auto server = std::make_unique<Server>(options);
    if (!make_new(*server)) throw std::runtime_error("a server cannot forget");
    return server;
  }
  void take_back(std::unique_ptr<Server> server) {
    if (server->process.responsive()) idle_.push_back(std::move(server));
  }
  void TearDown() override {
    for (const auto& server : idle_) end(server->process);
    idle_.clear();
  }

 private:
  // Null if none is.
  std::unique_ptr<Server> idle(const Options& options) {
    for (auto at = idle_.rbegin(); at != idle_.rend(); ++at) {
      if ((*at)->options != options) continue;
      std::unique_ptr<Server> found = std::move(*at);
      idle_.erase(std::next(at).base());
      return found;
    }
    return nullptr;
  }
  static bool make_new(Server& server) {
    server.wait_until_left();
    const bool as_new = forget(server.process);
    server.wait_until_left();
    return as_new;
  }
  static bool forget(Process& process) {
    if constexpr (requires { process.forget(); }) {
      process.forget();
      return true;
    } else {
      return process.forget(*connect(process));
    }
  }
  static std::unique_ptr<Wire> connect(const Process& process) {
#ifdef SHEAF_TEST_TLS
    if (process.speaks_tls()) return connect_as_client(process.port());
#endif
    if constexpr (requires { process.address(); }) {
      return connect_tcp_at(process.address(), process.port());
    } else {
      return connect_tcp(process.port());
    }
  }
  static void end(Process& process) {
    if constexpr (requires { process.hang_up(); }) {
      EXPECT_EQ(process.terminate(), 0) << process.log();
    }
  }

  std::vector<std::unique_ptr<Server>> idle_;
};

template <class Process>
class Lent {
 public:
  using Options = typename Process::Options;

  explicit Lent(Options options = {})
      : server_(Lender<Process>::instance().take(lendable(std::move(options))).release()) {}

  const Process& operator*() const { return server_->process; }
  const Process* operator->() const { return &server_->process; }
  Process& to_break() { return server_->process; }

 private:
  using Server = typename Lender<Process>::Server;

  struct Return {
    void operator()(Server* server) const {
      std::unique_ptr<Server> owned(server);
      if (owned->process.running() && !owned->process.lives()) {
        ADD_FAILURE() << "the server has ended on its own\n" << owned->process.log();
      }
      Lender<Process>::instance().take_back(std::move(owned));
    }
  };

  static Options lendable(Options options) {
    if constexpr (requires { options.forgets; }) options.forgets = true;
    return options;
  }

  std::unique_ptr<Server, Return> server_;
};

}  // namespace sheaf::test
