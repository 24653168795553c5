#include "cli/text_table.h"

#include <algorithm>
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

}  // namespace

std::string text_table(const std::vector<Column>& columns, const std::vector<Row>& rows,
                       bool colours) {
  std::vector<std::string> titles;
  std::vector<std::size_t> widths;
  for (const Column& column : columns) {
    titles.push_back(column.title);
    widths.push_back(column.title.size());
  }
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      widths[i] = std::max(widths[i], row.cells[i].size());
    }
  }
  std::string out;
  append_row(out, columns, widths, titles, colours ? "\x1b[1m" : nullptr);
  for (const Row& row : rows)
    append_row(out, columns, widths, row.cells, colours && row.alarming ? "\x1b[31m" : nullptr);
  return out;
}

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f %%", share * 100);
  return text;
}

}  // namespace sheaf::cli
