#include "cli/show/ring_picture.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "cli/show/text_table.h"

namespace sheaf::cli {

std::string ring_picture(const std::vector<NodeShare>& shares, std::size_t width) {
  const bool counted =
      std::ranges::any_of(shares, [](const NodeShare& share) { return share.keys.has_value(); });
  std::vector<Column> columns = {{"NODE"}, {"WEIGHT", true}, {"SHARE", true}};
  if (counted) columns.push_back({"KEYS", true});
  std::vector<Row> rows;
  std::vector<double> parts;
  for (const NodeShare& share : shares) {
    std::vector<std::string>& row = rows.emplace_back().cells;
    row = {share.node, std::to_string(share.weight), percent(share.share)};
    if (counted) row.push_back(std::to_string(share.keys.value_or(0)));
    parts.push_back(share.share);
  }
  return bar_table(std::move(columns), std::move(rows), parts, width);
}

}  // namespace sheaf::cli
