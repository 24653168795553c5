// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/memcached/meta_lines.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <utility>

#include "base/text.h"
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

// RFC 4648 with padding, without an allocation.
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

// Returns the flag that says how the key is encoded.
std::string_view put_key(ByteWriter& out, std::string_view key) {
  if (is_plain_key(key)) {
    out.bytes(key);
    return {};
  }
  put_base64(out, key);
  return " b";
}

// The opaque is the last flag.
void end_line(ByteWriter& out, std::uint32_t opaque) {
  std::array<char, 12> text{' ', 'O'};
  char* const end = std::to_chars(text.data() + 2, text.data() + text.size(), opaque, 16).ptr;
  out.bytes({text.data(), std::ranges::copy(line_end, end).out});
}

// False if it is not a number, or if the number was already set.
template <class Number>
bool read_number(std::string_view text, std::optional<Number>& number) noexcept {
  const auto read = parse_decimal(text);
  if (number || !read || *read > std::numeric_limits<Number>::max()) return false;
  number = static_cast<Number>(*read);
  return true;
}

bool read_opaque(std::string_view text, std::optional<std::uint32_t>& opaque) noexcept {
  std::uint32_t read = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), read, 16);
  if (opaque || error != std::errc() || end != text.data() + text.size()) return false;
  opaque = read;
  return true;
}

// Takes the text up to the next blank, and the blank.
std::string_view take_word(std::string_view& line) noexcept {
  const std::size_t size = std::min(line.find(' '), line.size());
  const std::string_view word = line.substr(0, size);
  line.remove_prefix(std::min(size + 1, line.size()));
  return word;
}

// Reads a blank and a number at `at`, and moves `at` past them.
template <class Number>
bool take_listed(std::string_view text, std::size_t& at, Number& number) noexcept {
  constexpr auto safe = static_cast<std::size_t>(std::numeric_limits<Number>::digits10);
  if (at == text.size() || text[at] != ' ') return false;
  const std::size_t first = at + 1;
  std::size_t end = first;
  Number read = 0;
  for (; end < text.size(); ++end) {
    const unsigned digit = static_cast<unsigned char>(text[end]) - unsigned{'0'};
    if (digit > 9) break;
    read = static_cast<Number>(read * 10 + digit);
  }
  at = end;
  number = read;
  if (end - first <= safe) return end > first;
  std::optional<Number> exact;
  return read_number(text.substr(first, end - first), exact) && *exact == read;
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
      return read_opaque(token, line.opaque);
    case 'c':
      return read_number(token, line.cas);
    case 'f':
      return read_number(token, line.flags);
    case 't':
      if (std::exchange(line.tells_ttl, true)) return false;
      return token == "-1" || read_number(token, line.ttl);
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
  out.bytes(put_key(out, key));
  out.bytes(value ? " v f c" : " f c");
  if (ttl) put_flag(out, 't');
  if (touch) put_number(out, 'T', *touch);
  if (lease) put_number(out, 'N', *lease);
  end_line(out, opaque);
}

void MetaSet::encode(ByteWriter& out) const {
  out.bytes("ms ");
  const std::string_view key_flag = put_key(out, key);
  out.u8(' ');
  out.decimal(size);
  out.bytes(key_flag);
  out.bytes(" c");
  if (mode != Mode::set) {
    put_flag(out, 'M');
    out.u8(static_cast<std::uint8_t>(mode));
  }
  if (flags != 0) put_number(out, 'F', flags);
  if (expiry != 0) put_number(out, 'T', expiry);
  if (cas != 0) put_number(out, 'C', cas);
  end_line(out, opaque);
}

void MetaRemove::encode(ByteWriter& out) const {
  out.bytes("md ");
  out.bytes(put_key(out, key));
  if (cas != 0) put_number(out, 'C', cas);
  end_line(out, opaque);
}

void MetaArithmetic::encode(ByteWriter& out) const {
  out.bytes("ma ");
  out.bytes(put_key(out, key));
  out.bytes(" v c");
  if (decrement) {
    put_flag(out, 'M');
    out.u8('D');
  }
  put_number(out, 'D', delta);
  if (initial) {
    put_number(out, 'N', expiry);
    put_number(out, 'J', *initial);
  }
  end_line(out, opaque);
}

void MetaDebug::encode(ByteWriter& out) const {
  out.bytes("me ");
  out.bytes(put_key(out, key));
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

// Parsed by hand: a large batch has a thousand of them.
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
