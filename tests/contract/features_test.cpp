// README.md's table of the features of each kind of endpoint agrees with Client::supports.

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <vector>

#include "protocol/endpoint_kinds.h"

// Set by CMake: SHEAF_TEST_README.

namespace sheaf {
namespace {

std::string trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(' ');
  if (begin == text.npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(' ') - begin + 1));
}

// The cells after the first, by the first, from all tables.
std::map<std::string, std::vector<std::string>> table_rows() {
  std::map<std::string, std::vector<std::string>> rows;
  std::ifstream readme(SHEAF_TEST_README);
  for (std::string line; std::getline(readme, line);) {
    if (!line.starts_with('|')) continue;
    std::istringstream in(line.substr(1));
    std::vector<std::string> cells;
    for (std::string cell; std::getline(in, cell, '|');) cells.push_back(trimmed(cell));
    const std::string name = cells.front();
    cells.erase(cells.begin());
    rows[name] = std::move(cells);
  }
  return rows;
}

TEST(Features, TheTableInTheReadmeIsTrue) {
  const auto rows = table_rows();
  const EndpointKind kinds[] = {EndpointKind::state_store, EndpointKind::embedded,
                                EndpointKind::memcached, EndpointKind::redis};
  for (const Feature feature : all_features) {
    const std::string name(to_string(feature));
    const auto row = rows.find(name);
    ASSERT_NE(row, rows.end()) << "no row: " << name;
    ASSERT_GE(row->second.size(), std::size(kinds)) << name;
    for (std::size_t i = 0; i < std::size(kinds); ++i) {
      EXPECT_EQ(row->second[i].starts_with("yes"),
                protocol::traits_of(kinds[i]).features.has(feature))
          << name << ", " << to_string(kinds[i]);
    }
  }
}

TEST(Features, EveryOneHasANameOfItsOwn) {
  std::map<std::string_view, int> names;
  for (const Feature feature : all_features) ++names[to_string(feature)];
  EXPECT_EQ(names.size(), std::size(all_features));
  EXPECT_FALSE(names.contains("unknown"));
  EXPECT_EQ(to_string(static_cast<Feature>(all_features.size())), "unknown") << "not the last";
}

}  // namespace
}  // namespace sheaf
