#include "cli/arguments.h"

#include <CLI/CLI.hpp>

#include <initializer_list>
#include <memory>
#include <utility>

#include <sheaf/version.h>

#include "base/text.h"
#include "cli/command_words.h"

namespace sheaf::cli {

namespace {

constexpr std::chrono::milliseconds longest_timeout = std::chrono::hours(24);
constexpr std::chrono::milliseconds shortest_lease{100};
constexpr std::chrono::milliseconds longest_lease = std::chrono::hours(24);
constexpr std::chrono::milliseconds longest_lock_wait = std::chrono::hours(8'760);
constexpr std::uint64_t most_servers = 64;
constexpr std::uint64_t most_ring_keys = 100'000'000;

constexpr const char* exit_codes =
    "Exit codes: 0 done, 1 absent or condition false, 2 not allowed as asked,\n"
    "3 not reached, timed out, unknown, refused by the server or some keys failed.";
constexpr const char* global_options =
    "Global options, before or after the command:\n"
    "  --servers URI               Servers, for example mqtt://b1:1883*2,b2:1883 or embedded://3;\n"
    "                              over TLS mqtts://b1?tls_ca=ca.pem, memcacheds:// or rediss://\n"
    "  --config FILE               Servers from a JSON file\n"
    "  --cluster NAME              Which cluster of the file; may be left out when it has one\n"
    "  --password-file FILE        Its first line is the password; SHEAF_PASSWORD may have it, "
    "too.\n"
    "                              Every user of the machine can see one in --servers\n"
    "  --timeout DURATION          Bounds each request: 250ms, 3s, 1m (default 3s)\n"
    "  --json                      Output for machines, one JSON object a line\n"
    "  --                          Ends the options: what follows are keys and values\n"
    "\n";

// What CLI11 fills in, all as text; checked() turns it into Arguments.
struct Raw {
  std::string servers, config, cluster, password_file, timeout = "3s", key, value, ttl, fence,
                                                       if_value;
  std::string lease = "10s", wait = "5s";
  std::string delta = "1", initial, group;
  std::string ring_keys, brokers = "3", memcached, redis, garnet, replicas, spelling, mosquitto,
                         plugin;
  std::string action, name, node;
  std::vector<std::string> keys, words;
  std::string stdin_mark;
  bool json = false, if_absent = false, if_absent_or_equal = false, verbose = false;
};

constexpr const char* global_group = "Global";

// The footer lists the global options, the same for the program and every command. (A group without
// a name would hide them from the help too, but also from error sentences.)
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() {
    label("SUBCOMMAND", "COMMAND");
    label("Subcommands", "Commands");
    label("Positionals", "Arguments");
    label("TEXT", "");
    label("REQUIRED", "");
  }
  std::string make_group(std::string group, bool is_positional,
                         std::vector<const CLI::Option*> options) const override {
    if (group == global_group) return "";
    return Formatter::make_group(std::move(group), is_positional, std::move(options));
  }
};

class CommandLine {
 public:
  CommandLine()
      : app_("Reads and writes keys of state stores, memcached servers and Redis clusters.",
             "sheaf") {
    app_.footer(std::string(global_options) + exit_codes);
    app_.set_help_flag("-h,--help", "Print this help and end");
    app_.set_version_flag("--version", "sheaf " SHEAF_VERSION);
    app_.require_subcommand(1);
    app_.formatter(std::make_shared<HelpFormatter>());
    auto* servers =
        app_.add_option("--servers", raw_.servers)->type_name("URI")->group(global_group);
    app_.add_option("--config", raw_.config)
        ->type_name("FILE")
        ->group(global_group)
        ->excludes(servers);
    app_.add_option("--cluster", raw_.cluster)->type_name("NAME")->group(global_group);
    app_.add_option("--password-file", raw_.password_file)->type_name("FILE")->group(global_group);
    app_.add_option("--timeout", raw_.timeout)->type_name("DURATION")->group(global_group);
    app_.add_flag("--json", raw_.json)->group(global_group);
    add_value_commands();
    add_count_commands();
    add_batch_commands();
    add_list();
    add_ring_commands();
    add_lock();
    add_exec();
    add_dev();
  }

  // Throws what CLI11 throws. CLI11 forgets an earlier command line by itself, but not the values
  // that it has filled in.
  void parse(const std::vector<std::string>& words) {
    raw_ = {};
    std::vector<std::string> guarded = guard_words(words);
    std::vector<std::string> reversed(guarded.rbegin(), guarded.rend());
    app_.parse(std::move(reversed));
  }

