#pragma once

// Text helpers: numbers, durations, hex, base64, UTF-8, and bytes made safe to print.

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sheaf {

// A number as decimal digits, in place: padded with zeros to at least `width` digits, at most 20.
class DecimalText {
 public:
  DecimalText() = default;
  explicit DecimalText(std::uint64_t number, std::size_t width = 1) noexcept;
  std::string_view view() const noexcept {
    return {digits_.data() + first_, digits_.size() - first_};
  }

 private:
  std::array<char, 20> digits_;
  std::size_t first_ = digits_.size();
};

// Parses all of `text` as decimal digits, without sign or blanks. Returns nothing if it is empty,
// not a number or too big.
std::optional<std::uint64_t> parse_decimal(std::string_view text) noexcept;

// Parses a number of bytes: an integer, optionally followed by KiB, MiB or GiB. Returns nothing
// otherwise or on overflow.
std::optional<std::uint64_t> parse_size(std::string_view text) noexcept;

// Parses an integer followed by ms, s, m or h ("250ms", "3s"). Returns nothing otherwise or on
// overflow.
std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) noexcept;
// The shortest text that parse_duration() reads: "1500ms", "3s", "2m".
std::string format_duration(std::chrono::milliseconds duration);
// For people: "12.3 ms", "1.20 s", "85 us".
std::string format_elapsed(std::chrono::nanoseconds elapsed);

// RFC 4648 base16, upper case.
std::string hex_encode(std::string_view bytes);
void hex_append(std::string& out, std::string_view bytes);
// Accepts either case. Returns nothing if the length is odd or a digit is wrong.
std::optional<std::string> hex_decode(std::string_view text);

// RFC 4648 base64 with padding; the decoder is strict.
std::string base64_encode(std::string_view bytes);
std::optional<std::string> base64_decode(std::string_view text);

// A moment since 1970 as RFC 3339, UTC: "2026-01-31T09:05:00.007Z".
std::string format_utc(std::chrono::milliseconds wall);

// Removes the part of `text` before `separator`, and the separator, from its front and returns the
// part; all of `text` if there is no separator.
constexpr std::string_view take_until(std::string_view& text, char separator) noexcept {
  const std::size_t at = text.find(separator);
  const std::string_view part = text.substr(0, at);
  text.remove_prefix(at == text.npos ? text.size() : at + 1);
  return part;
}

// As `to.assign(text)`, for a text that is no part of `to`: with fewer instructions.
inline void overwrite(std::string& to, std::string_view text) {
  to.resize_and_overwrite(text.size(),
                          [text](char* bytes, std::size_t size) { return text.copy(bytes, size); });
}

// `text` without the characters of `blanks` at its ends.
constexpr std::string_view trimmed(std::string_view text, std::string_view blanks) noexcept {
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) + 1 - first);
}

// Lower-cases an ASCII letter; returns any other byte unchanged.
constexpr char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// True if the texts are equal, whatever the case of ASCII letters.
bool equals_ignoring_case(std::string_view a, std::string_view b) noexcept;

// True if `part` occurs in the text, whatever the case of ASCII letters.
bool contains_ignoring_case(std::string_view text, std::string_view part) noexcept;

// True if the text is well-formed UTF-8 (RFC 3629: no surrogates, no overlong forms).
bool is_utf8(std::string_view text) noexcept;

// At most `limit` bytes; everything but printable ASCII as \xNN; "..." if cut.
std::string printable(std::string_view bytes, std::size_t limit = 64);

// Replaces every occurrence of a secret with "...". An empty secret changes nothing.
std::string without(std::string_view text, std::string_view secret);

// True if the host is the path of a Unix socket.
inline bool is_path(std::string_view host) noexcept { return host.starts_with('/'); }
// "host:port", with an IPv6 address in brackets.
std::string join_host_port(std::string_view host, std::uint16_t port);

}  // namespace sheaf
