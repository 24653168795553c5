#include "cli/line/dev_words.h"

#include <utility>

#include "cli/line/option_reader.h"

namespace sheaf::cli {

namespace {

constexpr std::uint64_t most_servers = 64;
constexpr std::uint32_t usual_rotation = 60;  // seconds
constexpr std::uint64_t longest_rotation = 86'400;

// The kind of servers that an option asks for; brokers by default.
const ServerTraits& read_kind(const ParsedLine& line, OptionReader& reader) {
  const ServerTraits* wanted = nullptr;
  for (const ServerTraits& kind : server_kinds) {
    if (!line.has(kind.option)) continue;
    reader.refuse_if(wanted != nullptr, std::string(wanted != nullptr ? wanted->option : "") +
                                            " and " + kind.option +
                                            " are both given: dev runs only one kind of server.");
    wanted = &kind;
  }
  return wanted != nullptr ? *wanted : traits_of(ServerKind::broker);
}

void read_replicas(const ParsedLine& line, const ServerTraits& kind, OptionReader& reader,
                   DevWords& words) {
  if (!line.has("--replicas")) return;
  reader.refuse_if(!kind.forms_clusters, "--replicas needs --redis, --valkey or --garnet.");
  const auto replicas = parse_decimal(line.value("--replicas"));
  reader.refuse_if(
      !replicas || *replicas >= most_servers || words.servers * (1 + *replicas) > most_servers,
      is_not("--replicas", line.value("--replicas")) +
          "a number, 0 or more, with at most 64 servers in all.");
  words.replicas = static_cast<std::uint32_t>(replicas.value_or(0));
}

// What a pod has: one broker, unless more are asked for.
void read_pod(const ParsedLine& line, OptionReader& reader, DevWords& words) {
  words.tls = line.has("--tls");
  words.token = line.has("--token");
  const bool pod = words.tls || words.token;
  reader.refuse_if(line.has("--rotate") && !pod, "--rotate needs --tls or --token.");
  if (!pod) return;
  if (!line.has("--brokers")) words.servers = 1;
  std::uint32_t seconds = usual_rotation;
  reader.number("--rotate", 0, longest_rotation, seconds);
  words.rotate = std::chrono::seconds(seconds);
}

void read_port(const ParsedLine& line, OptionReader& reader, DevWords& words) {
  if (!line.has("--port")) return;
  const auto port = parse_decimal(line.value("--port"));
  const std::uint64_t servers = std::uint64_t{words.servers} * (1 + words.replicas);
  const std::uint64_t last = 65'536 - servers;
  const std::string why =
      servers == 1 ? "" : ": each of the " + std::to_string(servers) + " servers has a port";
  reader.refuse_if(!port || *port < 1 || *port > last, is_not("--port", line.value("--port")) +
                                                           "a number from 1 to " +
                                                           std::to_string(last) + why + ".");
  words.port = static_cast<std::uint16_t>(port.value_or(0));
}

}  // namespace

std::expected<DevWords, std::string> read_dev_words(const ParsedLine& line) {
  DevWords words;
  OptionReader reader(line);
  const ServerTraits& kind = read_kind(line, reader);
  words.kind = kind.kind;
  reader.number(kind.option, 1, most_servers, words.servers);
  read_replicas(line, kind, reader, words);
  for (const char* option :
       {"--spelling", "--mosquitto", "--plugin", "--tls", "--token", "--rotate"}) {
    reader.refuse_if(line.has(option) && kind.kind != ServerKind::broker,
                     std::string(option) + " is for Mosquitto brokers only.");
  }
  words.spelling = line.value("--spelling");
  reader.refuse_if(line.has("--spelling") && words.spelling != "sdk" && words.spelling != "page",
                   is_not("--spelling", words.spelling) + "sdk or page.");
  words.verbose = line.has("--verbose");
  read_pod(line, reader, words);
  read_port(line, reader, words);
  words.mosquitto = line.value("--mosquitto");
  words.plugin = line.value("--plugin");
  words.words = line.texts();
  return reader.take(std::move(words));
}

}  // namespace sheaf::cli
