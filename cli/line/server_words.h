#pragma once

// The words of commands about servers: ring, nodes, doctor, stats, exec. An error is one sentence.
//
// Thread rule: pure functions and plain values.

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "cli/line/parser.h"

namespace sheaf::cli {

struct RingWords {
  std::vector<std::string> diff;      // --diff: the URIs OLD and NEW; empty: not given
  std::string svg;                    // --svg FILE, with --diff; empty: no file
  std::optional<std::uint64_t> keys;  // --keys: 1 .. 100,000,000
};
std::expected<RingWords, std::string> read_ring_words(const ParsedLine& line);

struct NodesWords {
  bool metrics = false;  // --metrics or --textfile
  std::string textfile;  // --textfile FILE; empty: no file
};
std::expected<NodesWords, std::string> read_nodes_words(const ParsedLine& line);

struct StatsWords {
  std::string group;  // empty: the general statistics
};
std::expected<StatsWords, std::string> read_stats_words(const ParsedLine& line);

struct DoctorWords {
  std::string uri;                    // empty: the servers of every command
  std::string key = "sheaf/doctor/";  // --key PREFIX
};
std::expected<DoctorWords, std::string> read_doctor_words(const ParsedLine& line);

struct ExecWords {
  std::string node;                // --node HOST:PORT; empty: the keys decide
  bool all_nodes = false;          // --all-nodes
  std::vector<std::string> words;  // CMD and its arguments; at least one
  bool raw = false;                // --raw
};
std::expected<ExecWords, std::string> read_exec_words(const ParsedLine& line);

}  // namespace sheaf::cli
