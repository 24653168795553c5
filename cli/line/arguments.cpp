#include "cli/line/arguments.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "cli/line/help.h"

namespace sheaf::cli {

namespace {

constexpr std::chrono::milliseconds longest_timeout = std::chrono::hours(24);
constexpr std::chrono::milliseconds shortest_lease{100};
constexpr std::chrono::milliseconds longest_lease = std::chrono::hours(24);
constexpr std::chrono::milliseconds longest_lock_wait = std::chrono::hours(8'760);
constexpr std::uint64_t most_servers = 64;
constexpr std::uint64_t most_ring_keys = 100'000'000;
constexpr std::uint64_t most_flags = 0xffff'ffff;

// What a line says of a command; an error is one sentence.
class Taken {
 public:
  explicit Taken(const ParsedLine& line) : line_(line) { out_.command = line.row->command; }

  std::expected<Arguments, std::string> all() {
    using Member = Step (Taken::*)();
    for (const Member step :
         {&Taken::take_global, &Taken::take_words, &Taken::take_times, &Taken::take_conditions,
          &Taken::take_list, &Taken::take_lock, &Taken::take_count, &Taken::take_ring,
          &Taken::take_load, &Taken::take_dev}) {
      if (auto taken = (this->*step)(); !taken) return std::unexpected(std::move(taken.error()));
    }
    return std::move(out_);
  }

 private:
  using Step = std::expected<void, std::string>;

  std::string text(std::size_t index) const {
    return index < line_.arguments.size() ? line_.arguments[index].text : std::string();
  }
  bool is_stdin(std::size_t index) const {
    return text(index) == "-" && !line_.arguments[index].literal;
  }
  std::vector<std::string> texts(std::size_t from = 0) const {
    std::vector<std::string> all;
    for (std::size_t i = from; i < line_.arguments.size(); ++i) all.push_back(text(i));
    return all;
  }

  Step take_global();
  Step take_words();
  Step take_keys();
  Step take_times();
  Step take_conditions();
  Step take_fence();
  Step take_list();
  Step take_lock();
  Step take_count();
  Step take_ring();
  Step take_load();
  Step take_servers(DevArguments& out) const;
  Step take_dev();

  const ParsedLine& line_;
  Arguments out_;
};

Taken::Step Taken::take_global() {
  GlobalArguments& global = out_.global;
  global.servers = line_.value("--servers");
  global.config = line_.value("--config");
  global.cluster = line_.value("--cluster");
  global.password_file = line_.value("--password-file");
  global.ask_password = line_.has("--ask-password");
  global.json = line_.has("--json");
  for (const char* option : {"--servers", "--config", "--cluster", "--password-file"}) {
    if (line_.has(option) && line_.value(option).empty())
      return std::unexpected(std::string(option) + " is empty.");
  }
  if (line_.has("--servers") && line_.has("--config"))
    return std::unexpected(
        "--servers and --config are both given: one of them says which servers.");
  if (line_.has("--servers") && line_.has("--cluster"))
    return std::unexpected("--cluster names a cluster of a file, and --servers is no file.");
  if (line_.has("--password-file") && global.ask_password)
    return std::unexpected("--password-file and --ask-password are both given.");
  if (out_.command == Command::dev) {
    for (const char* option :
         {"--servers", "--config", "--cluster", "--password-file", "--ask-password"}) {
      if (line_.has(option))
        return std::unexpected("dev starts servers of its own: leave out " + std::string(option) +
                               ".");
    }
  }
  if (!line_.has("--timeout")) return {};
  const auto timeout = parse_duration(line_.value("--timeout"));
  if (!timeout || timeout->count() < 1 || *timeout > longest_timeout) {
    return std::unexpected("--timeout must be 1ms to 24h, an integer and ms, s, m or h.");
  }
  global.timeout = *timeout;
  return {};
}

Taken::Step Taken::take_words() {
  out_.raw = line_.has("--raw");
  switch (out_.command) {
    case Command::set:
    case Command::append:
    case Command::prepend:
    case Command::getset:
      out_.value = text(1);
      out_.from_stdin = is_stdin(1);
      [[fallthrough]];
    case Command::get:
    case Command::exists:
    case Command::incr:
    case Command::touch:
      out_.keys.push_back(text(0));
      return {};
    case Command::del:
    case Command::mget:
    case Command::watch:
    case Command::locate:
      return take_keys();
    case Command::mset:
      out_.from_stdin = text(0) == "-";
      if (out_.from_stdin) return {};
      return std::unexpected("mset reads standard input: its argument is -.");
    case Command::exec:
      out_.exec.node = line_.value("--node");
      out_.exec.words = texts();
      if (line_.has("--node") && out_.exec.node.empty()) return std::unexpected("--node is empty.");
      return {};
    case Command::stats:
      out_.stats_group = text(0);
      return {};
    case Command::nodes:
      out_.textfile = line_.value("--textfile");
      out_.metrics = line_.has("--metrics") || line_.has("--textfile");
      if (line_.has("--textfile") && out_.textfile.empty())
        return std::unexpected("--textfile needs a FILE.");
      return {};
    default:
      return {};
  }
}

Taken::Step Taken::take_keys() {
  if (line_.arguments.size() == 1 && is_stdin(0)) {
    out_.from_stdin = true;
    return {};
  }
  for (std::size_t i = 0; i < line_.arguments.size(); ++i) {
    if (is_stdin(i))
      return std::unexpected("- stands for standard input and cannot stand among keys.");
  }
  out_.keys = texts();
  return {};
}

Taken::Step Taken::take_times() {
  for (const auto& [option, ttl] : {std::pair("--ttl", &out_.ttl), {"--touch", &out_.touch}}) {
    if (!line_.has(option)) continue;
    if (const auto time = parse_duration(line_.value(option))) *ttl = Ttl(*time);
    if (!*ttl || !(*ttl)->valid()) {
      return std::unexpected(std::string(option) +
                             " must be 1ms to 922337203685477ms, an integer and ms, s, m or h.");
    }
  }
  if (out_.command == Command::touch && !out_.ttl)
    return std::unexpected("touch needs --ttl DURATION, the new time to live.");
  return {};
}

Taken::Step Taken::take_conditions() {
  std::string given;
  for (const auto& [option, condition] :
       {std::pair("--if-absent", SetCondition::if_absent),
        {"--if-absent-or-equal", SetCondition::if_absent_or_equal},
        {"--if-present", SetCondition::if_present},
        {"--if-version", SetCondition::if_version}}) {
    if (!line_.has(option) || out_.command == Command::del) continue;
    if (!given.empty())
      return std::unexpected(given + " and " + option + " are both given: one condition holds.");
    given = option;
    out_.condition = condition;
  }
  if (line_.has("--if-version")) {
    out_.version.text = line_.value("--if-version");
    if (out_.version.empty()) return std::unexpected("--if-version needs a version.");
    if (out_.command == Command::del) out_.if_version = out_.version;
  }
  if (line_.has("--if-value")) out_.if_value = line_.value("--if-value");
  if (out_.if_value && out_.if_version)
    return std::unexpected("--if-value and --if-version are both given: one condition holds.");
  if (line_.has("--flags")) {
    const auto flags = parse_decimal(line_.value("--flags"));
    if (!flags || *flags > most_flags)
      return std::unexpected("--flags must be a number from 0 to 4294967295.");
    out_.flags = static_cast<std::uint32_t>(*flags);
  }
  return take_fence();
}

Taken::Step Taken::take_fence() {
  if (line_.has("--fence")) {
    out_.fence.text = line_.value("--fence");
    if (out_.fence.empty()) return std::unexpected("--fence needs a token.");
  }
  if (out_.command == Command::get && out_.ttl && out_.fence.empty())
    return std::unexpected("--ttl of get needs --fence: a fenced read ends the time to live.");
  if (out_.command == Command::get && out_.touch && !out_.fence.empty())
    return std::unexpected("--fence and --touch are both given: a fenced read has --ttl.");
  const bool conditional = out_.if_value || out_.if_version || !out_.fence.empty();
  if (out_.command == Command::del && conditional && out_.keys.size() != 1)
    return std::unexpected("--if-value, --if-version and --fence of del are for one key.");
  return {};
}

Taken::Step Taken::take_list() {
  if (out_.command != Command::list) return {};
  const std::string action(line_.row->name.substr(line_.row->name.find(' ') + 1));
  const bool piped = line_.arguments.size() == 2 && is_stdin(1);
  auto list = read_list_words(action, text(0), texts(1), piped);
  if (!list) return std::unexpected(std::move(list.error()));
  out_.list = std::move(*list);
  return {};
}

Taken::Step Taken::take_lock() {
  if (out_.command != Command::lock) return {};
  out_.lock.name = text(0);
  out_.lock.words = texts(1);
  if (line_.has("--lease")) {
    const auto lease = parse_duration(line_.value("--lease"));
    if (!lease || *lease < shortest_lease || *lease > longest_lease) {
      return std::unexpected("--lease must be 100ms to 24h, an integer and ms, s, m or h.");
    }
    out_.lock.lease = *lease;
  }
  if (line_.has("--wait")) {
    const auto wait = parse_duration(line_.value("--wait"));
    if (!wait || *wait > longest_lock_wait) {
      return std::unexpected("--wait must be 0ms to 8760h, an integer and ms, s, m or h.");
    }
    out_.lock.wait = *wait;
  }
  return {};
}

Taken::Step Taken::take_count() {
  if (out_.command != Command::incr) return {};
  std::string delta = line_.arguments.size() > 1 ? text(1) : "1";
  out_.count.down = delta.starts_with('-');
  if (out_.count.down) delta.erase(0, 1);
  const auto size = parse_decimal(delta);
  if (!size)
    return std::unexpected("DELTA must be an integer between -2^64 and 2^64, both excluded.");
  out_.count.delta = *size;
  if (!line_.has("--initial")) {
    if (out_.ttl) return std::unexpected("--ttl of incr is for a key that --initial creates.");
    return {};
  }
  out_.count.initial = parse_decimal(line_.value("--initial"));
  if (!out_.count.initial)
    return std::unexpected("--initial must be an integer from 0, below 2^64.");
  return {};
}

Taken::Step Taken::take_ring() {
  if (out_.command != Command::ring) return {};
  if (line_.arguments.size() != (line_.has("--diff") ? 2 : 0))
    return std::unexpected("--diff and two URIs, OLD and NEW, go together.");
  out_.ring_diff = texts();
  out_.svg = line_.value("--svg");
  if (line_.has("--svg") && (out_.svg.empty() || out_.ring_diff.empty()))
    return std::unexpected("--svg needs a FILE, and goes with --diff.");
  if (!line_.has("--keys")) return {};
  out_.ring_keys = parse_decimal(line_.value("--keys"));
  if (!out_.ring_keys || *out_.ring_keys < 1 || *out_.ring_keys > most_ring_keys) {
    return std::unexpected("--keys must be a number from 1 to 100000000.");
  }
  return {};
}

Taken::Step Taken::take_load() {
  if (out_.command == Command::bench) {
    auto bench = read_bench_words(line_);
    if (!bench) return std::unexpected(std::move(bench.error()));
    out_.bench = *bench;
  } else if (out_.command == Command::top) {
    auto top = read_top_words(line_);
    if (!top) return std::unexpected(std::move(top.error()));
    out_.top = *top;
  } else if (out_.command == Command::migrate) {
    auto migrate = read_migrate_words(line_);
    if (!migrate) return std::unexpected(std::move(migrate.error()));
    out_.migrate = std::move(*migrate);
  }
  return {};
}

// Which servers, and how many.
Taken::Step Taken::take_servers(DevArguments& out) const {
  std::string given;
  std::string count = "3";
  for (const ServerTraits& kind : server_kinds) {
    if (!line_.has(kind.option)) continue;
    if (!given.empty())
      return std::unexpected(given + " and " + kind.option + " are both given: dev runs one kind.");
    given = kind.option;
    out.kind = kind.kind;
    count = line_.value(kind.option);
  }
  const ServerTraits& traits = traits_of(out.kind);
  const auto servers = parse_decimal(count);
  if (!servers || *servers < 1 || *servers > most_servers) {
    return std::unexpected(std::string(traits.option) + " must be a number from 1 to 64.");
  }
  out.servers = static_cast<std::uint32_t>(*servers);
  if (!line_.has("--replicas")) return {};
  if (!traits.forms_clusters) {
    return std::unexpected("--replicas goes with --redis, --valkey or --garnet.");
  }
  const auto replicas = parse_decimal(line_.value("--replicas"));
  if (!replicas || *replicas >= most_servers || *servers * (1 + *replicas) > most_servers) {
    return std::unexpected("--replicas must be a number from 0, and all servers at most 64.");
  }
  out.replicas = static_cast<std::uint32_t>(*replicas);
  return {};
}

Taken::Step Taken::take_dev() {
  if (out_.command != Command::dev) return {};
  DevArguments& dev = out_.dev;
  if (auto taken = take_servers(dev); !taken) return taken;
  for (const char* option : {"--spelling", "--mosquitto", "--plugin"}) {
    if (line_.has(option) && dev.kind != ServerKind::broker)
      return std::unexpected(std::string(option) + " is for brokers.");
  }
  dev.spelling = line_.value("--spelling");
  if (line_.has("--spelling") && dev.spelling != "sdk" && dev.spelling != "page") {
    return std::unexpected("--spelling must be sdk or page.");
  }
  dev.verbose = line_.has("--verbose");
  if (line_.has("--port")) {
    const auto port = parse_decimal(line_.value("--port"));
    const std::uint64_t servers = std::uint64_t{dev.servers} * (1 + dev.replicas);
    const std::uint64_t last = 65'536 - servers;
    if (!port || *port < 1 || *port > last) {
      const std::string why =
          servers == 1 ? "" : ": each of the " + std::to_string(servers) + " servers has a port";
      return std::unexpected("--port must be a number from 1 to " + std::to_string(last) + why +
                             ".");
    }
    dev.port = static_cast<std::uint16_t>(*port);
  }
  dev.mosquitto = line_.value("--mosquitto");
  dev.plugin = line_.value("--plugin");
  dev.words = texts();
  return {};
}

// Those that only print.
std::optional<EarlyExit> printed(const ParsedLine& line) {
  const auto first = [&] { return line.arguments.front().text; };
  switch (line.row->command) {
    case Command::help: {
      std::string name;
      for (const auto& word : line.arguments) name += (name.empty() ? "" : " ") + word.text;
      if (!name.empty() && find_command(name) == nullptr && !begins_commands(name))
        return EarlyExit{ExitCode::usage, "There is no command \"" + printable(name) + "\"."};
      return EarlyExit{ExitCode::done, help_of(name)};
    }
    case Command::man:
      return EarlyExit{ExitCode::done, manual_page()};
    case Command::completion:
      if (auto script = completion_script(first()))
        return EarlyExit{ExitCode::done, std::move(*script)};
      return EarlyExit{ExitCode::usage,
                       "completion is for bash, zsh and fish, not \"" + printable(first()) + "\"."};
    default:
      return std::nullopt;
  }
}

}  // namespace

std::expected<Arguments, EarlyExit> ArgumentParser::parse(const std::vector<std::string>& words) {
  const auto line = lines_.parse(words);
  if (!line) return std::unexpected(line.error());
  if (auto end = printed(*line)) return std::unexpected(std::move(*end));
  auto arguments = Taken(*line).all();
  if (!arguments) return std::unexpected(EarlyExit{ExitCode::usage, std::move(arguments.error())});
  return std::move(*arguments);
}

std::expected<Arguments, EarlyExit> parse_arguments(const std::vector<std::string>& words) {
  return ArgumentParser().parse(words);
}

}  // namespace sheaf::cli