  std::string help() const { return app_.help(); }
  // What is wrong with the command line, after parse() threw.
  std::string complaint(const CLI::ParseError& error) const;
  std::expected<Arguments, std::string> checked() const;

 private:
  CLI::App* add(Command command, const char* purpose) {
    CLI::App* sub = app_.add_subcommand(std::string(command_word(command)), purpose);
    sub->fallthrough();
    sub->footer(std::string(global_options) + exit_codes);
    return sub;
  }
  void add_key(CLI::App* sub) { sub->add_option("KEY", raw_.key, "The key")->required(); }
  void add_fence(CLI::App* sub) {
    sub->add_option("--fence", raw_.fence, "Fencing token: the version of a lock's first set")
        ->type_name("TOKEN");
  }
  void add_ttl(CLI::App* sub) {
    sub->add_option("--ttl", raw_.ttl, "Time to live, for example 500ms, 10s, 5m, 1h")
        ->type_name("DURATION");
  }
  void add_keys(CLI::App* sub) {
    sub->add_option("KEY", raw_.keys, "Keys, or - alone: one key a line from standard input")
        ->required();
  }
  void add_value_commands();
  void add_count_commands();
  void add_batch_commands();
  void add_list();
  void add_ring_commands();
  void add_lock();
  void add_exec();
  void add_dev();

  Command command() const;
  std::expected<void, std::string> take_global(Arguments& out) const;
  std::expected<void, std::string> take_keys(Arguments& out) const;
  std::expected<void, std::string> take_value(Arguments& out) const;
  std::expected<void, std::string> take_list(Arguments& out) const;
  std::expected<void, std::string> take_lock(Arguments& out) const;
  std::expected<void, std::string> take_exec(Arguments& out) const;
  std::expected<void, std::string> take_count(Arguments& out) const;
  std::expected<void, std::string> take_servers(DevArguments& out) const;
  std::expected<void, std::string> take_dev(Arguments& out) const;
  bool given(const char* option) const {
    return app_.get_subcommands().front()->count(option) != 0;
  }

