#pragma once

// One development server: a mosquitto or memcached child process with its port and log.
//
// Thread rule: the thread that starts a broker must live as long as it: Linux sends the
// parent-death signal when the thread that forked ends.

#include <sys/types.h>

#include <cstdint>
#include <expected>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/dev/broker_files.h"

namespace sheaf::cli {

// What all servers of one `dev` have in common.
struct BrokerPlan {
  std::filesystem::path program;  // mosquitto, or memcached
  bool memcached = false;
  std::filesystem::path plugin;  // brokers only
  std::string spelling;          // brokers only
  bool verbose = false;

  // What one is called in sentences.
  const char* noun() const noexcept { return memcached ? "server" : "broker"; }
};

// A descriptor that closes itself.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();

  int get() const noexcept { return number_; }
  bool valid() const noexcept { return number_ >= 0; }

 private:
  int number_ = -1;
};

class Broker {
 public:
  // Its files are `folder`/log and, of a broker, `folder`/mosquitto.conf.
  Broker(const BrokerPlan& plan, std::filesystem::path folder)
      : plan_(plan), folder_(std::move(folder)) {}
  Broker(Broker&&) noexcept = default;

  // Takes a free port and starts the process. It may still end by itself: see reap().
  std::expected<void, std::string> start();
  // True if the process has ended since start(); ending() then says how.
  bool reap();
  // Waits until the process has ended.
  void wait();
  // Asks it to end; a stopped one is continued, so that it can.
  void ask_to_end() const;
  void kill() const;

  bool running() const noexcept { return pid_ > 0; }
  pid_t pid() const noexcept { return pid_; }
  std::string node() const { return "127.0.0.1:" + std::to_string(port_); }
  // Its log, complete; empty when it went to standard error.
  std::string log() const;
  // How it ended, in a few words with the last line of its log.
  std::string ending() const;

 private:
  std::expected<void, std::string> take_port();
  std::expected<void, std::string> write_configuration() const;
  std::vector<std::string> command_line() const;
  std::expected<void, std::string> launch();
  void note_end(int status);

  const BrokerPlan& plan_;
  std::filesystem::path folder_;
  Descriptor reservation_;
  std::uint16_t port_ = 0;
  pid_t pid_ = -1;
  std::string ended_;
};

}  // namespace sheaf::cli
