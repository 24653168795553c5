#include "cli/show/store_metrics.h"

#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>

#include "base/text.h"
#include "cli/show/stats_lines.h"

namespace sheaf::cli {

namespace {

struct Sample {
  std::string_view stat;
  std::string_view suffix = {};
  std::string_view label = {};  // besides the node: NAME="VALUE"
  bool microseconds = false;    // of the store; Prometheus has seconds
};
struct Family {
  std::string_view name;
  std::string_view type;
  std::string_view help;
  std::vector<Sample> samples;
};

const std::vector<Family>& families() {
  static const std::vector<Family> all{
      {"sheaf_store_keys", "gauge", "Keys in the store.", {{"keys"}}},
      {"sheaf_store_bytes", "gauge", "Bytes of keys and values.", {{"bytes"}}},
      {"sheaf_store_watches", "gauge", "Pairs of connection and watched key.", {{"watches"}}},
      {"sheaf_store_clients", "gauge", "Connected clients.", {{"clients"}}},
      {"sheaf_store_fences", "gauge", "Remembered fences of removed keys.", {{"fences"}}},
      {"sheaf_store_answers", "gauge", "Remembered answers of writes.", {{"answers"}}},
      {"sheaf_store_requests_total", "counter", "Requests to the store.", {{"requests"}}},
      {"sheaf_store_commands_total",
       "counter",
       "Well-formed requests by command.",
       {{"cmd_set", "", "command=\"set\""},
        {"cmd_get", "", "command=\"get\""},
        {"cmd_del", "", "command=\"del\""},
        {"cmd_vdel", "", "command=\"vdel\""},
        {"cmd_keynotify", "", "command=\"keynotify\""}}},
      {"sheaf_store_reads_total",
       "counter",
       "Executed GETs; a probe is neither hit nor miss.",
       {{"get_hits", "", "outcome=\"hit\""},
        {"get_misses", "", "outcome=\"miss\""},
        {"probes", "", "outcome=\"probe\""}}},
      {"sheaf_store_writes_total", "counter", "Executed writes.", {{"writes"}}},
      {"sheaf_store_unmet_total", "counter", "Writes whose condition did not hold.", {{"unmet"}}},
      {"sheaf_store_duplicates_total", "counter", "Writes that arrived twice.", {{"duplicates"}}},
      {"sheaf_store_dropped_total", "counter", "Requests without a response topic.", {{"dropped"}}},
      {"sheaf_store_forbidden_total",
       "counter",
       "Requests whose response topic ended the connection.",
       {{"forbidden"}}},
      {"sheaf_store_errors_total",
       "counter",
       "Requests answered with an error.",
       {{"errors_not_authorized", "", "reason=\"not_authorized\""},
        {"errors_quota", "", "reason=\"quota\""},
        {"errors_rate", "", "reason=\"rate\""},
        {"errors_time", "", "reason=\"time\""},
        {"errors_fence", "", "reason=\"fence\""},
        {"errors_syntax", "", "reason=\"syntax\""},
        {"errors_read_only", "", "reason=\"read_only\""}}},
      {"sheaf_store_inspections_total",
       "counter",
       "Questions about the store itself.",
       {{"inspections"}}},
      {"sheaf_store_expired_total", "counter", "Keys that have expired.", {{"expired"}}},
      {"sheaf_store_notifications_total",
       "counter",
       "Notifications, one for each watcher.",
       {{"notifications"}}},
      {"sheaf_store_frozen",
       "gauge",
       "1 while the file of the store cannot be written.",
       {{"frozen"}}},
      {"sheaf_store_file_bytes", "gauge", "Size of the file of the store.", {{"file_bytes"}}},
      {"sheaf_store_commit_failures_total",
       "counter",
       "Commits to the file that failed.",
       {{"failed_commits"}}},
      {"sheaf_store_commit_seconds",
       "summary",
       "How long commits to the file took.",
       {{"commit_us_median", "", "quantile=\"0.5\"", true},
        {"commit_us_p99", "", "quantile=\"0.99\"", true},
        {"commit_us_max", "", "quantile=\"1\"", true},
        {"commit_us_total", "_sum", "", true},
        {"commits", "_count"}}},
  };
  return all;
}

std::string escaped(std::string_view value) {
  std::string out;
  for (const char c : value) {
    if (c == '\\' || c == '"') out += '\\';
    out += c;
  }
  return out;
}

std::optional<std::uint64_t> find_stat(std::string_view lines, std::string_view wanted) {
  std::optional<std::uint64_t> found;
  for_each_stat(lines, [&](std::string_view name, std::string_view value) {
    if (name == wanted) found = parse_decimal(value);
  });
  return found;
}

// 1234567 is "1.234567".
std::string in_seconds(std::uint64_t microseconds) {
  const std::string digits = std::to_string(microseconds % 1'000'000);
  return std::to_string(microseconds / 1'000'000) + "." + std::string(6 - digits.size(), '0') +
         digits;
}

void add_sample(std::string& out, const Family& family, const Sample& sample,
                const NodeText& node) {
  const auto value = find_stat(*node.text, sample.stat);
  if (!value) return;
  out.append(family.name).append(sample.suffix);
  out.append("{node=\"").append(escaped(node.node)).append("\"");
  if (!sample.label.empty()) out.append(",").append(sample.label);
  out.append("} ");
  out.append(sample.microseconds ? in_seconds(*value) : std::to_string(*value)).append("\n");
}

}  // namespace

std::string store_metrics(const std::vector<NodeText>& nodes) {
  std::string page;
  for (const Family& family : families()) {
    std::string samples;
    for (const NodeText& node : nodes) {
      if (!node.text) continue;
      for (const Sample& sample : family.samples) add_sample(samples, family, sample, node);
    }
    if (samples.empty()) continue;
    page.append("# HELP ").append(family.name).append(" ").append(family.help).append("\n");
    page.append("# TYPE ").append(family.name).append(" ").append(family.type).append("\n");
    page.append(samples);
  }
  return page;
}

}  // namespace sheaf::cli
