#include "cli/show/nodes_table.h"

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "base/text.h"
#include "cli/show/slot_picture.h"
#include "cli/show/text_table.h"
#include "node/certificate_warnings.h"

namespace sheaf::cli {

namespace {

using Time = std::chrono::system_clock::time_point;

constexpr std::chrono::milliseconds warn_above = std::chrono::seconds(30);

std::chrono::milliseconds wall_of(Time time) {
  return std::chrono::floor<std::chrono::milliseconds>(time.time_since_epoch());
}

// "2027-01-31", in UTC.
std::string date_text(Time time) {
  const std::chrono::year_month_day date(std::chrono::floor<std::chrono::days>(time));
  char text[40];
  std::snprintf(text, sizeof text, "%04d-%02u-%02u", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
  return text;
}

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

// Servers say what they like.
std::string server_text(const NodeStats& stats) {
  std::string text = stats.server.empty() ? "-" : printable(stats.server);
  if (stats.role == ServerRole::replica) text += ", replica";
  return text;
}

std::string tls_text(const NodeStats& stats) { return stats.tls.empty() ? "-" : stats.tls; }

std::string certificate_text(const NodeStats& stats) {
  return stats.certificate_end ? "ends " + date_text(*stats.certificate_end) : "-";
}

// The name comes from the configuration and may contain anything.
std::string user_text(const NodeStats& stats) {
  return stats.user.empty() ? "-" : printable(stats.user);
}

// Columns that appear if at least one node has something for them.
struct SpareColumn {
  const char* title;
  bool (*worth_it)(const NodeStats&);
  std::string (*text)(const NodeStats&);
};
constexpr SpareColumn spare_columns[] = {
    {"SERVER", [](const NodeStats& stats) { return !stats.server.empty(); }, server_text},
    {"TLS", [](const NodeStats& stats) { return !stats.tls.empty(); }, tls_text},
    {"CERTIFICATE", [](const NodeStats& stats) { return stats.certificate_end.has_value(); },
     certificate_text},
    {"USER", [](const NodeStats& stats) { return !stats.tls.empty() || !stats.user.empty(); },
     user_text},
};

// Adds these columns; `of` is the report of each row, null for a row without one.
void add_spare_columns(const std::vector<const NodeReport*>& of, std::vector<Column>& columns,
                       std::vector<Row>& rows) {
  for (const SpareColumn& spare : spare_columns) {
    const auto worth_it = [&](const NodeReport* report) {
      return report != nullptr && spare.worth_it(report->stats);
    };
    if (std::ranges::none_of(of, worth_it)) continue;
    columns.push_back({spare.title});
    for (std::size_t i = 0; i < rows.size(); ++i) {
      rows[i].cells.push_back(of[i] != nullptr ? spare.text(of[i]->stats) : "-");
    }
  }
}

}  // namespace

std::string nodes_table(const std::vector<NodeReport>& reports, TableLook look) {
  std::vector<Row> rows;
  std::vector<const NodeReport*> of;
  for (const NodeReport& report : reports) {
    of.push_back(&report);
    rows.push_back(
        {{report.stats.node, std::string(to_string(report.stats.health)),
          report.round_trip ? format_elapsed(*report.round_trip) : "-", pool_text(report.stats),
          report.clock_difference ? difference_text(*report.clock_difference) : "-"},
         report.error.has_value()});
  }
  std::vector<Column> columns = {
      {"NODE"}, {"HEALTH"}, {"ROUND TRIP", true}, {"POOL"}, {"CLOCK", true}};
  add_spare_columns(of, columns, rows);
  return text_tables(columns, rows, look.colours, look.width);
}

const NodeReport* report_of(const std::vector<NodeReport>& reports, std::string_view node) {
  const auto same = [&](const NodeReport& report) { return report.stats.node == node; };
  const auto found = std::ranges::find_if(reports, same);
  return found != reports.end() ? &*found : nullptr;
}

namespace {

// Each primary, then its replicas; last those whose primary is missing.
std::vector<const ClusterServer*> by_primary(const std::vector<ClusterServer>& servers) {
  std::vector<const ClusterServer*> out;
  for (const ClusterServer& primary : servers) {
    if (primary.replica) continue;
    out.push_back(&primary);
    for (const ClusterServer& server : servers) {
      if (server.replica && server.primary == primary.node) out.push_back(&server);
    }
  }
  for (const ClusterServer& server : servers) {
    if (std::ranges::find(out, &server) == out.end()) out.push_back(&server);
  }
  return out;
}

Row row_of(const ClusterServer& server, const NodeReport* report) {
  Row row{{(server.replica ? "  " : "") + server.node, server.replica ? "replica" : "primary"}};
  if (report != nullptr) {
    row.cells.emplace_back(to_string(report->stats.health));
    row.cells.push_back(report->round_trip ? format_elapsed(*report->round_trip) : "-");
    row.cells.push_back(std::to_string(report->stats.connections));
    row.alarming = report->error.has_value();
  } else {
    row.cells.insert(row.cells.end(), {"not asked", "-", "-"});
  }
  row.cells.push_back(std::to_string(server.epoch));
  row.cells.push_back(ranges_text(server.slots));
  return row;
}

}  // namespace

std::string nodes_table(const std::vector<NodeReport>& reports,
                        const std::vector<ClusterServer>& servers, TableLook look) {
  std::vector<Row> rows;
  std::vector<const NodeReport*> of;
  for (const ClusterServer* const server : by_primary(servers)) {
    of.push_back(report_of(reports, server->node));
    rows.push_back(row_of(*server, of.back()));
  }
  std::vector<Column> columns = {{"NODE"},       {"ROLE"},        {"HEALTH"}, {"PING", true},
                                 {"POOL", true}, {"EPOCH", true}, {"SLOTS"}};
  add_spare_columns(of, columns, rows);
  return text_tables(columns, rows, look.colours, look.width);
}

std::vector<std::string> certificate_warnings(const std::vector<NodeReport>& reports,
                                              std::chrono::system_clock::time_point now) {
  std::vector<std::string> sentences;
  bool own_said = false;
  const auto warn = [&](const std::string& which, const auto& end) {
    if (!end) return false;
    const auto text = node::certificate_warning(which, wall_of(*end), wall_of(now));
    if (text) sentences.push_back("warning: " + *text + ".");
    return text.has_value();
  };
  for (const NodeReport& report : reports) {
    warn("the certificate of " + report.stats.node, report.stats.certificate_end);
    own_said =
        own_said || warn(std::string(node::own_certificate), report.stats.own_certificate_end);
  }
  return sentences;
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
