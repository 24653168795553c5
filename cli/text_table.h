#pragma once

// Columns of text, as wide as their widest cell.
//
// Thread rule: pure function.

#include <string>
#include <vector>

namespace sheaf::cli {

struct Column {
  std::string title;
  bool right = false;  // Aligned to the right, for numbers.
};

// The titles and the rows, two blanks between columns, no blanks at the end of a line. Every row
// has as many cells as there are columns.
std::string text_table(const std::vector<Column>& columns,
                       const std::vector<std::vector<std::string>>& rows);

}  // namespace sheaf::cli
