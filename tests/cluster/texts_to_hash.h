#pragma once

// Texts for functions that hash many at once: empty, within a block, at its edge and beyond.

#include <string>
#include <string_view>
#include <vector>

namespace sheaf::test {

// Calls `check` with the first few of them, and with more and more, up to all.
template <class Check>
void for_more_and_more_texts(const Check& check) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < 500; ++i) {
    texts.push_back(std::string(i * 7 % 71, static_cast<char>('a' + i % 26)) + std::to_string(i));
  }
  texts.insert(texts.begin() + 2, "");
  for (std::size_t count = 0; count <= texts.size(); count = 2 * count + 1) {
    check(std::vector<std::string_view>(texts.begin(), texts.begin() + static_cast<long>(count)));
  }
}

}  // namespace sheaf::test
