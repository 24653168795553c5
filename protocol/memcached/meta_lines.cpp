// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/memcached/meta_lines.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <utility>

#include "protocol/memcached/header.h"
#include "protocol/memcached/rules.h"

namespace sheaf::protocol::memcached {
namespace {

using Code = ReplyLine::Code;

void put_flag(ByteWriter& out, char letter) {
  out.u8(' ');
  out.u8(static_cast<std::uint8_t>(letter));
}

void put_number(ByteWriter& out, char letter, std::uint64_t number) {
  put_flag(out, letter);
  out.decimal(number);
}

// RFC 4648 with padding, without an allocation of its own.
void put_base64(ByteWriter& out, std::string_view bytes) {
  static constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (; !bytes.empty(); bytes.remove_prefix(std::min<std::size_t>(3, bytes.size()))) {
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      group = group << 8 | (i < bytes.size() ? static_cast<std::uint8_t>(bytes[i]) : 0u);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      const char digit = i <= bytes.size() ? digits[group >> (18 - 6 * i) & 0x3f] : '=';
      out.u8(static_cast<std::uint8_t>(digit));
    }
  }
}

void put_key(ByteWriter& out, std::string_view key) {
  if (is_plain_key(key)) {
    out.bytes(key);
  } else {
    put_base64(out, key);
  }
}

// The flag of a key that went as base64.
void put_key_flag(ByteWriter& out, std::string_view key) {
  if (!is_plain_key(key)) put_flag(out, 'b');
}

void put_opaque(ByteWriter& out, std::uint32_t opaque) {
  std::array<char, 8> digits{};
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), opaque, 16);
  put_flag(out, 'O');
  out.bytes({digits.data(), static_cast<std::size_t>(end - digits.data())});
}

template <class Number>
bool read_number(std::string_view text, std::optional<Number>& number, int base = 10) noexcept {
  Number read = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), read, base);
  if (number || error != std::errc() || end != text.data() + text.size()) return false;
  number = read;
  return true;
}

// Up to the next blank; the blank goes, too.
std::string_view take_word(std::string_view& line) noexcept {
  const std::size_t size = std::min(line.find(' '), line.size());
  const std::string_view word = line.substr(0, size);
  line.remove_prefix(std::min(size + 1, line.size()));
  return word;
}

// A blank and a number from `at` on, which moves past them.
template <class Number>
bool take_listed(std::string_view text, std::size_t& at, Number& number) noexcept {
  constexpr auto safe = static_cast<std::size_t>(std::numeric_limits<Number>::digits10);
  if (at == text.size() || text[at] != ' ') return false;
  const std::size_t first = ++at;
  Number read = 0;
  for (; at < text.size(); ++at) {
    const unsigned digit = static_cast<unsigned char>(text[at]) - unsigned{'0'};
    if (digit > 9) break;
    read = static_cast<Number>(read * 10 + digit);
  }
  number = read;
  if (at - first <= safe) return at > first;
  std::optional<Number> exact;
  return read_number(text.substr(first, at - first), exact) && *exact == number;
}

Code code_of(std::string_view word) noexcept {
  static constexpr std::array<std::pair<std::string_view, Code>, 15> codes{{
      {"HD", Code::ok},
      {"VA", Code::value},
      {"EN", Code::miss},
      {"NF", Code::not_found},
      {"NS", Code::not_stored},
      {"EX", Code::exists},
      {"MN", Code::no_op},
      {"ME", Code::debug},
      {"VERSION", Code::version},
      {"STAT", Code::stat},
      {"END", Code::end},
      {"STORED", Code::stored},
      {"ERROR", Code::error},
      {"CLIENT_ERROR", Code::client_error},
      {"SERVER_ERROR", Code::server_error},
  }};
  for (const auto& [name, code] : codes) {
    if (name == word) return code;
  }
  return Code::other;
}

bool read_flag(std::string_view flag, ReplyLine& line) noexcept {
  const std::string_view token = flag.substr(1);
  switch (flag.front()) {
    case 'O':
      return read_number(token, line.opaque, 16);
    case 'c':
      return read_number(token, line.cas);
    case 'f':
      return read_number(token, line.flags);
    case 'W':
      line.won = true;
      return token.empty();
    case 'Z':
      line.taken = true;
      return token.empty();
    case 'X':
      line.stale = true;
      return token.empty();
    default:
      return true;
  }
}

}  // namespace

void MetaGet::encode(ByteWriter& out) const {
  out.bytes("mg ");
  put_key(out, key);
  put_key_flag(out, key);
  if (value) put_flag(out, 'v');
  put_flag(out, 'f');
  put_flag(out, 'c');
  if (touch) put_number(out, 'T', *touch);
  if (lease) put_number(out, 'N', *lease);
  put_opaque(out, opaque);
  out.bytes(line_end);
}

void MetaSet::encode(ByteWriter& out) const {
  out.bytes("ms ");
  put_key(out, key);
  out.u8(' ');
  out.decimal(size);
  put_key_flag(out, key);
  put_flag(out, 'c');
  if (mode != Mode::set) {
    put_flag(out, 'M');
    out.u8(static_cast<std::uint8_t>(mode));
  }
  if (flags != 0) put_number(out, 'F', flags);
  if (expiry != 0) put_number(out, 'T', expiry);
  if (cas != 0) put_number(out, 'C', cas);
  put_opaque(out, opaque);
  out.bytes(line_end);
}

void MetaRemove::encode(ByteWriter& out) const {
  out.bytes("md ");
  put_key(out, key);
  put_key_flag(out, key);
  if (cas != 0) put_number(out, 'C', cas);
  put_opaque(out, opaque);
  out.bytes(line_end);
}

void MetaArithmetic::encode(ByteWriter& out) const {
  out.bytes("ma ");
  put_key(out, key);
  put_key_flag(out, key);
  put_flag(out, 'v');
  put_flag(out, 'c');
  if (decrement) {
    put_flag(out, 'M');
    out.u8('D');
  }
  put_number(out, 'D', delta);
  if (initial) {
    put_number(out, 'N', expiry);
    put_number(out, 'J', *initial);
  }
  put_opaque(out, opaque);
  out.bytes(line_end);
}

void MetaDebug::encode(ByteWriter& out) const {
  out.bytes("me ");
  put_key(out, key);
  put_key_flag(out, key);
  out.bytes(line_end);
}

std::optional<ReplyLine> ReplyLine::parse(std::string_view line) noexcept {
  ReplyLine reply;
  reply.code = code_of(take_word(line));
  if (reply.code >= Code::debug) {
    reply.text = line;
    return reply;
  }
  if (reply.code == Code::value) {
    std::optional<std::size_t> size;
    if (!read_number(take_word(line), size)) return std::nullopt;
    reply.size = *size;
  }
  while (!line.empty()) {
    const std::string_view flag = take_word(line);  // before 1.6.18 there are stray blanks
    if (!flag.empty() && !read_flag(flag, reply)) return std::nullopt;
  }
  return reply;
}

// Read by hand: a large batch has a thousand of them.
std::optional<ListedHead> ListedHead::parse(std::string_view text) noexcept {
  std::size_t at = text.find(' ');
  if (at == 0 || at == std::string_view::npos) return std::nullopt;
  ListedHead head;
  head.key = text.substr(0, at);
  const bool good = take_listed(text, at, head.flags) && take_listed(text, at, head.size) &&
                    take_listed(text, at, head.cas) && at == text.size();
  return good ? std::optional(head) : std::nullopt;
}

}  // namespace sheaf::protocol::memcached
