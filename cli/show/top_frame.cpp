#include "cli/show/top_frame.h"

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "cli/show/text_table.h"

namespace sheaf::cli {

namespace {

constexpr std::size_t other_columns = 62;  // width of the columns after the node
constexpr std::size_t shortest_node = 12;
constexpr std::size_t frame_lines = 4;  // two for the head, one for the titles, one for the sum

template <class Value, class Show>
std::string or_dash(const std::optional<Value>& value, const Show& show) {
  return value ? show(*value) : std::string("-");
}

std::string count_or_dash(const std::optional<std::uint64_t>& count) {
  return or_dash(count, [](std::uint64_t n) { return short_count(static_cast<double>(n)); });
}

std::string share_text(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %%", share * 100);
  return text;
}

bool is_down(const TopRow& row) { return row.now.health == NodeHealth::down; }

// The end of a long name, which tells nodes apart.
std::string fitted(const std::string& node, std::size_t width) {
  if (node.size() <= width) return node;
  return ".." + node.substr(node.size() - (width - 2));
}

std::string health_text(const TopRow& row) {
  return row.restarted ? "restarted" : std::string(to_string(row.now.health));
}

Row cells_of(const TopRow& row, std::string name, std::string health) {
  Row cells;
  cells.alarming = is_down(row);
  cells.cells = {std::move(name),
                 std::move(health),
                 or_dash(row.now.round_trip, [](auto trip) { return format_elapsed(trip); }),
                 or_dash(row.operations, short_count),
                 or_dash(row.hit_share, share_text),
                 count_or_dash(row.now.keys),
                 or_dash(row.now.bytes, short_size),
                 count_or_dash(row.now.connections)};
  return cells;
}

std::string cut(std::string_view line, std::size_t columns) {
  return std::string(line.substr(0, columns));
}

std::string head(const std::vector<TopRow>& rows, const TopView& view) {
  const auto down = static_cast<std::size_t>(std::ranges::count_if(rows, is_down));
  const TopRow sum = total(rows);
  std::string text = std::to_string(rows.size()) + (rows.size() == 1 ? " node, " : " nodes, ") +
                     (down == 0 ? "none down" : std::to_string(down) + " down");
  if (sum.operations) text += "   " + short_count(*sum.operations) + " ops/s";
  if (sum.hit_share) text += "   " + share_text(*sum.hit_share) + " hits";
  const std::string every = "every " + format_duration(view.interval) + ", q ends";
  if (text.size() + 3 + every.size() <= view.columns) {
    text += std::string(view.columns - text.size() - every.size(), ' ') + every;
  }
  return cut(text, view.columns) + "\n\n";
}

}  // namespace

std::string top_frame(const std::vector<TopRow>& rows, const TopView& view) {
  std::vector<TopRow> sorted(rows);
  std::ranges::stable_partition(sorted, is_down);
  const std::size_t room = view.lines > frame_lines + 1 ? view.lines - frame_lines : 1;
  const bool all = sorted.size() <= room;
  const std::size_t shown = all ? sorted.size() : std::max<std::size_t>(room, 2) - 1;
  const std::size_t width =
      std::max(shortest_node, view.columns - std::min(view.columns, other_columns));
  const std::vector<Column> columns = {{"NODE"},         {"HEALTH"},     {"PING", true},
                                       {"OPS/S", true},  {"HITS", true}, {"KEYS", true},
                                       {"MEMORY", true}, {"CONNS", true}};
  std::vector<Row> cells;
  for (std::size_t i = 0; i < shown; ++i) {
    const TopRow& row = sorted[i];
    cells.push_back(cells_of(row, fitted(row.now.node, width), health_text(row)));
  }
  cells.push_back(cells_of(total(rows), "all", ""));
  std::string text = head(rows, view) + text_table(columns, cells, view.colours);
  if (!all) text += "and " + std::to_string(sorted.size() - shown) + " more nodes\n";
  text.pop_back();
  return text;
}

std::string top_line(const TopRow& row, std::chrono::system_clock::time_point time) {
  std::string line =
      "time=" + format_utc(std::chrono::floor<std::chrono::milliseconds>(time.time_since_epoch()));
  line += " node=" + row.now.node + " health=" + std::string(to_string(row.now.health));
  if (row.restarted) line += " restarted=1";
  for_each_figure(row, [&](const char* name, const auto& value, int digits) {
    if (!value) return;
    char text[64];
    std::snprintf(text, sizeof text, " %s=%.*f", name, digits, static_cast<double>(*value));
    line += text;
  });
  return line;
}

}  // namespace sheaf::cli
