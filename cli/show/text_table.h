#pragma once

// Columns of text, as wide as their widest cell, and what stands in them.
//
// Thread rule: pure functions.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sheaf::cli {

struct Column {
  std::string title;
  bool right = false;  // Aligned to the right, for numbers.
};

struct Row {
  std::vector<std::string> cells;  // As many as there are columns.
  bool alarming = false;           // In red where there are colours.
};

// The titles and the rows, two blanks between columns, no blanks at the end of a line. With
// `colours` the titles are bold, in the sequences of a terminal.
std::string text_table(const std::vector<Column>& columns, const std::vector<Row>& rows,
                       bool colours = false);

// The same in tables of at most `width` columns: a wider one continues below, after an empty line,
// with the first column repeated.
std::string text_tables(const std::vector<Column>& columns, const std::vector<Row>& rows,
                        bool colours, std::size_t width);
// The same in one table with a last column of bars, one for each of `parts`. The longest has
// `widest` marks, or fewer if the lines would be longer than 80 columns.
std::string bar_table(std::vector<Column> columns, std::vector<Row> rows,
                      const std::vector<double>& parts, std::size_t widest = 40);

// "12.50 %" of 0.125.
std::string percent(double share);
// "950", "12.3 k", "4.56 M"; "1.20 GiB".
std::string short_count(double count);
std::string short_size(std::uint64_t bytes);
// So many '#' of `width` as `part` is of `largest`: at least one if it is more than 0.
std::string bar(double part, double largest, std::size_t width);

}  // namespace sheaf::cli
