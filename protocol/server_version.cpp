// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/server_version.h"

#include <array>
#include <charconv>

namespace sheaf::protocol {
namespace {

// Removes the number at the front and returns it.
std::optional<std::uint32_t> take_number(std::string_view& text) noexcept {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

}  // namespace

std::optional<ServerVersion> ServerVersion::parse(std::string_view text) noexcept {
  std::array<std::uint32_t, 3> numbers{};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (i > 0) {
      if (!text.starts_with('.')) return std::nullopt;
      text.remove_prefix(1);
    }
    const auto number = take_number(text);
    if (!number) return std::nullopt;
    numbers[i] = *number;
  }
  return ServerVersion{numbers[0], numbers[1], numbers[2]};
}

std::string ServerVersion::text() const {
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

}  // namespace sheaf::protocol
