#pragma once

// A real mosquitto with the state store plugin, as a child process of a test: own temporary folder,
// free ports on 127.0.0.1, gone with the object (and with the test process, however that ends).
//
// Thread rule: one thread at a time, and that thread must live as long as the broker: Linux sends
// the parent-death signal when the thread that forked ends.

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace sheaf::test {

struct BrokerOptions {
  // plugin_opt_NAME VALUE, repeated for each listener with per_listener_settings.
  std::vector<std::pair<std::string, std::string>> plugin_options;
  std::vector<std::pair<std::string, std::string>> users;  // name, password; empty = anonymous
  std::string acl;                                         // an acl_file; empty = none
  std::string extra;                                       // further lines of mosquitto.conf
  unsigned listeners = 1;
  bool per_listener_settings = false;
  bool plugin = true;   // false: a stock broker
  bool sink = true;     // the bridge that never connects; without it requests get PUBACK 0x10
  bool nodelay = true;  // set_tcp_nodelay
};

class BrokerProcess {
 public:
  // Starts the broker and returns when it answers CONNECT. Throws std::runtime_error with the
  // broker's log if it does not start.
  explicit BrokerProcess(BrokerOptions options = {});
  ~BrokerProcess();
  BrokerProcess(const BrokerProcess&) = delete;
  BrokerProcess& operator=(const BrokerProcess&) = delete;

  std::uint16_t port(unsigned listener = 0) const { return ports_.at(listener); }
  pid_t pid() const { return pid_; }
  bool running() const { return pid_ > 0; }
  const std::filesystem::path& folder() const { return folder_; }
  // Everything the broker has logged since the object was made.
  std::string log() const;

  void kill();      // SIGKILL; returns when the process is gone
  int terminate();  // SIGTERM; returns the exit status, 128 + signal if a signal ended it
  void hang_up();   // SIGHUP: mosquitto reads its configuration again
  void stop();      // SIGSTOP; returns when the process has stopped
  void resume();    // SIGCONT
  void restart();   // after kill() or terminate(): the same ports and options

  // Starts the broker with a configuration it must refuse; returns its log.
  static std::string failing_start(const BrokerOptions& options);

 private:
  struct Deferred {};
  BrokerProcess(BrokerOptions options, Deferred);

  void write_configuration() const;
  void write_users() const;
  bool launch();  // false: a port was taken
  void spawn();
  bool wait_for_start();
  void wait_for_lookup() const;
  int reap();

  BrokerOptions options_;
  std::filesystem::path folder_;
  std::vector<std::uint16_t> ports_;
  std::size_t log_start_ = 0;  // where the log of the running process begins
  pid_t pid_ = -1;
};

}  // namespace sheaf::test
