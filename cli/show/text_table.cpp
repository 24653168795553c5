#include "cli/show/text_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>

namespace sheaf::cli {

namespace {

void append_row(std::string& out, const std::vector<Column>& columns,
                const std::vector<std::size_t>& widths, const std::vector<std::string>& cells,
                const char* colour) {
  std::string line;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::string padding(widths[i] - cells[i].size(), ' ');
    if (i != 0) line += "  ";
    line += columns[i].right ? padding + cells[i] : cells[i] + padding;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  out += colour == nullptr ? line : colour + line + "\x1b[0m";
  out += '\n';
}

// At least three digits: "9.87", "98.7", "987".
std::string three_digits(double number, const char* unit) {
  char text[48];
  const int digits = number < 9.995 ? 2 : number < 99.95 ? 1 : 0;
  std::snprintf(text, sizeof text, "%.*f %s", digits, number, unit);
  return text;
}

std::vector<std::size_t> widths_of(const std::vector<Column>& columns,
                                   const std::vector<Row>& rows) {
  std::vector<std::size_t> widths;
  for (const Column& column : columns) widths.push_back(column.title.size());
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      widths[i] = std::max(widths[i], row.cells[i].size());
    }
  }
  return widths;
}

constexpr std::size_t between = 2;  // columns

}  // namespace

std::string text_table(const std::vector<Column>& columns, const std::vector<Row>& rows,
                       bool colours) {
  const std::vector<std::size_t> widths = widths_of(columns, rows);
  std::vector<std::string> titles;
  for (const Column& column : columns) titles.push_back(column.title);
  std::string out;
  append_row(out, columns, widths, titles, colours ? "\x1b[1m" : nullptr);
  for (const Row& row : rows)
    append_row(out, columns, widths, row.cells, colours && row.alarming ? "\x1b[31m" : nullptr);
  return out;
}

std::string text_tables(const std::vector<Column>& columns, const std::vector<Row>& rows,
                        bool colours, std::size_t width) {
  const std::vector<std::size_t> widths = widths_of(columns, rows);
  std::string out;
  for (std::size_t next = 1; next < columns.size() || out.empty();) {
    std::vector<Column> titles{columns.front()};
    std::vector<Row> cells;
    for (const Row& row : rows) cells.push_back({{row.cells.front()}, row.alarming});
    std::size_t used = widths.front();
    do {  // at least one more, however wide it is
      if (next == columns.size()) break;
      used += between + widths[next];
      titles.push_back(columns[next]);
      for (std::size_t i = 0; i < rows.size(); ++i) cells[i].cells.push_back(rows[i].cells[next]);
      ++next;
    } while (next < columns.size() && used + between + widths[next] <= width);
    out += (out.empty() ? "" : "\n") + text_table(titles, cells, colours);
  }
  return out;
}

std::string bar_table(std::vector<Column> columns, std::vector<Row> rows,
                      const std::vector<double>& parts, std::size_t widest) {
  constexpr std::size_t longest_line = 80;
  std::size_t used = 0;
  for (const std::size_t width : widths_of(columns, rows)) used += width + between;
  widest = std::clamp<std::size_t>(longest_line - std::min(used, longest_line), 1, widest);
  const double largest = parts.empty() ? 0 : *std::ranges::max_element(parts);
  columns.push_back({""});
  for (std::size_t i = 0; i < rows.size(); ++i)
    rows[i].cells.push_back(bar(parts[i], largest, widest));
  return text_table(columns, rows);
}

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f %%", share * 100);
  return text;
}

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

std::string bar(double part, double largest, std::size_t width) {
  if (!(part > 0)) return "";
  const double marks = std::round(part / largest * static_cast<double>(width));
  return std::string(std::max<std::size_t>(1, static_cast<std::size_t>(marks)), '#');
}

}  // namespace sheaf::cli
