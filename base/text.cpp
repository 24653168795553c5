#include "base/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <limits>
#include <utility>

namespace sheaf {
namespace {

using std::chrono::milliseconds;

struct Unit {
  std::string_view suffix;
  std::int64_t factor;  // milliseconds
};
constexpr std::array time_units{Unit{"h", 3'600'000}, Unit{"m", 60'000}, Unit{"s", 1'000},
                                Unit{"ms", 1}};

struct Size {
  std::string_view suffix;
  unsigned bits;
};
constexpr std::array size_units{Size{"KiB", 10}, Size{"MiB", 20}, Size{"GiB", 30}};

// Tests eight bytes at a time: true if no byte has its top bit set.
bool ascii_block(const char* at) noexcept {
  std::uint64_t block = 0;
  std::memcpy(&block, at, sizeof block);
  return (block & 0x8080'8080'8080'8080u) == 0;
}

// The size of the well-formed sequence at the front; 0 if it is not well-formed. RFC 3629 §4 has
// the table of permitted second bytes.
std::size_t utf8_sequence(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const auto in = [&](std::size_t i, unsigned low, unsigned high) {
    return i < text.size() && byte(i) >= low && byte(i) <= high;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first < 0xC2 || first > 0xF4) return 0;
  if (first < 0xE0) return in(1, 0x80, 0xBF) ? 2 : 0;
  if (first < 0xF0) {
    const unsigned low = first == 0xE0 ? 0xA0 : 0x80;
    const unsigned high = first == 0xED ? 0x9F : 0xBF;
    return in(1, low, high) && in(2, 0x80, 0xBF) ? 3 : 0;
  }
  const unsigned low = first == 0xF0 ? 0x90 : 0x80;
  const unsigned high = first == 0xF4 ? 0x8F : 0xBF;
  return in(1, low, high) && in(2, 0x80, 0xBF) && in(3, 0x80, 0xBF) ? 4 : 0;
}

int hex_digit(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

constexpr std::string_view base64_digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<std::int8_t, 256> base64_values() {
  std::array<std::int8_t, 256> values{};
  for (auto& value : values) value = -1;
  for (std::size_t i = 0; i < base64_digits.size(); ++i) {
    values[static_cast<std::uint8_t>(base64_digits[i])] = static_cast<std::int8_t>(i);
  }
  return values;
}
constexpr auto digit_values = base64_values();

// "00", "01" to "99".
constexpr auto digit_pairs = [] {
  std::array<std::array<char, 2>, 100> pairs{};
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    pairs[i] = {static_cast<char>('0' + i / 10), static_cast<char>('0' + i % 10)};
  }
  return pairs;
}();

// `value` / `unit` with three significant digits; value / unit is at least 1.
std::string three_digits(std::uint64_t value, std::uint64_t unit) {
  const auto scaled = [&](std::uint64_t scale) { return (value * scale + unit / 2) / unit; };
  for (const auto& [scale, decimals] : {std::pair{100u, 2u}, {10u, 1u}}) {
    if (scaled(scale) >= 1'000) continue;
    std::string text = std::to_string(scaled(scale));
    text.insert(text.size() - decimals, ".");
    return text;
  }
  return std::to_string(scaled(1));
}

// A number with any count of digits; nothing if it does not fit 64 bits.
std::optional<std::uint64_t> parse_long_decimal(std::string_view text) noexcept {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc{} || at != end) return std::nullopt;
  return value;
}

std::string format_positive(std::uint64_t ns) {
  if (ns < 1'000) return std::to_string(ns) + " ns";
  const std::uint64_t us = (ns + 500) / 1'000;
  if (us < 1'000) return std::to_string(us) + " us";
  if (us < 999'500) return three_digits(us, 1'000) + " ms";
  return three_digits((us + 500) / 1'000, 1'000) + " s";
}

}  // namespace

// Writes two digits per division.
DecimalText::DecimalText(std::uint64_t number, std::size_t width) noexcept {
  char* at = digits_.data() + digits_.size();
  for (; number >= 10; number /= 100) {
    at -= 2;
    std::memcpy(at, digit_pairs[number % 100].data(), 2);
  }
  first_ = static_cast<std::size_t>(at - digits_.data());
  if (number > 0) digits_[--first_] = static_cast<char>('0' + number);
  while (digits_.size() - first_ < width) digits_[--first_] = '0';
}

std::optional<std::uint64_t> parse_decimal(std::string_view text) noexcept {
  constexpr std::size_t safe = std::numeric_limits<std::uint64_t>::digits10;
  if (text.empty() || text.size() > safe) return parse_long_decimal(text);
  std::uint64_t value = 0;
  for (const char c : text) {
    const unsigned digit = static_cast<unsigned char>(c) - unsigned{'0'};
    if (digit > 9) return std::nullopt;
    value = value * 10 + digit;
  }
  return value;
}

std::optional<std::uint64_t> parse_size(std::string_view text) noexcept {
  unsigned shift = 0;
  for (const auto& [suffix, bits] : size_units) {
    if (!text.ends_with(suffix)) continue;
    text.remove_suffix(suffix.size());
    shift = bits;
    break;
  }
  const auto number = parse_decimal(text);
  if (!number || *number > std::numeric_limits<std::uint64_t>::max() >> shift) return std::nullopt;
  return *number << shift;
}

std::optional<milliseconds> parse_duration(std::string_view text) noexcept {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto number = parse_decimal(text.substr(0, digits));
  if (!number) return std::nullopt;
  for (const Unit& unit : time_units) {
    if (text.substr(digits) != unit.suffix) continue;
    constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (*number > most / static_cast<std::uint64_t>(unit.factor)) return std::nullopt;
    return milliseconds(static_cast<std::int64_t>(*number) * unit.factor);
  }
  return std::nullopt;
}

std::string format_duration(milliseconds duration) {
  const std::int64_t count = duration.count();
  if (count == 0) return "0ms";
  for (const Unit& unit : time_units) {
    if (count % unit.factor != 0) continue;
    return std::to_string(count / unit.factor).append(unit.suffix);
  }
  return std::to_string(count) + "ms";
}

std::string format_elapsed(std::chrono::nanoseconds elapsed) {
  const std::int64_t count = elapsed.count();
  if (count >= 0) return format_positive(static_cast<std::uint64_t>(count));
  return "-" + format_positive(0 - static_cast<std::uint64_t>(count));
}

void hex_append(std::string& out, std::string_view bytes) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  out.reserve(out.size() + 2 * bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<std::uint8_t>(c);
    out.push_back(digits[byte >> 4]);
    out.push_back(digits[byte & 15]);
  }
}

std::string hex_encode(std::string_view bytes) {
  std::string out;
  hex_append(out, bytes);
  return out;
}

std::optional<std::string> hex_decode(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  std::string out;
  out.reserve(text.size() / 2);
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const int high = hex_digit(text[i]);
    const int low = hex_digit(text[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    out.push_back(static_cast<char>(static_cast<std::uint8_t>(high << 4 | low)));
  }
  return out;
}

std::string base64_encode(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::string_view group = bytes.substr(i, 3);
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      bits = bits << 8 | (k < group.size() ? static_cast<std::uint8_t>(group[k]) : 0u);
    }
    for (unsigned k = 0; k < 4; ++k) {
      out.push_back(k <= group.size() ? base64_digits[bits >> (18 - 6 * k) & 63] : '=');
    }
  }
  return out;
}

std::optional<std::string> base64_decode(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::string out;
  out.reserve(text.size() / 4 * 3);
  for (std::size_t i = 0; i < text.size(); i += 4) {
    std::string_view group = text.substr(i, 4);
    if (i + 4 == text.size()) {
      for (int k = 0; k < 2 && group.ends_with('='); ++k) group.remove_suffix(1);
    }
    std::uint32_t bits = 0;
    for (const char c : group) {
      const std::int8_t value = digit_values[static_cast<std::uint8_t>(c)];
      if (value < 0) return std::nullopt;
      bits = bits << 6 | static_cast<std::uint32_t>(value);
    }
    bits <<= 6 * (4 - group.size());
    // Unused bits must be zero (RFC 4648 §3.5), so that each text has one spelling.
    if ((bits & (0xFFFFFFu >> (8 * (group.size() - 1)))) != 0) return std::nullopt;
    for (std::size_t k = 1; k < group.size(); ++k) {
      out.push_back(static_cast<char>(static_cast<std::uint8_t>(bits >> (24 - 8 * k))));
    }
  }
  return out;
}

bool equals_ignoring_case(std::string_view a, std::string_view b) noexcept {
  return std::ranges::equal(a, b, {}, lower, lower);
}

bool contains_ignoring_case(std::string_view text, std::string_view part) noexcept {
  return part.empty() || !std::ranges::search(text, part, {}, lower, lower).empty();
}

bool is_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    if (text.size() >= 8 && ascii_block(text.data())) {
      text.remove_prefix(8);
      continue;
    }
    const std::size_t size = utf8_sequence(text);
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

std::string printable(std::string_view bytes, std::size_t limit) {
  std::string out;
  out.reserve(std::min(bytes.size(), limit) + 3);
  for (const char c : bytes.substr(0, limit)) {
    if (c >= ' ' && c <= '~') {
      out.push_back(c);
    } else {
      out.append("\\x");
      hex_append(out, {&c, 1});
    }
  }
  if (bytes.size() > limit) out.append("...");
  return out;
}

std::string without(std::string_view text, std::string_view secret) {
  std::string out;
  while (!secret.empty()) {
    const std::size_t at = text.find(secret);
    if (at == text.npos) break;
    out.append(text.substr(0, at)).append("...");
    text.remove_prefix(at + secret.size());
  }
  return out.append(text);
}

std::string join_host_port(std::string_view host, std::uint16_t port) {
  std::string out;
  out.reserve(host.size() + 8);
  const bool brackets = host.find(':') != std::string_view::npos;
  if (brackets) out.push_back('[');
  out.append(host);
  if (brackets) out.push_back(']');
  out.push_back(':');
  out.append(std::to_string(port));
  return out;
}

std::string format_utc(std::chrono::milliseconds wall) {
  using namespace std::chrono;
  const auto day = floor<days>(wall);
  const year_month_day date{sys_days(day)};
  const hh_mm_ss time(wall - day);
  char text[64];
  std::snprintf(text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ",
                static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()), static_cast<int>(time.hours().count()),
                static_cast<int>(time.minutes().count()), static_cast<int>(time.seconds().count()),
                static_cast<int>(time.subseconds().count()));
  return text;
}

}  // namespace sheaf
