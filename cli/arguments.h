#pragma once

// The command line as plain values. arguments.cpp is the only file that knows CLI11.
//
// Thread rule: plain values; nothing here prints, reads or connects.

#include <chrono>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sheaf/options.h>
#include <sheaf/value.h>

#include "cli/dev/server_kind.h"
#include "cli/exit_code.h"
#include "cli/list_words.h"

namespace sheaf::cli {

enum class Command : std::uint8_t {
  get,
  set,
  del,
  mget,
  mset,
  incr,
  touch,
  list,
  lock,
  locate,
  ring,
  nodes,
  stats,
  watch,
  exec,
  dev
};

// Options that may come before or after the command.
struct GlobalArguments {
  std::string servers;                       // --servers URI, empty if not given.
  std::string config;                        // --config FILE, empty if not given.
  std::string cluster;                       // --cluster NAME, empty if not given.
  std::string password_file;                 // --password-file FILE, empty if not given.
  std::chrono::milliseconds timeout{3'000};  // --timeout: for each request.
  bool json = false;                         // --json
};

// Options of `dev`.
struct DevArguments {
  ServerKind kind = ServerKind::broker;
  std::uint32_t servers = 3;   // --brokers, --memcached, --redis or --garnet: 1 .. 64.
  std::uint32_t replicas = 0;  // --replicas: of each of them; at most 64 servers in all.
  std::string spelling;        // --spelling sdk|page; empty = the plugin's default.
  bool verbose = false;        // --verbose: the servers' own log on standard error.
  std::string mosquitto;       // --mosquitto FILE; empty = searched for.
  std::string plugin;          // --plugin FILE; empty = searched for.
};

// Options of `incr`.
struct CountArguments {
  bool down = false;                     // DELTA was negative.
  std::uint64_t delta = 1;               // DELTA without its sign.
  std::optional<std::uint64_t> initial;  // --initial
};

// Options of `lock`.
struct LockArguments {
  std::string name;                         // NAME
  std::chrono::milliseconds lease{10'000};  // --lease: 100ms .. 24h.
  std::chrono::milliseconds wait{5'000};    // --wait: 0ms .. 8760h; 0 = asks once.
  std::vector<std::string> words;           // CMD and its arguments; at least one.
};

// Options of `exec`.
struct ExecArguments {
  std::string node;                // --node HOST:PORT; empty = the keys decide.
  std::vector<std::string> words;  // CMD and its arguments; at least one.
};

struct Arguments {
  Command command = Command::get;
  GlobalArguments global;

  std::vector<std::string>
      keys;  // get, set, del, incr, touch: one. mget, locate, watch: any; none if `-`.
  bool from_stdin =
      false;  // `-` stood for the keys (mget, locate, watch), the value (set), the lines (mset).
  std::string value;                              // set
  std::optional<Ttl> ttl;                         // get, set, mset, incr, touch
  SetCondition condition = SetCondition::always;  // set
  FencingToken fence;                             // get, set, del
  std::optional<std::string> if_value;            // del
  std::optional<std::uint64_t> ring_keys;         // ring --keys: 1 .. 100,000,000.
  ListArguments list;                             // list
  LockArguments lock;
  CountArguments count;     // incr
  std::string stats_group;  // stats; empty = general
  ExecArguments exec;
  DevArguments dev;
};

// The program ends without running a command: --help and --version (text for standard output), or a
// command line that is not allowed (one sentence for standard error).
struct EarlyExit {
  ExitCode code = ExitCode::usage;
  std::string text;
};

// Parses any number of command lines, each as if it were the first. Making one costs far more than
// a command line does.
//
// Thread rule: one thread at a time.
class ArgumentParser {
 public:
  ArgumentParser();
  ~ArgumentParser();
  ArgumentParser(const ArgumentParser&) = delete;
  ArgumentParser& operator=(const ArgumentParser&) = delete;

  // `words` are the arguments after the program's name; any bytes are allowed in keys and values.
  std::expected<Arguments, EarlyExit> parse(const std::vector<std::string>& words);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// For a single command line.
std::expected<Arguments, EarlyExit> parse_arguments(const std::vector<std::string>& words);

}  // namespace sheaf::cli
