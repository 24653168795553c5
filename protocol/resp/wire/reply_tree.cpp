// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/resp/wire/reply_tree.h"

#include <charconv>
#include <limits>

namespace sheaf::protocol::resp {
namespace {

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

// Takes the digits at the front; false if there are none.
bool take_digits(std::string_view& text) noexcept {
  std::size_t count = 0;
  while (count < text.size() && is_digit(text[count])) ++count;
  text.remove_prefix(count);
  return count > 0;
}

bool take_any(std::string_view& text, std::string_view of) noexcept {
  if (text.empty() || !of.contains(text.front())) return false;
  text.remove_prefix(1);
  return true;
}

// [-]digits[.digits][e[+-]digits]
bool is_real(std::string_view text) noexcept {
  take_any(text, "-");
  if (!take_digits(text)) return false;
  if (take_any(text, ".") && !take_digits(text)) return false;
  if (take_any(text, "eE")) {
    take_any(text, "+-");
    if (!take_digits(text)) return false;
  }
  return text.empty();
}

}  // namespace

std::optional<std::int64_t> parse_number(std::string_view text) noexcept {
  constexpr std::size_t most_digits = 19;
  const bool negative = text.starts_with('-');
  const std::string_view digits = text.substr(negative ? 1 : 0);
  if (digits.empty() || digits.size() > most_digits) return std::nullopt;
  if (digits.front() == '0' && (digits.size() > 1 || negative)) return std::nullopt;
  std::uint64_t value = 0;  // 19 digits fit
  for (const char c : digits) {
    if (!is_digit(c)) return std::nullopt;
    value = value * 10 + static_cast<unsigned>(c - '0');
  }
  constexpr auto most = std::uint64_t{std::numeric_limits<std::int64_t>::max()};
  if (value > most + (negative ? 1 : 0)) return std::nullopt;
  return static_cast<std::int64_t>(negative ? 0 - value : value);
}

std::optional<double> parse_real(std::string_view text) noexcept {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (text == "inf") return infinity;
  if (text == "-inf") return -infinity;
  if (text == "nan" || text == "-nan") return std::numeric_limits<double>::quiet_NaN();
  if (!is_real(text)) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::int64_t> Value::number() const noexcept {
  if (is(Type::number)) return static_cast<std::int64_t>(element_->value);
  return is_text() ? parse_number(text()) : std::nullopt;
}

std::optional<double> Value::real() const noexcept {
  if (is(Type::real)) return std::bit_cast<double>(element_->value);
  if (is(Type::number)) return static_cast<double>(static_cast<std::int64_t>(element_->value));
  return is_text() ? parse_real(text()) : std::nullopt;
}

std::optional<bool> Value::boolean() const noexcept {
  if (!is(Type::boolean) && !is(Type::number)) return std::nullopt;
  if (element_->value > 1) return std::nullopt;
  return element_->value == 1;
}

std::optional<Value> Value::at(std::uint32_t index) const noexcept {
  if (index >= size()) return std::nullopt;
  Iterator it = begin();
  while (index-- > 0) ++it;
  return *it;
}

std::optional<Value> Value::find(std::string_view key) const noexcept {
  const Iterator last = end();
  for (Iterator it = begin(); it != last; ++it) {
    const Value name = *it;
    if (++it == last) break;
    if (name.is_text() && name.text() == key) return *it;
  }
  return std::nullopt;
}

}  // namespace sheaf::protocol::resp
