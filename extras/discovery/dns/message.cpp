// Pure: no socket, clock, entropy, thread or callback.

#include "extras/discovery/dns/message.h"

#include <algorithm>
#include <optional>

#include "base/byte_reader.h"
#include "base/text.h"

namespace sheaf::discovery::dns {
namespace {

constexpr std::uint16_t type_cname = 5;
constexpr std::uint16_t type_srv = 33;
constexpr std::uint16_t class_internet = 1;

constexpr std::uint16_t is_response = 0x8000;
constexpr std::uint16_t operation = 0x7800;  // 0: an ordinary question
constexpr std::uint16_t truncation = 0x0200;
constexpr std::uint16_t recursion_desired = 0x0100;
constexpr std::uint16_t response_code = 0x000f;

constexpr std::size_t max_label = 63;
constexpr std::size_t max_wire_name = 255;
// Limit for one name: it has no more parts, and each may follow a pointer.
constexpr std::size_t max_pointers = 127;
// Limit for a chain of aliases.
constexpr std::size_t max_aliases = 16;

bool is_name_byte(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

// A byte that host names do not have is written as in a zone file (RFC 1035 §5.1), so that the text
// differs from every other name.
void append_label(std::string& name, std::string_view label) {
  if (!name.empty()) name += '.';
  for (const char byte : label) {
    const char c = lower(byte);
    if (is_name_byte(c)) {
      name += c;
    } else {
      name.append("\\").append(DecimalText(static_cast<std::uint8_t>(c), 3).view());
    }
  }
}

// Reads the name at `at`, and moves `at` past it. A pointer must lead to a place before the part
// that it ends (RFC 1035 §4.1.4), so there is no cycle.
std::optional<std::string> read_name(std::string_view message, std::size_t& at) {
  std::string name;
  std::size_t wire_size = 1;
  std::size_t pointers = 0;
  std::size_t begin = at;
  bool moved = false;  // `at` is already past the name
  for (std::size_t i = at; i < message.size();) {
    const auto size = static_cast<std::uint8_t>(message[i]);
    if (size == 0) {
      if (!moved) at = i + 1;
      return name;
    }
    if (size > max_label) {
      if ((size & 0xc0) != 0xc0 || i + 1 == message.size()) return std::nullopt;
      const std::size_t target = (size & 0x3fu) << 8 | static_cast<std::uint8_t>(message[i + 1]);
      if (target >= begin || ++pointers > max_pointers) return std::nullopt;
      if (!moved) at = i + 2;
      moved = true;
      begin = i = target;
      continue;
    }
    wire_size += size + 1u;
    if (wire_size > max_wire_name || size >= message.size() - i) return std::nullopt;
    append_label(name, message.substr(i + 1, size));
    i += size + 1u;
  }
  return std::nullopt;
}

std::uint16_t u16(std::string_view message, std::size_t at) {
  return ByteReader(message.substr(at, 2)).u16();
}

// The part of a record after the owner's name.
struct RecordHead {
  static constexpr std::size_t size = 10;

  std::uint16_t type = 0;
  std::uint16_t in = 0;  // the class
  std::size_t length = 0;

  static std::optional<RecordHead> read(std::string_view message, std::size_t& at) {
    if (message.size() - at < size) return std::nullopt;
    const RecordHead head{u16(message, at), u16(message, at + 2), u16(message, at + 8)};
    at += size;
    if (message.size() - at < head.length) return std::nullopt;
    return head;
  }
};

struct Alias {
  std::string of;
  std::string name;
};
struct Owned {
  std::string owner;
  SrvRecord record;
};

// The records of an answer that matter.
struct Records {
  std::vector<Alias> aliases;
  std::vector<Owned> services;

  // False: malformed.
  bool read(std::string_view message, std::size_t& at) {
    auto owner = read_name(message, at);
    if (!owner) return false;
    const auto head = RecordHead::read(message, at);
    if (!head) return false;
    const std::size_t end = at + head->length;
    const bool good = head->in != class_internet || read_data(message, at, *head, *owner);
    at = end;
    return good;
  }

 private:
  bool read_data(std::string_view message, std::size_t at, const RecordHead& head,
                 std::string& owner) {
    const std::size_t end = at + head.length;
    if (head.type == type_cname) {
      auto name = read_name(message, at);
      if (!name || at != end) return false;
      aliases.push_back({std::move(owner), std::move(*name)});
    } else if (head.type == type_srv) {
      if (head.length < 7) return false;
      SrvRecord record{u16(message, at), u16(message, at + 2), u16(message, at + 4), {}};
      at += 6;
      auto target = read_name(message, at);
      if (!target || at != end) return false;
      record.target = std::move(*target);
      services.push_back({std::move(owner), std::move(record)});
    }
    return true;
  }
};

// The records of the name, or of the name it is an alias of; nothing if its aliases form a cycle.
std::optional<std::vector<SrvRecord>> choose(Records& all, std::string name) {
  for (std::size_t i = 0;; ++i) {
    const auto alias = std::ranges::find(all.aliases, name, &Alias::of);
    if (alias == all.aliases.end()) break;
    if (i == max_aliases) return std::nullopt;
    name = alias->name;
  }
  std::vector<SrvRecord> chosen;
  for (Owned& service : all.services) {
    if (service.owner == name) chosen.push_back(std::move(service.record));
  }
  return chosen;
}

// True if the message repeats the question; moves `at` past it.
bool repeats(std::string_view message, const SrvQuery& query, std::size_t& at) {
  const auto name = read_name(message, at);
  if (!name || *name != query.name || message.size() - at < 4) return false;
  at += 4;
  return u16(message, at - 4) == type_srv && u16(message, at - 2) == class_internet;
}

}  // namespace

std::expected<SrvQuery, std::string> SrvQuery::of(std::string_view name, std::uint16_t id) {
  if (name.ends_with('.')) name.remove_suffix(1);
  if (name.empty()) return std::unexpected("is empty");
  if (name.size() > max_name) return std::unexpected("has more than 253 bytes");
  SrvQuery query{id, {}};
  std::size_t label = 0;
  for (const char byte : name) {
    const char c = lower(byte);
    if (c != '.' && !is_name_byte(c)) {
      return std::unexpected("has a character other than letters, digits, \"-\", \"_\" and \".\"");
    }
    if (c == '.' && label == 0) return std::unexpected("has an empty part");
    label = c == '.' ? 0 : label + 1;
    if (label > max_label) return std::unexpected("has a part of more than 63 bytes");
    query.name += c;
  }
  if (label == 0) return std::unexpected("has an empty part");
  return query;
}

void SrvQuery::encode(ByteWriter& out) const {
  constexpr std::uint64_t one_question = std::uint64_t{1} << 48;  // and three counts of 0
  out.u16(id);
  out.u16(recursion_desired);
  out.u64(one_question);
  for (std::string_view rest = name; !rest.empty();) {
    const std::string_view label = rest.substr(0, rest.find('.'));
    out.u8(static_cast<std::uint8_t>(label.size()));
    out.bytes(label);
    rest.remove_prefix(std::min(label.size() + 1, rest.size()));
  }
  out.u8(0);
  out.u16(type_srv);
  out.u16(class_internet);
}

std::expected<SrvAnswer, SrvAnswer::Fault> SrvAnswer::parse(std::string_view message,
                                                            const SrvQuery& query) {
  constexpr std::size_t header = 12;
  if (message.size() < header || u16(message, 0) != query.id) return std::unexpected(Fault::stray);
  const std::uint16_t flags = u16(message, 2);
  if ((flags & is_response) == 0 || (flags & operation) != 0) return std::unexpected(Fault::stray);
  SrvAnswer answer;
  answer.code = static_cast<ResponseCode>(flags & response_code);
  std::size_t at = header;
  const std::uint16_t questions = u16(message, 4);
  // A server that could not read the question cannot repeat it.
  if (questions == 0 && answer.code == ResponseCode::format_error) return answer;
  if (questions != 1 || !repeats(message, query, at)) return std::unexpected(Fault::stray);
  answer.truncated = (flags & truncation) != 0;
  if (answer.truncated || answer.code != ResponseCode::no_error) return answer;
  Records all;
  for (std::uint16_t i = u16(message, 6); i > 0; --i) {
    if (!all.read(message, at)) return std::unexpected(Fault::malformed);
  }
  auto chosen = choose(all, query.name);
  if (!chosen) return std::unexpected(Fault::malformed);
  answer.records = std::move(*chosen);
  return answer;
}

}  // namespace sheaf::discovery::dns
