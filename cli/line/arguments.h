#pragma once

// The command line as checked, plain values.
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

#include "cli/line/list_words.h"
#include "cli/line/load_words.h"
#include "cli/line/migrate_words.h"
#include "cli/line/parser.h"
#include "cli/line/server_kind.h"

namespace sheaf::cli {

// Options that may come before or after the command.
struct GlobalArguments {
  std::string servers;                       // --servers URI, empty if not given.
  std::string config;                        // --config FILE, empty if not given.
  std::string cluster;                       // --cluster NAME, empty if not given.
  std::string password_file;                 // --password-file FILE, empty if not given.
  bool ask_password = false;                 // --ask-password
  std::chrono::milliseconds timeout{3'000};  // --timeout: for each request.
  bool json = false;                         // --json
};

// Options of `dev`.
struct DevArguments {
  ServerKind kind = ServerKind::broker;
  std::uint32_t servers = 3;       // --brokers, --memcached, --redis ...: 1 .. 64.
  std::uint32_t replicas = 0;      // --replicas: of each of them; at most 64 servers in all.
  std::string spelling;            // --spelling sdk|page; empty = the plugin's default.
  bool verbose = false;            // --verbose: the servers' own log on standard error.
  std::uint16_t port = 0;          // --port: of the first server; 0 = free ones.
  std::string mosquitto;           // --mosquitto FILE; empty = searched for.
  std::string plugin;              // --plugin FILE; empty = searched for.
  std::vector<std::string> words;  // CMD and its arguments; none: until interrupted.
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

  // get, set, exists, ...: one. del, mget, locate, watch: any; none if `-`.
  std::vector<std::string> keys;
  // `-` stood for the keys (del, mget, locate, watch), the value (set, append, ...), the lines
  // (mset).
  bool from_stdin = false;
  std::string value;                              // set, append, prepend, getset
  std::optional<Ttl> ttl;                         // get, set, getset, mset, incr, touch
  std::optional<Ttl> touch;                       // get
  SetCondition condition = SetCondition::always;  // set, getset
  Version version;                                // set with if_version
  std::uint32_t flags = 0;                        // set
  FencingToken fence;                             // get, set, del
  std::optional<std::string> if_value;            // del
  std::optional<Version> if_version;              // del
  bool raw = false;                               // get, getset, mget, list range
  std::vector<std::string> ring_diff;      // ring --diff: the URIs OLD and NEW; empty: not given
  bool metrics = false;                    // nodes --metrics
  std::string textfile;                    // nodes --textfile; empty: none
  std::string svg;                         // ring --svg; empty: none
  std::optional<std::uint64_t> ring_keys;  // ring --keys: 1 .. 100,000,000.
  ListArguments list;                      // list
  LockArguments lock;
  CountArguments count;     // incr
  std::string stats_group;  // stats; empty = general
  ExecArguments exec;
  BenchArguments bench;
  TopArguments top;
  MigrateArguments migrate;
  DevArguments dev;
};

// Parses any number of command lines, each as if it were the first.
//
// Thread rule: one thread at a time.
class ArgumentParser {
 public:
  // `words` are the arguments after the program's name; any bytes are allowed in keys and values.
  std::expected<Arguments, EarlyExit> parse(const std::vector<std::string>& words);

 private:
  LineParser lines_;
};

// For a single command line.
std::expected<Arguments, EarlyExit> parse_arguments(const std::vector<std::string>& words);

}  // namespace sheaf::cli
