#pragma once

// NameFilter: says at once of most names, in any case, that they are not in a table of commands, by
// their first letter and their size.
//
// Thread rule: a constant.
// Pure: no socket, clock, entropy, thread or callback.

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <string_view>

namespace sheaf::protocol::resp {

class NameFilter {
 public:
  template <class Table, class Name>
  constexpr NameFilter(const Table& table, Name name) noexcept {
    for (const auto& row : table) {
      const std::string_view text = std::invoke(name, row);
      sizes_[letter(text)] |= size(text);
    }
  }

  constexpr bool may_have(std::string_view name) const noexcept {
    return !name.empty() && (sizes_[letter(name)] & size(name)) != 0;
  }

 private:
  // The same in both cases.
  static constexpr std::size_t letter(std::string_view name) noexcept {
    return static_cast<unsigned char>(name.front()) % 32;
  }
  static constexpr std::uint32_t size(std::string_view name) noexcept {
    return std::uint32_t{1} << std::min<std::size_t>(name.size(), 31);
  }

  std::array<std::uint32_t, 32> sizes_{};
};

}  // namespace sheaf::protocol::resp
