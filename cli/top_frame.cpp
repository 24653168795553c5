#include "cli/top_frame.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "cli/text_table.h"

namespace sheaf::cli {

namespace {

constexpr std::size_t other_columns = 62;  // what the columns behind the node take
constexpr std::size_t shortest_node = 12;
constexpr std::size_t frame_lines = 4;  // two of the head, the titles, the sum

// Three digits at least: "9.87", "98.7", "987".
std::string three_digits(double number, const char* unit) {
  char text[48];
  const int digits = number < 9.995 ? 2 : number < 99.95 ? 1 : 0;
  std::snprintf(text, sizeof text, "%.*f %s", digits, number, unit);
  return text;
}

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

std::string short_count(double count) {
  constexpr std::array<const char*, 4> units{"k", "M", "G", "T"};
  if (count < 999.5) {
    char text[32];
    std::snprintf(text, sizeof text, "%.0f", count);
    return text;
  }
  std::size_t unit = 0;
  for (count /= 1000; count >= 999.5 && unit + 1 < units.size(); ++unit) count /= 1000;
  return three_digits(count, units[unit]);
}

std::string short_size(std::uint64_t bytes) {
  constexpr std::array<const char*, 4> units{"KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1000) return std::to_string(bytes) + " B";
  double size = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; size >= 999.5 && unit + 1 < units.size(); ++unit) size /= 1024;
  return three_digits(size, units[unit]);
}

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
  const auto add = [&](const char* name, std::optional<double> value, const char* format) {
    char text[64];
    if (!value) return;
    std::snprintf(text, sizeof text, format, *value);
    line.append(" ").append(name).append("=").append(text);
  };
  const auto whole = [](std::optional<std::uint64_t> count) {
    return count.transform([](std::uint64_t n) { return static_cast<double>(n); });
  };
  add("ping_ms", row.now.round_trip.transform([](std::chrono::nanoseconds trip) {
    return std::chrono::duration<double, std::milli>(trip).count();
  }),
      "%.3f");
  add("ops", row.operations, "%.1f");
  add("reads", row.reads, "%.1f");
  add("hits", row.hit_share, "%.4f");
  add("evictions", row.evictions, "%.1f");
  add("keys", whole(row.now.keys), "%.0f");
  add("bytes", whole(row.now.bytes), "%.0f");
  add("connections", whole(row.now.connections), "%.0f");
  return line;
}

}  // namespace sheaf::cli
