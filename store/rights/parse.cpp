// The rights file: reads the document and refuses everything that is not in its schema.
//
// Pure: no socket, clock, entropy, thread or callback.

#include <algorithm>
#include <array>

#include "base/strict_json.h"
#include "base/text.h"
#include "store/rights/rights.h"

namespace sheaf::store::rights {
namespace {

using Checked = std::expected<void, std::string>;

std::unexpected<std::string> at(const std::string& place, std::string_view predicate) {
  return std::unexpected(place + " " + std::string(predicate));
}

bool is_control(char c) noexcept { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }

Checked check_pattern(std::string_view pattern, const std::string& place) {
  if (pattern.empty()) return at(place, "is an empty pattern (\"*\" is for all)");
  if (pattern.size() > max_pattern_bytes) {
    return at(place, "is longer than " + std::to_string(max_pattern_bytes) + " bytes");
  }
  if (std::ranges::any_of(pattern, is_control)) {
    return at(place, "has a control character, which no pattern may have");
  }
  if (pattern.substr(0, pattern.size() - 1).contains('*')) {
    return at(place, "has a \"*\" that is not at its end");
  }
  return {};
}

constexpr std::array<std::pair<std::string_view, Right>, 4> words{{{"read", Right::read},
                                                                   {"write", Right::write},
                                                                   {"watch", Right::watch},
                                                                   {"lock", Right::lock}}};

std::expected<RightSet, std::string> read_rights(const JsonValue& value, const std::string& place) {
  if (!value.is_array() || value.elements.empty()) {
    return at(place, "must be a list of one or more of read, write, watch and lock");
  }
  RightSet rights;
  for (std::size_t i = 0; i < value.elements.size(); ++i) {
    const JsonValue& word = value.elements[i];
    const auto known =
        std::ranges::find(words, word.text, &std::pair<std::string_view, Right>::first);
    const std::string element = json_element(place, i);
    if (!word.is_text() || known == words.end()) {
      return at(element, "must be read, write, watch or lock");
    }
    if (rights.has_any(known->second)) return at(element, "is given twice");
    rights = rights | known->second;
  }
  return rights;
}

Checked read_keys(const JsonValue& value, const std::string& place, Entry& entry) {
  if (!value.is_object()) return at(place, "must be an object of patterns of keys");
  for (const auto& [pattern, rights] : value.members) {
    const std::string own = json_field(place, pattern);
    if (auto checked = check_pattern(pattern, own); !checked) return checked;
    const auto read = read_rights(rights, own);
    if (!read) return std::unexpected(read.error());
    entry.keys.add(pattern, *read);
  }
  return {};
}

Checked read_limit(const std::string& name, const JsonValue& value, const std::string& place,
                   Quota& limits) {
  if (name == "bytes") {
    const auto size = value.is_text() ? parse_size(value.text) : value.whole;
    if (!size) return at(place, "must be a number of bytes, such as 1000 or \"16MiB\"");
    limits.bytes = *size;
  } else if (name == "keys" || name == "watches") {
    if (!value.whole) return at(place, "must be a whole number, 0 or more");
    (name == "keys" ? limits.keys : limits.watches) = *value.whole;
  } else if (name == "requests_per_second") {
    if (!value.whole || *value.whole < 1 || *value.whole > max_requests_a_second) {
      return at(place, "must be a whole number from 1 to " + std::to_string(max_requests_a_second));
    }
    limits.requests = *value.whole;
  } else {
    return at(place, "is not a limit (keys, bytes, watches and requests_per_second are)");
  }
  return {};
}

Checked read_limits(const JsonValue& value, const std::string& place, Entry& entry) {
  if (!value.is_object()) return at(place, "must be an object of limits");
  Quota limits;
  for (const auto& [name, limit] : value.members) {
    auto read = read_limit(name, limit, json_field(place, name), limits);
    if (!read) return read;
  }
  entry.limits = limits;
  return {};
}

Checked read_inspect(const JsonValue& value, const std::string& place, Entry& entry) {
  if (value.kind != JsonValue::Kind::boolean) return at(place, "must be true or false");
  entry.inspect = value.boolean;
  return {};
}

std::expected<Entry, std::string> read_entry(const JsonValue& value, const std::string& place) {
  if (!value.is_object()) return at(place, "must be an object with keys, limits and inspect");
  Entry entry;
  for (const auto& [name, field] : value.members) {
    const std::string own = json_field(place, name);
    Checked read;
    if (name == "keys") {
      read = read_keys(field, own, entry);
    } else if (name == "limits") {
      read = read_limits(field, own, entry);
    } else if (name == "inspect") {
      read = read_inspect(field, own, entry);
    } else {
      return at(own, "is not a field here (keys, limits and inspect are)");
    }
    if (!read) return std::unexpected(std::move(read.error()));
  }
  return entry;
}

template <class Add>
Checked read_entries(const JsonValue& value, const std::string& place, Add add) {
  if (!value.is_object()) return at(place, "must be an object of names");
  for (const auto& [name, field] : value.members) {
    auto entry = read_entry(field, json_field(place, name));
    if (!entry) return std::unexpected(std::move(entry.error()));
    if (auto added = add(name, std::move(*entry), json_field(place, name)); !added) return added;
  }
  return {};
}

}  // namespace

std::expected<Rights, std::string> parse_rights(std::string_view document) {
  if (document.size() > max_rights_bytes) {
    return std::unexpected("the document is longer than 1 MiB");
  }
  const auto root = parse_strict_json(document);
  if (!root) return std::unexpected(root.error());
  if (!root->is_object()) return std::unexpected("the document must be a JSON object");
  Rights rights;
  for (const auto& [name, value] : root->members) {
    Checked read;
    if (name == "users") {
      read = read_entries(value, name, [&](const auto& user, Entry entry, const auto& place) {
        if (user.empty()) return Checked(at(place, "is an empty name"));
        rights.users.emplace(user, std::move(entry));
        return Checked();
      });
    } else if (name == "clients") {
      read = read_entries(value, name, [&](const auto& pattern, Entry entry, const auto& place) {
        auto checked = check_pattern(pattern, place);
        if (checked) rights.clients.add(pattern, std::move(entry));
        return checked;
      });
    } else if (name == "everybody") {
      auto entry = read_entry(value, name);
      if (entry) rights.everybody = std::move(*entry);
      if (!entry) read = std::unexpected(std::move(entry.error()));
    } else {
      return at(json_field({}, name), "is not a field here (users, clients and everybody are)");
    }
    if (!read) return std::unexpected(std::move(read.error()));
  }
  return rights;
}

}  // namespace sheaf::store::rights
