#pragma once

// The version that a server reports: "7.0.15", "1.6.18", "1.4.5_4_gaa7839e". Anything after the
// third number is ignored.
//
// Thread rule: plain values.
// Pure: no socket, clock, entropy, thread or callback.

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sheaf::protocol {

struct ServerVersion {
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
  std::uint32_t patch = 0;

  // Nothing if the text does not begin with three numbers.
  static std::optional<ServerVersion> parse(std::string_view text) noexcept;
  std::string text() const;  // "7.0.15"
  friend auto operator<=>(const ServerVersion&, const ServerVersion&) = default;
};

}  // namespace sheaf::protocol
