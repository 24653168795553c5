#pragma once

// Columns of text, as wide as their widest cell, and the figures in them.
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
  bool alarming = false;           // Red if colours are on.
};

// The titles and the rows, with two blanks between columns and none at the end of a line. With
// `colours`, the titles are bold, by terminal sequences.
std::string text_table(const std::vector<Column>& columns, const std::vector<Row>& rows,
                       bool colours = false);

// The same in tables of at most `width` columns: a wider one continues below, after an empty line,
// with the first column repeated.
std::string text_tables(const std::vector<Column>& columns, const std::vector<Row>& rows,
                        bool colours, std::size_t width);
// One table with a last column of bars, one for each of `parts`. The longest has `widest` marks, or
// fewer if the lines would be longer than 80 columns.
std::string bar_table(std::vector<Column> columns, std::vector<Row> rows,
                      const std::vector<double>& parts, std::size_t widest = 40);

// "12.50 %" for 0.125.
std::string percent(double share);
// "950", "12.3 k", "4.56 M"; "1.20 GiB".
std::string short_count(double count);
std::string short_size(std::uint64_t bytes);
// As many '#' of `width` as `part` is of `largest`: at least one if `part` is more than 0.
std::string bar(double part, double largest, std::size_t width);

}  // namespace sheaf::cli
