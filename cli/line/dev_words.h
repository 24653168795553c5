#pragma once

// The words of `dev`: the kind and number of servers.
//
// Thread rule: pure functions and plain values.

#include <chrono>
#include <cstdint>
#include <expected>
#include <string>
#include <vector>

#include "cli/line/parser.h"
#include "cli/line/server_kind.h"

namespace sheaf::cli {

struct DevWords {
  ServerKind kind = ServerKind::broker;
  std::uint32_t servers = 3;       // --brokers, --memcached, --redis ...: 1 .. 64; --tls: 1
  std::uint32_t replicas = 0;      // --replicas: for each server; at most 64 servers in all
  std::string spelling;            // --spelling sdk|page; empty: the plugin's default
  bool verbose = false;            // --verbose: the servers' own log on standard error
  std::uint16_t port = 0;          // --port: of the first server; 0: free ports
  bool tls = false;                // --tls
  bool token = false;              // --token
  std::chrono::seconds rotate{0};  // --rotate, with one of these; 0: never
  std::string mosquitto;           // --mosquitto FILE; empty: searched for
  std::string plugin;              // --plugin FILE; empty: searched for
  std::vector<std::string> words;  // CMD and its arguments; empty: until interrupted
};
// The error is one sentence.
std::expected<DevWords, std::string> read_dev_words(const ParsedLine& line);

}  // namespace sheaf::cli
