// The command line of `sheaf`. CLI11 throws inside; no exception may come out.

#include "cli/line/command_line.h"

#include "cli/line/dev_words.h"
#include "cli/line/key_words.h"
#include "cli/line/list_words.h"
#include "cli/line/load_words.h"
#include "cli/line/lock_words.h"
#include "cli/line/migrate_words.h"
#include "cli/line/program_words.h"
#include "cli/line/server_words.h"
#include "tests/fuzz/fuzz.h"

namespace sheaf::fuzz {

namespace {

using namespace cli;

// The program's own rows name the functions that run them, and so need the whole library. These
// have the same readers and options, and run nothing.
constexpr OptionRow key_options[] = {
    {"--ttl", "T", ""},      {"--touch", "T", ""},     {"--fence", "F", ""},
    {"--raw", "", ""},       {"--if-absent", "", ""},  {"--if-absent-or-equal", "", ""},
    {"--flags", "N", ""},    {"--if-present", "", ""}, {"--if-version", "V", ""},
    {"--if-value", "V", ""}, {"--initial", "N", ""}};
constexpr OptionRow server_options[] = {
    {"--keys", "N", ""},     {"--diff", "", ""},     {"--svg", "F", ""}, {"--metrics", "", ""},
    {"--textfile", "F", ""}, {"--node", "H", ""},    {"--raw", "", ""},  {"--lease", "T", ""},
    {"--wait", "T", ""},     {"--all-nodes", "", ""}};
constexpr OptionRow load_options[] = {
    {"--callers", "N", ""},  {"--time", "T", ""},       {"--count", "N", ""}, {"--reads", "N", ""},
    {"--keys", "N", ""},     {"--value-size", "N", ""}, {"--batch", "N", ""}, {"--rate", "N", ""},
    {"--interval", "T", ""}, {"--from", "U", ""},       {"--to", "U", ""},    {"--state", "F", ""},
    {"--settle", "T", ""},   {"--until", "S", ""},      {"--back", "", ""},   {"--stale", "F", ""},
    {"--empty-to", "", ""}};
constexpr OptionRow dev_options[] = {
    {"--brokers", "N", ""}, {"--memcached", "N", ""}, {"--redis", "N", ""}, {"--valkey", "N", ""},
    {"--garnet", "N", ""},  {"--replicas", "N", ""},  {"--port", "N", ""},  {"--spelling", "S", ""},
    {"--verbose", "", ""},  {"--mosquitto", "F", ""}, {"--plugin", "F", ""}};
constexpr std::string_view refused_by_dev[] = {"--servers", "--config"};

template <auto Read>
CommandRow row(std::string_view name, std::string_view arguments,
               std::span<const OptionRow> options) {
  CommandRow out;
  out.name = name;
  out.arguments = arguments;
  out.options = options;
  if (name == "dev") out.refused = {refused_by_dev, "it has its own"};
  out.read = read_any<Read>;
  return out;
}

CommandTable table() {
  static const std::vector<CommandRow> rows{
      row<read_get_words>("get", "KEY", key_options),
      row<read_set_words>("set", "KEY VALUE|-", key_options),
      row<read_value_words>("append", "KEY VALUE|-", {}),
      row<read_key_words>("exists", "KEY", {}),
      row<read_del_words>("del", "KEY...|-", key_options),
      row<read_keys_words>("mget", "KEY...|-", key_options),
      row<read_mset_words>("mset", "-", key_options),
      row<read_incr_words>("incr", "KEY [DELTA]", key_options),
      row<read_touch_words>("touch", "KEY", key_options),
      row<read_list_push_words>("list push", "NAME VALUE...|-", {}),
      row<read_list_item_words>("list insert", "NAME INDEX VALUE", {}),
      row<read_list_range_words>("list range", "NAME FIRST LAST", key_options),
      row<read_list_words>("list len", "NAME", {}),
      row<read_lock_words>("lock", "NAME -- CMD...", server_options),
      row<read_ring_words>("ring", "[--diff OLD NEW]", server_options),
      row<read_nodes_words>("nodes", "", server_options),
      row<read_stats_words>("stats", "[GROUP]", {}),
      row<read_exec_words>("exec", "CMD...", server_options),
      row<read_top_words>("top", "", load_options),
      row<read_bench_words>("bench", "", load_options),
      row<read_migrate_words>("migrate", "", load_options),
      row<read_dev_words>("dev", "[-- CMD...]", dev_options),
      row<read_help_words>("help", "[COMMAND...]", {}),
      row<read_completion_words>("completion", "SHELL", {}),
      row<read_no_words>("man", "", {})};
  return rows;
}

void check(const DelWords& words) {
  expect(words.keys.empty() == words.from_stdin, "keys come from the line or from the input");
  if (words.if_value || words.if_version || !words.fence.empty())
    expect(words.keys.size() == 1, "a condition is for one key");
}
void check(const KeysWords& words) {
  expect(words.keys.empty() == words.from_stdin, "keys come from the line or from the input");
}
void check(const ListPushWords& words) {
  expect(words.values.empty() == words.from_stdin, "items come from the line or from the input");
}
void check(const TouchWords& words) { expect(words.ttl.has_value(), "touch has a time to live"); }
void check(const LockWords& words) { expect(!words.words.empty(), "lock has a command to run"); }
void check(const BenchWords& words) {
  expect(words.callers >= 1 && words.callers <= 256, "bench is bounded");
}
void check(const MigrateWords& words) {
  expect(!words.from.empty() && !words.to.empty() && !words.state.empty(),
         "migrate has servers and a file");
}
void check(const DevWords& words) {
  expect(words.servers >= 1 && words.servers * (1 + words.replicas) <= 64, "dev is bounded");
}

template <class... Words>
void check_any(const std::any& any) {
  const auto one = [](const auto* words) {
    if (words != nullptr) check(*words);
  };
  (one(std::any_cast<Words>(&any)), ...);
}

}  // namespace

// Words are separated by line ends. One parser is used for all inputs.
void run(std::string_view bytes) {
  std::vector<std::string> words;
  while (!bytes.empty() && words.size() < 64) {
    const std::size_t end = std::min(bytes.find('\n'), bytes.size());
    words.emplace_back(bytes.substr(0, end));
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
  }
  static CommandLineParser parser(table());
  const auto parsed = parser.parse(words);
  if (!parsed) return expect(!parsed.error().text.empty(), "an early exit says something");
  check_any<DelWords, KeysWords, ListPushWords, TouchWords, LockWords, BenchWords, MigrateWords,
            DevWords>(parsed->words);
}

std::vector<std::string> seeds() {
  return {"--servers\nmqtt://b1,b2\nget\nkey",
          "set\nkey\nvalue\n--ttl\n5m\n--if-absent\n--json",
          "set\nkey\n-\n--if-absent-or-equal\n--fence\n1:2:n",
          "del\n--if-value\nold\nkey\n--timeout\n250ms",
          "mget\na\nb\nc\n--json",
          "mset\n-",
          "incr\nkey\n-5\n--initial\n7",
          "touch\nkey\n--ttl\n1s",
          "list\npush\nname\nitem",
          "list\nrange\nname\n0\n-1",
          "lock\nname\n--lease\n10s\n--wait\n0ms\n--\necho\nhi",
          "locate\na\nb",
          "ring\n--keys\n100",
          "nodes\n--config\nfile\n--cluster\nmain",
          "stats\nitems",
          "watch\na\nb",
          "top\n--interval\n500ms\n--count\n3",
          "bench\n--callers\n8\n--time\n3s\n--rate\n1000\n--batch\n10",
          "migrate\n--from\nmemcached://a\n--to\nmemcached://b\n--state\nfile\n--until\ndrain",
          "dev\n--brokers\n3\n--spelling\npage",
          "--help",
          "get\n--help",
          "--version",
          "get\n--\n--help"};
}

}  // namespace sheaf::fuzz
