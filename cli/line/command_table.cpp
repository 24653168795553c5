#include "cli/line/command_table.h"

#include <algorithm>
#include <array>
#include <limits>

namespace sheaf::cli {

namespace {

constexpr std::string_view keys = "Keys";
constexpr std::string_view lists = "Lists";
constexpr std::string_view servers = "Servers";
constexpr std::string_view itself = "The program itself";

constexpr OptionRow ttl{"--ttl", "DURATION", "time to live, for example 500ms, 10s, 5m, 1h"};
constexpr OptionRow fence{"--fence", "TOKEN", "fencing token: the version of a lock's first set"};
constexpr OptionRow raw{"--raw", "", "bytes as they are, also on a terminal"};
constexpr OptionRow if_version{"--if-version", "VERSION",
                               "only if the key is still at this version (memcached, redis)"};

constexpr std::array get_options{
    fence,
    OptionRow{"--ttl", "DURATION", "with --fence: time to live of the value that is written back"},
    OptionRow{"--touch", "DURATION", "also give the key this time to live (memcached, redis)"},
    raw};
constexpr std::array set_options{
    ttl,
    OptionRow{"--if-absent", "", "only if the key is absent"},
    OptionRow{"--if-absent-or-equal", "",
              "only if the key is absent or holds this very value (not memcached)"},
    OptionRow{"--if-present", "", "only if the key is there (memcached, redis)"},
    if_version,
    fence,
    OptionRow{"--flags", "N", "a number of 32 bits beside the value (memcached)"}};
constexpr std::array del_options{
    OptionRow{"--if-value", "VALUE", "only if the key holds exactly this value (not memcached)"},
    if_version, fence};
constexpr std::array getset_options{
    ttl, OptionRow{"--if-absent", "", "only if the key is absent (Redis 7)"},
    OptionRow{"--if-present", "", "only if the key is there"}, raw};
constexpr std::array incr_options{
    OptionRow{"--initial", "N", "what an absent key is set to"},
    OptionRow{"--ttl", "DURATION", "time to live of a key that --initial makes"}};
constexpr std::array ttl_options{ttl};
constexpr std::array raw_options{raw};
constexpr std::array lock_options{
    OptionRow{"--lease", "DURATION", "how long a dead holder keeps it (default 10s)"},
    OptionRow{"--wait", "DURATION", "how long to wait for it (default 5s; 0ms asks once)"}};
constexpr std::array ring_options{
    OptionRow{"--keys", "N", "place this many simulated keys and count them"},
    OptionRow{"--diff", "", "tell which share of the keys moves where from OLD to NEW"},
    OptionRow{"--svg", "FILE", "with --diff: draw it into this file", Completes::files}};
constexpr std::array nodes_options{
    OptionRow{"--metrics", "", "print what was measured as text for Prometheus"},
    OptionRow{"--textfile", "FILE", "write that text into this file instead", Completes::files}};
constexpr std::array top_options{
    OptionRow{"--interval", "DURATION", "between two looks, 100ms to 1h (default 2s)"},
    OptionRow{"--count", "N", "how many looks (default: until q or Ctrl-C)"}};
constexpr std::array bench_options{
    OptionRow{"--callers", "N", "threads that call, 1 to 256 (default 4)"},
    OptionRow{"--time", "DURATION", "how long (default 10s)"},
    OptionRow{"--count", "N", "ends after this many operations, whatever the time"},
    OptionRow{"--reads", "PERCENT", "of the operations; the others write (default 90)"},
    OptionRow{"--keys", "N", "how many keys there are (default 10000)"},
    OptionRow{"--value-size", "BYTES", "of each value (default 100)"},
    OptionRow{"--batch", "N", "keys of each operation (default 1)"},
    OptionRow{"--rate", "N", "operations a second (default: as many as go)"}};
constexpr std::array migrate_options{
    OptionRow{"--from", "URI", "the servers that have the cache now"},
    OptionRow{"--to", "URI", "the servers that take it over"},
    OptionRow{"--state", "FILE", "the file that tells all programs the stage", Completes::files},
    OptionRow{"--settle", "DURATION", "how long programs may take to follow (default 10s)"},
    OptionRow{"--until", "STAGE", "ends in this stage"},
    OptionRow{"--back", "", "the way back"},
    OptionRow{"--keys", "FILE", "the keys, one a line; the servers are not asked",
              Completes::files},
    OptionRow{"--stale", "FILE", "adds to it the keys of copies that were not the present value",
              Completes::files},
    OptionRow{"--empty-to", "", "removes what the new servers have before it begins"},
    OptionRow{"--callers", "N", "threads that copy, 1 to 256 (default 8)"}};
constexpr std::array exec_options{
    OptionRow{"--node", "HOST:PORT", "to this node, whatever the keys"}, raw};
constexpr std::array dev_options{
    OptionRow{"--brokers", "N", "how many Mosquitto brokers, 1 to 64 (default 3)"},
    OptionRow{"--memcached", "N", "how many memcached servers, 1 to 64"},
    OptionRow{"--redis", "N", "a cluster of this many redis-servers"},
    OptionRow{"--valkey", "N", "a cluster of this many valkey-servers"},
    OptionRow{"--garnet", "N", "a cluster of this many garnet-servers"},
    OptionRow{"--replicas", "R", "replicas of each server of the cluster (default 0)"},
    OptionRow{"--port", "N", "of the first server; the others have the next ones"},
    OptionRow{"--spelling", "NAME", "how stores spell replies: sdk (default) or page"},
    OptionRow{"--verbose", "", "the servers' log on standard error"},
    OptionRow{"--mosquitto", "FILE", "the mosquitto program to run", Completes::files},
    OptionRow{"--plugin", "FILE", "the plugin, libsheaf_statestore.so", Completes::files}};

constexpr std::array table{
    CommandRow{
        Command::get, "get", keys, "KEY", "write a key's value to standard output",
        "Into a file or a pipe the value goes exactly, with nothing before or after it. On a "
        "terminal bytes that could control it are shown as \\xNN, and a line ends it; --raw "
        "writes them as they are.\n"
        "With --fence the read is fenced: the same value is written back with the token if "
        "the key still holds it. From then on the store refuses older tokens.",
        get_options},
    CommandRow{Command::set, "set", keys, "KEY VALUE|-", "write a key; prints the new version",
               "A value of - is all of standard input; behind -- it is the value -. Without --ttl "
               "the value never expires, unless the cluster has a default_ttl.",
               set_options},
    CommandRow{Command::del, "del", keys, "KEY...|-", "remove keys",
               "With - there is one key on each line of standard input. Conditions and --fence are "
               "for one key.",
               del_options},
    CommandRow{Command::exists,
               "exists",
               keys,
               "KEY",
               "tell by the exit code whether a key is there",
               "0: it is; 1: it is not. Nothing is printed, but with --json.",
               {}},
    CommandRow{Command::append,
               "append",
               keys,
               "KEY VALUE|-",
               "put bytes behind a value (memcached, redis)",
               "An absent key stays absent: exit code 1.",
               {}},
    CommandRow{Command::prepend,
               "prepend",
               keys,
               "KEY VALUE|-",
               "put bytes before a value (memcached, redis)",
               "An absent key stays absent: exit code 1.",
               {}},
    CommandRow{
        Command::getset, "getset", keys, "KEY VALUE|-",
        "write a key and print the value before (redis)",
        "In one step. The exit code is 0 if the value was written, and 1 if the condition did not "
        "hold. Either way the value before is printed, if there was one; --json tells an absent "
        "key from an empty value.",
        getset_options},
    CommandRow{
        Command::incr, "incr", keys, "KEY [DELTA]",
        "add to a number; prints the new one (memcached, redis)",
        "DELTA is 1 if left out. A negative one takes away, down to 0. An absent key without "
        "--initial stays absent: exit code 1.",
        incr_options},
    CommandRow{Command::touch, "touch", keys, "KEY",
               "give a key a new time to live (memcached, redis)", "--ttl must be given.",
               ttl_options},
    CommandRow{Command::mget, "mget", keys, "KEY...|-",
               "read many keys, all nodes in parallel; prints KEY<TAB>VALUE",
               "One line for each key that is there; keys that are absent are counted on standard "
               "error. With - there is one key on each line of standard input, which is read and "
               "answered in parts: any number fits. Use --json where keys or values may hold tabs "
               "or line feeds.",
               raw_options},
    CommandRow{
        Command::mset, "mset", keys, "-", "write many keys, given as lines of JSON",
        "Each line is {\"key\":K,\"value\":V}, as mget --json prints it. A file, or a pipe of up "
        "to 4 MiB, is checked as a whole before the first key is written. A longer pipe is "
        "checked and written in parts; if a line is not allowed the sentence says how many "
        "keys before it are written.",
        ttl_options},
    CommandRow{Command::watch,
               "watch",
               keys,
               "KEY...|-",
               "tell what keys hold and every change, as lines of JSON",
               "Until Ctrl-C, SIGTERM or SIGHUP.",
               {}},
    CommandRow{
        Command::lock, "lock", keys, "NAME -- CMD...", "run a program while a lock is held",
        "CMD has the fencing token in SHEAF_FENCING_TOKEN. The lock is renewed while it runs. "
        "The exit code is that of CMD; 75: another held the lock for all of --wait; 76: the "
        "lock was lost, and CMD got SIGTERM.",
        lock_options},
    CommandRow{Command::list,
               "list push",
               lists,
               "NAME VALUE...|-",
               "append items; prints the new length",
               "With - there is one item on each line of standard input.",
               {}},
    CommandRow{Command::list,
               "list insert",
               lists,
               "NAME INDEX VALUE",
               "put an item before the one at INDEX; prints the new length",
               "INDEX may be the length: then it is the last item.",
               {}},
    CommandRow{Command::list, "list update", lists, "NAME INDEX VALUE", "replace an item", "", {}},
    CommandRow{Command::list,
               "list remove",
               lists,
               "NAME INDEX",
               "take an item out",
               "With --json it is printed.",
               {}},
    CommandRow{Command::list, "list range", lists, "NAME FIRST LAST",
               "print the items from FIRST to LAST, one a line",
               "Both are included. Indexes beyond the ends are cut.", raw_options},
    CommandRow{Command::list, "list len", lists, "NAME", "print the number of items", "", {}},
    CommandRow{Command::list, "list clear", lists, "NAME", "take all items out", "", {}},
    CommandRow{Command::list,
               "list drop-holes",
               lists,
               "NAME",
               "take out items that a server has dropped; prints how many",
               "memcached and Redis may drop any value to make room.",
               {}},
    CommandRow{Command::locate,
               "locate",
               servers,
               "KEY...|-",
               "print KEY<TAB>HOST:PORT, the node that owns a key",
               "",
               {}},
    CommandRow{Command::ring, "ring", servers, "[--diff OLD NEW]",
               "draw how the keys are shared out",
               "With --diff OLD and NEW are URIs, and nothing is connected to: the shares of all "
               "nodes before and after, and what goes from which to which. They are exact for "
               "slots; for rings they are those of --keys simulated keys (default 1000000).",
               ring_options},
    CommandRow{Command::nodes, "nodes", servers, "",
               "ask every node: health, round trip, pool, clock; roles and slots",
               "A file of --textfile is replaced as a whole, as the textfile collector wants it.",
               nodes_options},
    CommandRow{
        Command::stats,
        "stats",
        servers,
        "[GROUP]",
        "print what every server says of itself (memcached, redis)",
        "GROUP is settings, items, slabs, sizes, conns or extstore on memcached, a section of "
        "INFO on redis.",
        {}},
    CommandRow{Command::top, "top", servers, "",
               "show what the servers are doing, until q or Ctrl-C",
               "Round trips and health of all nodes; of memcached and redis also operations a "
               "second, the share of reads that are hits, keys, memory and connections, as the "
               "servers count them for all clients. Into a file or a pipe there is one line for "
               "each node and look.",
               top_options},
    CommandRow{Command::bench, "bench", servers, "", "put a load on the servers and measure it",
               "It writes --keys keys of its own, which begin with sheaf-bench-, reads and writes "
               "them at random, and removes them at the end; what it leaves behind ends after 10 "
               "minutes. With --rate a latency counts from when the operation was to begin, so "
               "that one that was held up counts as slow. Ctrl-C ends it early.",
               bench_options},
    CommandRow{
        Command::migrate, "migrate", servers, "",
        "move a cache to other memcached servers while programs use it",
        "The programs use a MigratingCache each, which reads the stage from --state: before, "
        "mirror, switched, drain, closing, after; and restore on the way back. In mirror the "
        "values are copied, in drain the rest is moved. Whatever ends it, the same command goes "
        "on, and --back leads back until "
        "the stage is after. docs/migration.md has the whole road.",
        migrate_options},
    CommandRow{Command::exec, "exec", servers, "CMD...",
               "send a command of the server's own; prints its reply (redis)",
               "It goes to the owner of its keys. Options go before CMD; put -- before a command "
               "with arguments like -inf.",
               exec_options},
    CommandRow{Command::dev, "dev", itself, "[-- CMD...]",
               "run servers to develop with, until interrupted",
               "Prints their URI when they answer. With CMD it runs that program with the URI in "
               "SHEAF_SERVERS, ends the servers when it has ended, and has its exit code.",
               dev_options},
    CommandRow{Command::help,
               "help",
               itself,
               "[COMMAND...]",
               "print this help, or that of a command",
               "",
               {}},
    CommandRow{Command::completion,
               "completion",
               itself,
               "SHELL",
               "print a completion script for bash, zsh or fish",
               "For example: source <(sheaf completion bash)",
               {}},
    CommandRow{Command::man, "man", itself, "", "print the manual page, for man -l -", "", {}},
};

constexpr std::array globals{
    OptionRow{"--servers", "URI",
              "the servers: mqtt://b1*2,b2, memcached://c1,c2, redis://r1, ..."},
    OptionRow{"--config", "FILE", "the servers are in a JSON file", Completes::files},
    OptionRow{"--cluster", "NAME", "which cluster of the file"},
    OptionRow{"--password-file", "FILE", "its first line is the password", Completes::files},
    OptionRow{"--ask-password", "", "ask for the password on the terminal"},
    OptionRow{"--timeout", "DURATION", "bounds each request: 250ms, 3s, 1m (default 3s)"},
    OptionRow{"--json", "", "output for machines, one JSON object a line"},
    OptionRow{"--help", "", "print this help"},
};

constexpr std::array exits{
    ExitRow{0, "done"},
    ExitRow{1, "the key is absent, or the condition did not hold"},
    ExitRow{2, "not allowed as asked: the command line, a key, a value, the configuration"},
    ExitRow{3,
            "failed: not reached, timed out, refused by the server; of several keys some may be "
            "done; or standard output could not be written, whatever was done"},
    ExitRow{4, "unknown: a write may have happened, or happen later"},
};

constexpr std::array variables{
    VariableRow{"SHEAF_SERVERS", "as --servers, where neither it nor --config is given"},
    VariableRow{"SHEAF_CONFIG", "as --config, where there are no servers by now"},
    VariableRow{"SHEAF_CLUSTER", "as --cluster, where it is not given"},
    VariableRow{"SHEAF_PASSWORD", "the password"},
    VariableRow{"NO_COLOR", "if not empty: no colours"},
};

std::size_t distance(std::string_view left, std::string_view right) noexcept {
  constexpr std::size_t longest = 32;
  if (left.size() > longest || right.size() > longest) return longest;
  std::array<std::size_t, longest + 1> row{};
  for (std::size_t j = 0; j <= right.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= left.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= right.size(); ++j) {
      const std::size_t replaced = diagonal + (left[i - 1] == right[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[right.size()];
}

}  // namespace

std::span<const CommandRow> command_table() noexcept { return table; }
std::span<const OptionRow> global_options() noexcept { return globals; }
std::span<const ExitRow> exit_codes() noexcept { return exits; }
std::span<const VariableRow> environment_variables() noexcept { return variables; }

const CommandRow* find_command(std::string_view name) noexcept {
  const auto* const found = std::ranges::find(table, name, &CommandRow::name);
  return found == table.end() ? nullptr : found;
}

bool begins_commands(std::string_view word) noexcept {
  return std::ranges::any_of(table, [&](const CommandRow& row) {
    return row.name.starts_with(word) && row.name.substr(word.size()).starts_with(' ');
  });
}

ArgumentCount count_of_arguments(const CommandRow& row) noexcept {
  ArgumentCount count;
  bool any = false;
  bool optional = false;
  std::string_view rest = row.arguments;
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    optional = optional || word.starts_with('[');
    // An option, or "--" itself, is no argument.
    if (!word.contains("--")) {
      ++count.most;
      if (!optional) ++count.least;
      any = any || word.contains("...");
    }
    if (word.ends_with(']')) optional = false;
  }
  if (any) count.most = std::numeric_limits<std::size_t>::max();
  return count;
}

std::string_view nearest(std::string_view word, std::span<const std::string_view> known) noexcept {
  constexpr std::size_t most_wrong = 2;
  std::string_view best;
  std::size_t least = most_wrong + 1;
  for (const std::string_view candidate : known) {
    const std::size_t wrong = distance(word, candidate);
    if (wrong >= least || wrong >= word.size()) continue;
    best = candidate;
    least = wrong;
  }
  return best;
}

}  // namespace sheaf::cli
