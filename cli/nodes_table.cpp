#include "cli/nodes_table.h"

#include <algorithm>
#include <string_view>

#include "base/text.h"
#include "cli/slot_picture.h"
#include "cli/text_table.h"

namespace sheaf::cli {

namespace {

constexpr std::chrono::milliseconds warn_above = std::chrono::seconds(30);

std::string pool_text(const NodeStats& stats) {
  return std::to_string(stats.connections) +
         (stats.connections == 1 ? " connection" : " connections");
}

// "+12 ms": a clock difference is never known more exactly.
std::string difference_text(std::chrono::milliseconds difference) {
  constexpr std::chrono::milliseconds longest_exact = std::chrono::seconds(10);
  const auto size = std::chrono::abs(difference);
  const std::string_view sign = difference.count() > 0 ? "+" : difference.count() < 0 ? "-" : "";
  std::string text(sign);
  return text +
         (size < longest_exact ? std::to_string(size.count()) + " ms" : format_elapsed(size));
}

// Whether a column for it is worth its place.
bool any_tls(const std::vector<NodeReport>& reports) {
  return std::ranges::any_of(reports,
                             [](const NodeReport& report) { return !report.stats.tls.empty(); });
}

std::string tls_text(const NodeReport* report) {
  return report == nullptr || report->stats.tls.empty() ? "-" : report->stats.tls;
}

}  // namespace

std::string nodes_table(const std::vector<NodeReport>& reports) {
  std::vector<std::vector<std::string>> rows;
  for (const NodeReport& report : reports) {
    rows.push_back({report.stats.node, std::string(to_string(report.stats.health)),
                    report.round_trip ? format_elapsed(*report.round_trip) : "-",
                    pool_text(report.stats),
                    report.clock_difference ? difference_text(*report.clock_difference) : "-"});
    if (any_tls(reports)) rows.back().push_back(tls_text(&report));
  }
  std::vector<Column> columns = {
      {"NODE"}, {"HEALTH"}, {"ROUND TRIP", true}, {"POOL"}, {"CLOCK", true}};
  if (any_tls(reports)) columns.push_back({"TLS"});
  return text_table(columns, rows);
}

const NodeReport* report_of(const std::vector<NodeReport>& reports, std::string_view node) {
  const auto same = [&](const NodeReport& report) { return report.stats.node == node; };
  const auto found = std::ranges::find_if(reports, same);
  return found != reports.end() ? &*found : nullptr;
}

std::string nodes_table(const std::vector<NodeReport>& reports,
                        const std::vector<ClusterServer>& servers) {
  std::vector<std::vector<std::string>> rows;
  for (const ClusterServer& server : servers) {
    const NodeReport* const report = report_of(reports, server.node);
    std::string role = server.replica ? "replica" : "primary";
    if (!server.primary.empty()) role += " of " + server.primary;
    rows.push_back(
        {server.node, role, report != nullptr ? std::string(to_string(report->stats.health)) : "-",
         report != nullptr && report->round_trip ? format_elapsed(*report->round_trip) : "-",
         report != nullptr ? pool_text(report->stats) : "-", std::to_string(server.epoch),
         ranges_text(server.slots)});
    if (any_tls(reports)) rows.back().push_back(tls_text(report));
  }
  std::vector<Column> columns = {{"NODE"}, {"ROLE"},        {"HEALTH"}, {"ROUND TRIP", true},
                                 {"POOL"}, {"EPOCH", true}, {"SLOTS"}};
  if (any_tls(reports)) columns.push_back({"TLS"});
  return text_table(columns, rows);
}

std::optional<std::string> clock_warning(const NodeReport& report) {
  if (!report.clock_difference) return std::nullopt;
  const auto size = std::chrono::abs(*report.clock_difference);
  if (size <= warn_above) return std::nullopt;
  return "warning: the clock of " + report.stats.node + " is " + format_elapsed(size) +
         (report.clock_difference->count() > 0 ? " ahead of" : " behind") +
         " this machine's; the store refuses writes when clocks differ by more than a minute.";
}

}  // namespace sheaf::cli