  Raw raw_;
  CLI::App app_;
};

void CommandLine::add_value_commands() {
  CLI::App* get = add(Command::get, "Write a key's value, exactly, to standard output");
  add_key(get);
  add_fence(get);
  add_ttl(get);

  CLI::App* set = add(Command::set, "Write a key; prints the new version");
  add_key(set);
  set->add_option("VALUE", raw_.value, "The value, or -: all of standard input")->required();
  add_ttl(set);
  auto* absent = set->add_flag("--if-absent", raw_.if_absent, "Only if the key is absent");
  set->add_flag("--if-absent-or-equal", raw_.if_absent_or_equal,
                "Only if the key is absent or already holds this value")
      ->excludes(absent);
  add_fence(set);

  CLI::App* del = add(Command::del, "Remove a key");
  add_key(del);
  del->add_option("--if-value", raw_.if_value, "Only if the key holds exactly this value")
      ->type_name("VALUE");
  add_fence(del);
}

void CommandLine::add_count_commands() {
  CLI::App* incr = add(Command::incr, "Add to a number; prints the new one (memcached, redis)");
  add_key(incr);
  incr->add_option("DELTA", raw_.delta, "How much (default 1); negative: takes away, down to 0");
  incr->add_option("--initial", raw_.initial, "What an absent key is set to")->type_name("N");
  add_ttl(incr);

  CLI::App* touch = add(Command::touch, "Give a key a new time to live (memcached, redis)");
  add_key(touch);
  add_ttl(touch);
}

void CommandLine::add_batch_commands() {
  add_keys(add(Command::mget, "Read many keys, all nodes in parallel; prints KEY<TAB>VALUE"));
  CLI::App* mset = add(Command::mset, "Write many keys, given as lines of JSON like mget --json");
  mset->add_option("INPUT", raw_.stdin_mark, "-: standard input")->required();
  add_ttl(mset);
}

void CommandLine::add_list() {
  CLI::App* list = add(Command::list, "Push, read and change the items of a shared list");
  list->add_option("ACTION", raw_.action,
                   "push NAME VALUE... (or -: one item a line from standard input),\n"
                   "insert|update NAME INDEX VALUE, remove NAME INDEX,\n"
                   "range NAME FIRST LAST, len NAME, clear NAME, drop-holes NAME; -1 is the last "
                   "index")
      ->required();
  list->add_option("NAME", raw_.name, "The list's name")->required();
  list->add_option("WORD", raw_.words, "Indexes and values");
}

void CommandLine::add_ring_commands() {
  add_keys(
      add(Command::watch, "Tell what keys hold and every change, as lines of JSON, until ended"));
  add_keys(add(Command::locate, "Print KEY<TAB>HOST:PORT, the node that owns a key"));
  CLI::App* ring = add(Command::ring, "Draw how the keys are shared out");
  ring->add_option("--keys", raw_.ring_keys, "Place this many simulated keys and count them")
      ->type_name("N");
  add(Command::nodes,
      "Ask every node: health, round trip, pool, clock difference; roles and slots");
  add(Command::stats, "Print what every server says of itself (memcached, redis)")
      ->add_option("GROUP", raw_.group, "settings, items, slabs, sizes, conns (default: general)");
}

void CommandLine::add_lock() {
  CLI::App* lock = add(Command::lock, "Run a program while a lock is held");
  lock->add_option("NAME", raw_.name, "The lock's name")->required();
  lock->add_option("--lease", raw_.lease, "How long a dead holder keeps it (default 10s)")
      ->type_name("DURATION");
  lock->add_option("--wait", raw_.wait, "How long to wait for it (default 5s)")
      ->type_name("DURATION");
  lock->add_option("CMD", raw_.words, "The program and its arguments, behind --")->required();
}

void CommandLine::add_exec() {
  CLI::App* exec =
      add(Command::exec, "Send a command of the server's own; prints its reply (redis)");
  exec->add_option("--node", raw_.node, "To this node, whatever the keys")->type_name("HOST:PORT");
  exec->add_option("CMD", raw_.words, "The command and its arguments; -- before one like -inf")
      ->required();
}

void CommandLine::add_dev() {
  CLI::App* dev = add(Command::dev, "Run servers to develop with, until interrupted");
  auto* brokers =
      dev->add_option("--brokers", raw_.brokers, "How many Mosquitto brokers, 1 to 64 (default 3)")
          ->type_name("N");
  auto* memcached =
      dev->add_option("--memcached", raw_.memcached, "How many memcached servers, 1 to 64")
          ->type_name("N")
          ->excludes(brokers);
  auto* redis = dev->add_option("--redis", raw_.redis, "A cluster of this many redis-servers")
                    ->type_name("N")
                    ->excludes(brokers)
                    ->excludes(memcached);
  dev->add_option("--garnet", raw_.garnet, "A cluster of this many garnet-servers")
      ->type_name("N")
      ->excludes(brokers)
      ->excludes(memcached)
      ->excludes(redis);
  dev->add_option("--replicas", raw_.replicas, "Replicas of each server of the cluster (default 0)")
      ->type_name("R");
  dev->add_option("--spelling", raw_.spelling, "How replies are spelled: sdk (default) or page")
      ->type_name("NAME");
  dev->add_flag("--verbose", raw_.verbose, "The servers' log on standard error");
  dev->add_option("--mosquitto", raw_.mosquitto, "The mosquitto program to run")->type_name("FILE");
  dev->add_option("--plugin", raw_.plugin, "The plugin, libsheaf_statestore.so")->type_name("FILE");
}

std::string CommandLine::complaint(const CLI::ParseError& error) const {
  if (!app_.get_subcommands().empty() ||
      dynamic_cast<const CLI::RequiredError*>(&error) == nullptr) {
    return error.what();
  }
  const std::vector<std::string> unknown = app_.remaining();
  return unknown.empty() ? "A command is required" : unguard(unknown.front()) + " is no command";
}

Command CommandLine::command() const {
  return *command_of(app_.get_subcommands().front()->get_name());
}

std::expected<void, std::string> CommandLine::take_global(Arguments& out) const {
  out.global.servers = unguard(raw_.servers);
  out.global.config = unguard(raw_.config);
  out.global.cluster = unguard(raw_.cluster);
  out.global.password_file = unguard(raw_.password_file);
  out.global.json = raw_.json;
  if (app_.count("--password-file") != 0 && out.global.password_file.empty()) {
    return std::unexpected("--password-file must name a file.");
  }
  if (app_.count("--cluster") != 0 && app_.count("--config") == 0) {
    return std::unexpected("--cluster names a cluster of a --config FILE, and there is none.");
  }
  const bool has_servers = app_.count("--servers") != 0 || app_.count("--config") != 0;
  if (out.command == Command::dev && has_servers) {
    return std::unexpected("dev starts servers of its own: leave out --servers and --config.");
  }
  if (out.command == Command::dev && !out.global.password_file.empty()) {
    return std::unexpected("dev starts servers without passwords: leave out --password-file.");
  }
  if (out.command != Command::dev && out.global.servers.empty() && out.global.config.empty()) {
    return std::unexpected("--servers URI or --config FILE must say which servers to use.");
  }
  const auto timeout = parse_duration(unguard(raw_.timeout));
  if (!timeout || timeout->count() < 1 || *timeout > longest_timeout) {
    return std::unexpected("--timeout must be 1ms to 24h, an integer and ms, s, m or h.");
  }
  out.global.timeout = *timeout;
  return {};
}

std::expected<void, std::string> CommandLine::take_keys(Arguments& out) const {
  const bool single = out.command == Command::get || out.command == Command::set ||
                      out.command == Command::del || out.command == Command::incr ||
                      out.command == Command::touch;
  if (single) out.keys.push_back(unguard(raw_.key));
  for (const std::string& key : raw_.keys) out.keys.push_back(unguard(key));
  if (out.command == Command::mset) {
    if (unguard(raw_.stdin_mark) != "-") {
      return std::unexpected("mset reads standard input: its argument is -.");
    }
    out.from_stdin = true;
  }
  if (single || out.command == Command::mset) return {};
  if (out.keys == std::vector<std::string>{"-"}) {
    out.keys.clear();
    out.from_stdin = true;
  }
  for (const std::string& key : out.keys) {
    if (key == "-")
      return std::unexpected("- stands for standard input and cannot stand among keys.");
  }
  return {};
}

std::expected<void, std::string> CommandLine::take_value(Arguments& out) const {
  if (out.command == Command::set) {
    out.value = unguard(raw_.value);
    out.from_stdin = out.value == "-";
  }
  if (!raw_.ttl.empty()) {
    const auto ttl = parse_duration(unguard(raw_.ttl));
    if (ttl) out.ttl = Ttl(*ttl);
    if (!ttl || !out.ttl->valid()) {
      return std::unexpected(
          "--ttl must be 1ms to 922337203685477ms, an integer and ms, s, m or h.");
    }
  }
  if (raw_.if_absent) out.condition = SetCondition::if_absent;
  if (raw_.if_absent_or_equal) out.condition = SetCondition::if_absent_or_equal;
  const bool fenced =
      (out.command == Command::get || out.command == Command::set || out.command == Command::del) &&
      given("--fence");
  if (fenced) {
    out.fence.text = unguard(raw_.fence);
    if (out.fence.empty()) return std::unexpected("--fence needs a token.");
  }
  if (out.command == Command::get && out.ttl && !fenced) {
    return std::unexpected("--ttl of get needs --fence: a fenced read ends the time to live.");
  }
  if (out.command == Command::del && given("--if-value")) out.if_value = unguard(raw_.if_value);
  if (!raw_.ring_keys.empty()) {
    out.ring_keys = parse_decimal(unguard(raw_.ring_keys));
    if (!out.ring_keys || *out.ring_keys < 1 || *out.ring_keys > most_ring_keys) {
      return std::unexpected("--keys must be a number from 1 to 100000000.");
    }
  }
  return {};
}

std::expected<void, std::string> CommandLine::take_list(Arguments& out) const {
  if (out.command != Command::list) return {};
  std::vector<std::string> words;
  for (const std::string& word : raw_.words) words.push_back(unguard(word));
  auto list = read_list_words(unguard(raw_.action), unguard(raw_.name), std::move(words));
  if (!list) return std::unexpected(std::move(list.error()));
  out.list = std::move(*list);
  return {};
}

std::expected<void, std::string> CommandLine::take_lock(Arguments& out) const {
  if (out.command != Command::lock) return {};
  out.lock.name = unguard(raw_.name);
  for (const std::string& word : raw_.words) out.lock.words.push_back(unguard(word));
  const auto lease = parse_duration(unguard(raw_.lease));
  if (!lease || *lease < shortest_lease || *lease > longest_lease) {
    return std::unexpected("--lease must be 100ms to 24h, an integer and ms, s, m or h.");
  }
  const auto wait = parse_duration(unguard(raw_.wait));
  if (!wait || *wait > longest_lock_wait) {
    return std::unexpected("--wait must be 0ms to 8760h, an integer and ms, s, m or h.");
  }
  out.lock.lease = *lease;
  out.lock.wait = *wait;
  return {};
}

std::expected<void, std::string> CommandLine::take_exec(Arguments& out) const {
  if (out.command != Command::exec) return {};
  out.exec.node = unguard(raw_.node);
  for (const std::string& word : raw_.words) out.exec.words.push_back(unguard(word));
  return {};
}

std::expected<void, std::string> CommandLine::take_count(Arguments& out) const {
  out.stats_group = unguard(raw_.group);
  if (out.command == Command::touch && !out.ttl) {
    return std::unexpected("touch needs --ttl DURATION, the new time to live.");
  }
  if (out.command != Command::incr) return {};
  std::string delta = unguard(raw_.delta);
  out.count.down = delta.starts_with('-');
  if (out.count.down) delta.erase(0, 1);
  const auto size = parse_decimal(delta);
  if (!size) return std::unexpected("DELTA must be an integer below 2^64, which - may precede.");
  out.count.delta = *size;
  if (raw_.initial.empty()) {
    if (out.ttl) return std::unexpected("--ttl of incr is for a key that --initial creates.");
    return {};
  }
  out.count.initial = parse_decimal(unguard(raw_.initial));
  if (!out.count.initial)
    return std::unexpected("--initial must be an integer from 0, below 2^64.");
  return {};
}

// Which servers, and how many.
std::expected<void, std::string> CommandLine::take_servers(DevArguments& out) const {
  const std::string* count = &raw_.brokers;
  for (const auto& [kind, text] :
       {std::pair(ServerKind::memcached, &raw_.memcached),
        std::pair(ServerKind::redis, &raw_.redis), std::pair(ServerKind::garnet, &raw_.garnet)}) {
    if (text->empty()) continue;
    out.kind = kind;
    count = text;
  }
  const ServerTraits traits = traits_of(out.kind);
  const auto servers = parse_decimal(unguard(*count));
  if (!servers || *servers < 1 || *servers > most_servers) {
    return std::unexpected(std::string(traits.option) + " must be a number from 1 to 64.");
  }
  out.servers = static_cast<std::uint32_t>(*servers);
  if (raw_.replicas.empty()) return {};
  if (!traits.forms_clusters) return std::unexpected("--replicas goes with --redis or --garnet.");
  const auto replicas = parse_decimal(unguard(raw_.replicas));
  if (!replicas || *replicas >= most_servers || *servers * (1 + *replicas) > most_servers) {
    return std::unexpected("--replicas must be a number from 0, and all servers at most 64.");
  }
  out.replicas = static_cast<std::uint32_t>(*replicas);
  return {};
}

std::expected<void, std::string> CommandLine::take_dev(Arguments& out) const {
  if (auto taken = take_servers(out.dev); !taken) return taken;
  const bool brokers = out.dev.kind == ServerKind::broker;
  if (!brokers && (given("--spelling") || given("--mosquitto") || given("--plugin"))) {
    return std::unexpected("--spelling, --mosquitto and --plugin are for brokers.");
  }
  out.dev.spelling = unguard(raw_.spelling);
  if (!raw_.spelling.empty() && out.dev.spelling != "sdk" && out.dev.spelling != "page") {
    return std::unexpected("--spelling must be sdk or page.");
  }
  out.dev.verbose = raw_.verbose;
  out.dev.mosquitto = unguard(raw_.mosquitto);
  out.dev.plugin = unguard(raw_.plugin);
  return {};
}

std::expected<Arguments, std::string> CommandLine::checked() const {
  Arguments out;
  out.command = command();
  using Step = std::expected<void, std::string> (CommandLine::*)(Arguments&) const;
  const std::initializer_list<Step> steps = {&CommandLine::take_global, &CommandLine::take_keys,
                                             &CommandLine::take_value,  &CommandLine::take_list,
                                             &CommandLine::take_lock,   &CommandLine::take_count,
                                             &CommandLine::take_exec,   &CommandLine::take_dev};
  for (const Step step : steps) {
    if (auto taken = (this->*step)(out); !taken) return std::unexpected(std::move(taken.error()));
  }
  return out;
}

}  // namespace

struct ArgumentParser::State {
  CommandLine line;
};

ArgumentParser::ArgumentParser() : state_(std::make_unique<State>()) {}
ArgumentParser::~ArgumentParser() = default;

std::expected<Arguments, EarlyExit> ArgumentParser::parse(const std::vector<std::string>& words) {
  CommandLine& line = state_->line;
  try {
    line.parse(words);
  } catch (const CLI::CallForHelp&) {
    return std::unexpected(EarlyExit{ExitCode::done, line.help()});
  } catch (const CLI::CallForVersion&) {
    return std::unexpected(EarlyExit{ExitCode::done, "sheaf " SHEAF_VERSION "\n"});
  } catch (const CLI::ParseError& error) {
    return std::unexpected(EarlyExit{ExitCode::usage, usage_sentence(line.complaint(error))});
  }
  auto arguments = line.checked();
  if (!arguments) return std::unexpected(EarlyExit{ExitCode::usage, arguments.error()});
  return std::move(*arguments);
}

std::expected<Arguments, EarlyExit> parse_arguments(const std::vector<std::string>& words) {
  return ArgumentParser().parse(words);
}

}  // namespace sheaf::cli
