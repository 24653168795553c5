// Pure: no socket, clock, entropy, thread or callback.

#include "client/runtime/token_end.h"

#include <cstddef>

#include "base/secret.h"
#include "base/text.h"

namespace sheaf::client::runtime {
namespace {

constexpr std::uint64_t last_second = 253'402'300'799;  // of the year 9999

int digit(char c) noexcept {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '-' ? 62 : c == '_' ? 63 : -1;
}

// base64url without padding (RFC 7515, appendix C); empty if it is malformed.
Secret decode(std::string_view text) {
  Secret out(text.size() * 3 / 4);
  std::size_t size = 0;
  unsigned bits = 0;
  unsigned held = 0;
  for (const char c : text) {
    const int value = digit(c);
    if (value < 0) return {};
    held = (held << 6 | static_cast<unsigned>(value)) & 0xFFFu;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    out.writable()[size++] = static_cast<char>(held >> bits & 0xFFu);
  }
  out.shrink(size);
  return out;
}

// Walks over the members of one JSON object.
class Members {
 public:
  explicit Members(std::string_view text) noexcept : rest_(text) {}

  // The number of the member with this name, without its fraction; nothing if it is missing.
  std::optional<std::uint64_t> number(std::string_view name) {
    if (!take('{')) return std::nullopt;
    while (true) {
      const auto found = string();
      if (!found || !take(':')) return std::nullopt;
      if (*found == name) return whole_number();
      if (!skip_value() || !take(',')) return std::nullopt;
    }
  }

 private:
  void skip_blanks() noexcept {
    const std::size_t at = rest_.find_first_not_of(" \t\r\n");
    rest_.remove_prefix(at == rest_.npos ? rest_.size() : at);
  }
  bool take(char c) noexcept {
    skip_blanks();
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  // As written, between its quotes.
  std::optional<std::string_view> string() noexcept {
    if (!take('"')) return std::nullopt;
    for (std::size_t i = 0; i < rest_.size(); ++i) {
      if (rest_[i] == '\\') {
        ++i;
      } else if (rest_[i] == '"') {
        const std::string_view found = rest_.substr(0, i);
        rest_.remove_prefix(i + 1);
        return found;
      }
    }
    return std::nullopt;
  }
  std::optional<std::uint64_t> whole_number() noexcept {
    skip_blanks();
    const std::size_t end = rest_.find_first_not_of("0123456789");
    return parse_decimal(rest_.substr(0, end));
  }
  // Skips objects and arrays with everything in them. Malformed JSON is for the server to find.
  bool skip_value() noexcept {
    std::size_t depth = 0;
    do {
      skip_blanks();
      if (rest_.empty()) return false;
      const char c = rest_.front();
      if (c == '"') {
        if (!string()) return false;
        continue;
      }
      if (c == '{' || c == '[') ++depth;
      if (c == '}' || c == ']') {
        if (depth == 0) return false;
        --depth;
      }
      const std::size_t next = depth == 0 ? rest_.find_first_of(",}") : 1;
      rest_.remove_prefix(std::min(c == '}' || c == ']' ? 1 : next, rest_.size()));
    } while (depth > 0);
    return true;
  }

  std::string_view rest_;
};

}  // namespace

std::optional<std::chrono::milliseconds> token_end(std::string_view token) {
  const std::size_t first = token.find('.');
  if (first == token.npos) return std::nullopt;
  const std::string_view rest = token.substr(first + 1);
  const std::size_t second = rest.find('.');
  if (second == rest.npos) return std::nullopt;
  const Secret payload = decode(rest.substr(0, second));
  const auto exp = Members(payload.view()).number("exp");
  if (!exp || *exp > last_second) return std::nullopt;
  return std::chrono::seconds(static_cast<std::int64_t>(*exp));
}

}  // namespace sheaf::client::runtime
