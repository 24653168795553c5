#pragma once

// One development server: a child process with its folder, its ports and its log.
//
// Thread rule: the thread that starts a broker must live as long as it: Linux sends the
// parent-death signal when the thread that forked ends.

#include <sys/types.h>

#include <cstdint>
#include <expected>
#include <filesystem>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "cli/dev/broker_files.h"
#include "cli/line/server_kind.h"

namespace sheaf::cli {

// What all servers of one `dev` share.
struct BrokerPlan {
  ServerKind kind = ServerKind::broker;
  std::filesystem::path program;  // absolute
  std::filesystem::path plugin;   // brokers only
  std::string spelling;           // brokers only
  BrokerLogin login{};            // brokers only
  std::string uri_options;        // by which a client gets past the login
  bool verbose = false;
  std::uint16_t port = 0;  // of the first server, the others take the next ones; 0: free ports

  const ServerTraits& traits() const noexcept { return traits_of(kind); }
};

class Broker {
 public:
  // Runs in `folder`, which must be absolute and holds its log and a broker's mosquitto.conf.
  // `port` 0: a free one.
  Broker(const BrokerPlan& plan, std::filesystem::path folder, std::uint16_t port)
      : plan_(plan), folder_(std::move(folder)), wanted_port_(port) {}
  Broker(Broker&&) noexcept = default;

  // Takes free ports and starts the process, which may still end by itself: see reap().
  std::expected<void, std::string> start();
  // True if the process has ended since start(); ending() then says how.
  bool reap();
  // Waits until the process has ended.
  void wait();
  // SIGHUP: a broker reads its configuration and its certificate again.
  void reload() const;
  // Asks the process to end. A stopped one is continued, so that it can.
  void ask_to_end() const;
  void kill() const;

  bool running() const noexcept { return pid_ > 0; }
  pid_t pid() const noexcept { return pid_; }
  std::uint16_t port() const noexcept { return reserved_.number; }
  // Where the other servers of its cluster reach it.
  std::uint16_t bus_port() const noexcept {
    return plan_.traits().has_bus ? reserved_bus_.number : port();
  }
  std::string node() const { return "127.0.0.1:" + std::to_string(port()); }
  // Its complete log; empty if that went to standard error.
  std::string log() const;
  // How it ended, in a few words with the last line of its log.
  std::string ending() const;

 private:
  struct Port {
    Descriptor reservation;
    std::uint16_t number = 0;
  };
  static std::expected<Port, std::string> take_port(std::uint16_t wanted);
  std::expected<void, std::string> write_configuration() const;
  std::vector<std::string> command_line() const;
  std::expected<void, std::string> launch();
  void note_end(int status);

  const BrokerPlan& plan_;
  std::filesystem::path folder_;
  std::uint16_t wanted_port_;
  Port reserved_;
  Port reserved_bus_;  // for kinds that have a bus
  pid_t pid_ = -1;
  std::string ended_;
};

}  // namespace sheaf::cli
