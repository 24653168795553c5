#include "cli/show/slot_picture.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>

#include "cli/show/text_table.h"

namespace sheaf::cli {
namespace {

constexpr std::string_view node_marks =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
constexpr char further_mark = '#';  // for all owners without a letter
constexpr char no_mark = '.';
constexpr std::uint32_t slots_of_a_mark = 64;
constexpr std::uint32_t marks_of_a_line = 64;
constexpr std::size_t longest_ranges = 18;

char mark_of(std::size_t owner) noexcept {
  return owner < node_marks.size() ? node_marks[owner] : further_mark;
}

std::string range_text(const SlotRange& range) {
  std::string text = std::to_string(range.first);
  return range.first == range.last ? text : text + "-" + std::to_string(range.last);
}

// The owner of each slot: its index among the owners + 1, or 0 without an owner.
std::vector<std::size_t> owner_of_slots(const std::vector<ClusterServer>& owners) {
  std::vector<std::size_t> owner_of(slots_of_a_cluster, 0);
  for (std::size_t i = 0; i < owners.size(); ++i) {
    for (const SlotRange& range : owners[i].slots) {
      for (std::uint32_t slot = range.first; slot <= range.last && slot < owner_of.size(); ++slot) {
        owner_of[slot] = i + 1;
      }
    }
  }
  return owner_of;
}

std::string strip(const std::vector<ClusterServer>& owners) {
  const std::vector<std::size_t> owner_of = owner_of_slots(owners);
  std::vector<std::uint32_t> counts(owners.size() + 1);
  std::string text;
  for (std::uint32_t first = 0; first < slots_of_a_cluster; first += slots_of_a_mark) {
    if (first % (slots_of_a_mark * marks_of_a_line) == 0) {
      std::array<char, 16> label{};
      std::snprintf(label.data(), label.size(), "\n%5u  ", first);
      text += label.data();
    }
    std::ranges::fill(counts, 0);
    for (std::uint32_t i = 0; i < slots_of_a_mark; ++i) ++counts[owner_of[first + i]];
    const auto most = std::ranges::max_element(counts) - counts.begin();
    text += most == 0 ? no_mark : mark_of(static_cast<std::size_t>(most) - 1);
  }
  return text + "\n";
}

}  // namespace

std::uint32_t count_slots(const std::vector<SlotRange>& ranges) {
  std::uint32_t count = 0;
  for (const SlotRange& range : ranges) count += range.last - range.first + 1;
  return count;
}

std::string ranges_text(const std::vector<SlotRange>& ranges) {
  std::string text;
  for (const SlotRange& range : ranges) {
    if (!text.empty()) text += ", ";
    text += range_text(range);
    if (text.size() <= longest_ranges) continue;
    return std::to_string(ranges.size()) + " ranges";
  }
  return text.empty() ? "-" : text;
}

std::string slot_picture(const std::vector<ClusterServer>& owners,
                         const std::vector<NodeShare>& shares) {
  const bool counted = std::ranges::any_of(shares, [](const auto& share) { return !!share.keys; });
  std::vector<Column> columns = {{""}, {"NODE"}, {"SLOTS", true}, {"SHARE", true}};
  if (counted) columns.push_back({"KEYS", true});
  std::vector<Row> rows;
  for (std::size_t i = 0; i < owners.size(); ++i) {
    std::vector<std::string>& row = rows.emplace_back().cells;
    row = {std::string(1, mark_of(i)), owners[i].node, std::to_string(count_slots(owners[i].slots)),
           percent(shares[i].share)};
    if (counted) row.push_back(std::to_string(shares[i].keys.value_or(0)));
  }
  return text_table(columns, rows) + strip(owners);
}

}  // namespace sheaf::cli
