#include "cli/show/ring_picture.h"

#include <algorithm>
#include <cstddef>

#include "cli/show/text_table.h"

namespace sheaf::cli {

std::string ring_picture(const std::vector<NodeShare>& shares, std::size_t width) {
  double largest = 0;
  bool counted = false;
  for (const NodeShare& share : shares) {
    largest = std::max(largest, share.share);
    counted = counted || share.keys.has_value();
  }
  std::vector<Column> columns = {{"NODE"}, {"WEIGHT", true}, {"SHARE", true}};
  if (counted) columns.push_back({"KEYS", true});
  columns.push_back({""});
  std::vector<Row> rows;
  for (const NodeShare& share : shares) {
    std::vector<std::string>& row = rows.emplace_back().cells;
    row = {share.node, std::to_string(share.weight), percent(share.share)};
    if (counted) row.push_back(std::to_string(share.keys.value_or(0)));
    row.push_back(bar(share.share, largest, width));
  }
  return text_table(columns, rows);
}

}  // namespace sheaf::cli
