#include "cli/line/server_words.h"

#include <utility>

#include "cli/line/option_reader.h"

namespace sheaf::cli {

std::expected<RingWords, std::string> read_ring_words(const ParsedLine& line) {
  constexpr std::uint64_t most_keys = 100'000'000;
  RingWords words{line.texts(), {}, {}};
  OptionReader reader(line);
  reader.refuse_if(line.has("--diff") && words.diff.size() != 2,
                   "--diff needs two URIs, OLD and NEW.");
  reader.refuse_if(!line.has("--diff") && !words.diff.empty(),
                   "ring draws the servers of --servers URI; other URIs need --diff OLD NEW.");
  words.svg = line.value("--svg");
  reader.refuse_if(line.has("--svg") && (words.svg.empty() || words.diff.empty()),
                   "--svg needs a FILE and --diff.");
  if (line.has("--keys")) reader.number("--keys", 1, most_keys, words.keys.emplace());
  return reader.take(std::move(words));
}

std::expected<NodesWords, std::string> read_nodes_words(const ParsedLine& line) {
  NodesWords words;
  words.metrics = line.has("--metrics") || line.has("--textfile");
  OptionReader reader(line);
  reader.text("--textfile", "a FILE", words.textfile);
  return reader.take(std::move(words));
}

std::expected<StatsWords, std::string> read_stats_words(const ParsedLine& line) {
  return StatsWords{line.text(0)};
}

std::expected<DoctorWords, std::string> read_doctor_words(const ParsedLine& line) {
  DoctorWords words;
  words.uri = line.text(0);
  OptionReader reader(line);
  reader.text("--key", "a PREFIX", words.key);
  return reader.take(std::move(words));
}

std::expected<ExecWords, std::string> read_exec_words(const ParsedLine& line) {
  ExecWords words{{}, line.has("--all-nodes"), line.texts(), line.has("--raw")};
  OptionReader reader(line);
  reader.text("--node", "HOST:PORT", words.node);
  reader.refuse_if(words.all_nodes && line.has("--node"),
                   "--node names one node, and --all-nodes means all: give one of them.");
  return reader.take(std::move(words));
}

}  // namespace sheaf::cli
