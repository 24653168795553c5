// doctor: checks a set-up step by step, from the names of the servers to the rights of the user.

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "cli/commands/command.h"
#include "cli/commands/deciding_servers.h"
#include "cli/line/server_words.h"
#include "cli/show/diagnosis.h"
#include "cli/show/json_lines.h"
#include "cli/system/reach.h"
#include "cli/system/terminal_screen.h"
#include "protocol/endpoint_kinds.h"

namespace sheaf::cli {

namespace {

using namespace std::chrono_literals;

constexpr int rounds = 20;            // of the latency
constexpr int most_suffixes = 5'000;  // until a key is found that a server owns
constexpr std::chrono::milliseconds key_life = 30s;

// The name or address and the port of a node's identity.
NodeConfig node_of(const std::string& identity) {
  NodeConfig node;
  const std::size_t colon = identity.rfind(':');
  if (identity.starts_with('/') || colon == identity.npos) {
    node.host = identity;
    return node;
  }
  node.host = identity.substr(0, colon);
  if (node.host.starts_with('[')) node.host = node.host.substr(1, node.host.size() - 2);
  node.port = static_cast<std::uint16_t>(std::strtoul(identity.c_str() + colon + 1, nullptr, 10));
  return node;
}

class Doctor {
 public:
  Doctor(Context& context, const DoctorWords& words)
      : context_(context), words_(words), random_(entropy()) {}

  ExitCode run() {
    std::vector<NodeReport> reports = any_reachable() ? ask() : unasked();
    note_missing_map(reports);
    std::vector<Examined> servers;
    for (NodeReport& report : reports) servers.push_back(examine(std::move(report)));
    measure(servers);
    bool good = true;
    for (const Examined& server : servers) good = show(server) && good;
    return good ? ExitCode::done : ExitCode::failed;
  }

 private:
  bool any_reachable() {
    return std::ranges::any_of(context_.client.config().nodes, [this](const NodeConfig& node) {
      const Examined& server = located(node);
      return server.engine || server.refused.size() < server.addresses.size();
    });
  }
  // If no configured server can be reached, a question would only wait.
  std::vector<NodeReport> unasked() const {
    std::vector<NodeReport> reports;
    for (const NodeConfig& node : context_.client.config().nodes) {
      NodeReport& report = reports.emplace_back();
      report.stats.node = node.identity();
      report.error.emplace();
    }
    return reports;
  }
  std::vector<NodeReport> ask() {
    return context_.client.check_nodes({.timeout = context_.global.timeout});
  }
  // A server may answer, and not say which slots are whose.
  void note_missing_map(std::vector<NodeReport>& reports) {
    const auto failed = [](const NodeReport& report) { return report.error.has_value(); };
    if (!servers_decide(context_.client.config()) || std::ranges::any_of(reports, failed)) return;
    const auto map = context_.client.cluster_servers({.timeout = context_.global.timeout});
    if (map) return;
    for (NodeReport& report : reports) report.error = map.error();
  }
  Examined examine(NodeReport report) {
    Examined server = located(node_of(report.stats.node));
    server.report = std::move(report);
    if (!server.report.error) try_key(server);
    return server;
  }
  // The server with what is known of the way to it, which is looked at once.
  const Examined& located(const NodeConfig& node) {
    const auto [found, is_new] = located_.try_emplace(node.identity());
    Examined& server = found->second;
    if (!is_new) return server;
    const ClusterConfig& config = context_.client.config();
    server.engine = protocol::traits_of(config.kind).transport == protocol::Transport::engines;
    server.tls = config.tls;
    server.clock = context_.client.supports(Feature::clock);
    server.host = node.host;
    server.port = node.port;
    if (!server.engine) look_up(server);
    return server;
  }
  void look_up(Examined& server) const {
    if (server.host.starts_with('/')) {
      server.addresses = {server.host};
    } else if (auto found = addresses_of(server.host)) {
      server.addresses = std::move(*found);
    } else {
      server.name_fault = std::move(found.error());
    }
    for (const std::string& address : server.addresses) {
      if (const auto reached = reach(address, server.port, context_.global.timeout); !reached) {
        server.refused.push_back(address + ": " + reached.error());
      }
    }
  }
  // Writes, reads and removes a key that the server owns.
  void try_key(Examined& server) {
    for (int i = 0; i < most_suffixes && server.key.empty(); ++i) {
      std::string key = words_.key + random_.hex(8);
      const auto location = context_.client.locate(key);
      if (location && location->node == server.report.stats.node) server.key = std::move(key);
    }
    if (server.key.empty()) return;
    Client& client = context_.client;
    const auto timeout = context_.global.timeout;
    if (const auto set =
            client.set(server.key, "sheaf doctor", {.ttl = Ttl(key_life), .timeout = timeout});
        !set) {
      server.rights = set.error();
    } else if (const auto got = client.get(server.key, {.timeout = timeout}); !got) {
      server.rights = got.error();
    } else if (const auto removed = client.remove(server.key, {.timeout = timeout}); !removed) {
      server.rights = removed.error();
    }
  }
  void measure(std::vector<Examined>& servers) {
    const auto answers = [](const Examined& server) { return !server.report.error; };
    if (std::ranges::none_of(servers, answers)) return;
    for (int round = 0; round < rounds; ++round) {
      for (const NodeReport& report : ask()) {
        for (Examined& server : servers) {
          if (server.report.stats.node != report.stats.node || !report.round_trip) continue;
          server.trips.push_back(*report.round_trip);
        }
      }
    }
  }
  // True if nothing is wrong.
  bool show(const Examined& server) {
    const std::vector<Finding> findings = diagnose(server);
    const std::string& node = server.report.stats.node;
    if (context_.json()) {
      for (const Finding& finding : findings) context_.out.line(json_finding(node, finding));
    } else {
      context_.out.write(
          diagnosis_text(node, findings, TerminalScreen::size().columns, context_.out.colours()));
    }
    return std::ranges::none_of(
        findings, [](const Finding& finding) { return finding.verdict == Finding::Verdict::bad; });
  }

  Context& context_;
  const DoctorWords& words_;
  Random random_;
  std::map<std::string, Examined> located_;  // by identity
};

ExitCode run_doctor(const Call& call, const DoctorWords& words) {
  GlobalArguments global = call.global;
  if (!words.uri.empty()) global.servers = words.uri;
  return on_servers(
      Call{call.table, global, call.in, call.out},
      [&](Context& context) { return Doctor(context, words).run(); }, Connections::to_all_nodes);
}

constexpr OptionRow doctor_options[] = {
    {"--key", "PREFIX", "write keys that begin so, instead of sheaf/doctor/"}};

}  // namespace

CommandRow doctor_command() {
  return command<read_doctor_words, run_doctor>(
      {.name = "doctor",
       .group = group::servers,
       .arguments = "[URI]",
       .purpose = "check a set-up step by step, and say what to do",
       .text = "For each server: name, addresses, port, TLS, login, protocol, store or role, "
               "clock, rights, latency. The first step that fails ends its list. For the rights it "
               "writes, reads and removes a key of its own, which lives for 30 s at most.",
       .examples = {"sheaf doctor redis://cache.example", "sheaf doctor --json"},
       .options = doctor_options,
       .completion = completes_nothing});
}

}  // namespace sheaf::cli
