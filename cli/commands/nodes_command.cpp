// nodes: the state of the nodes.

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <sheaf/metrics.h>

#include "cli/commands/command.h"
#include "cli/commands/deciding_servers.h"
#include "cli/line/server_words.h"
#include "cli/show/json_lines.h"
#include "cli/show/nodes_table.h"
#include "cli/show/store_metrics.h"
#include "cli/system/replaced_file.h"
#include "cli/system/terminal_screen.h"

namespace sheaf::cli {

namespace {

// Empty if the configuration decides, or if no server has answered.
std::vector<ClusterServer> servers_of(Context& context) {
  if (!servers_decide(context.client.config())) return {};
  auto servers = context.client.cluster_servers({.timeout = context.global.timeout});
  return servers ? std::move(*servers) : std::vector<ClusterServer>();
}

void write_json(Context& context, const std::vector<NodeReport>& reports,
                const std::vector<ClusterServer>& servers) {
  for (const NodeReport& report : reports) {
    const auto server = std::ranges::find(servers, report.stats.node, &ClusterServer::node);
    context.out.line(server != servers.end() ? json_primary(report, *server, servers, context.place)
                                             : json_report(report, context.place));
  }
  for (const ClusterServer& server : servers) {
    if (report_of(reports, server.node) == nullptr) context.out.line(json_server(server));
  }
}

// Nothing of stores that do not say or may not tell: the metrics of the client are complete.
std::string metrics_of_stores(Context& context) {
  if (!context.client.supports(Feature::clock)) return {};  // no state stores
  return store_metrics(context.client.server_stats({}, {.timeout = context.global.timeout}));
}

ExitCode write_metrics(Context& context, const std::string& path) {
  std::string text = prometheus_text(context.client.metrics());
  text += metrics_of_stores(context);  // afterwards: its questions are operations, too
  if (path.empty()) {
    context.out.write(text);
  } else if (const auto failure = replace_file(path, text)) {
    return failure->allowed ? fail(context, failure->sentence) : refuse(context, failure->sentence);
  }
  return ExitCode::done;
}

ExitCode check_nodes(Context& context, const NodesWords& words) {
  const auto reports = context.client.check_nodes({.timeout = context.global.timeout});
  const std::vector<ClusterServer> servers = servers_of(context);
  bool all_answered = true;
  if (words.metrics) {
    if (const ExitCode code = write_metrics(context, words.textfile); code != ExitCode::done)
      return code;
  } else if (context.json()) {
    write_json(context, reports, servers);
  } else {
    const TableLook look{context.out.colours(), TerminalScreen::size().columns};
    context.out.write(servers.empty() ? nodes_table(reports, look)
                                      : nodes_table(reports, servers, look));
    if (!context.place.empty()) context.out.write("\nsettings from " + context.place + "\n");
  }
  for (const std::string& warning :
       certificate_warnings(reports, std::chrono::system_clock::now())) {
    complain(warning);
  }
  for (const NodeReport& report : reports) {
    if (const auto warning = clock_warning(report)) complain(*warning);
    if (report.error) {
      complain_of(context, *report.error, report.error->message());
      all_answered = false;
    }
  }
  return all_answered ? ExitCode::done : ExitCode::failed;
}

ExitCode run_nodes(const Call& call, const NodesWords& words) {
  return on_servers(
      call, [&](Context& context) { return check_nodes(context, words); },
      Connections::to_all_nodes);
}

constexpr OptionRow nodes_options[] = {
    {"--metrics", "", "print the measurements as text for Prometheus; with those of state stores"},
    {"--textfile", "FILE", "write that text into this file instead", completes_files}};

}  // namespace

CommandRow nodes_command() {
  return command<read_nodes_words, run_nodes>(
      {.name = "nodes",
       .group = group::servers,
       .purpose = "ask every node: health, round trip, pool, clock; roles and slots",
       .text = "In a Redis cluster each primary has its replicas below it. The client has no "
               "connection to them, so their health is unknown.\n"
               "The last line says what named the servers, if the command line did not.\n"
               "The file of --textfile is replaced as a whole, as the textfile collector requires.",
       .examples = {"sheaf nodes", "sheaf nodes --textfile /var/lib/node_exporter/sheaf.prom"},
       .options = nodes_options,
       .completion = completes_nothing});
}

}  // namespace sheaf::cli
