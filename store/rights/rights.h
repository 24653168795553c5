#pragma once

// The rights file of the Mosquitto plugin: who may do what with which keys, and how much.
// docs/rights.md describes the file. A request that no entry allows is refused.
//
// Thread rule: plain values.
// Pure: no socket, clock, entropy, thread or callback.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/statestore/packets.h"
#include "store/engine/usage.h"

namespace sheaf::store::rights {

enum class Right : std::uint8_t {
  read = 1,   // GET
  write = 2,  // SET, DEL, VDEL
  watch = 4,  // KEYNOTIFY
  lock = 8    // takes, keeps and releases a lock: SET with NEX and PX, and VDEL
};

class RightSet {
 public:
  constexpr RightSet() = default;
  constexpr RightSet(Right right)  // NOLINT: so calls read well
      : bits_(static_cast<std::uint8_t>(right)) {}
  constexpr RightSet operator|(RightSet other) const noexcept { return {bits_, other.bits_}; }
  constexpr bool has_any(RightSet of) const noexcept { return (bits_ & of.bits_) != 0; }
  constexpr bool empty() const noexcept { return bits_ == 0; }
  friend constexpr bool operator==(RightSet, RightSet) = default;

 private:
  constexpr RightSet(std::uint8_t a, std::uint8_t b) : bits_(a | b) {}
  std::uint8_t bits_ = 0;
};

// Patterns that match whole texts, or prefixes if the pattern ends with `*`. They match bytes, not
// characters.
template <class T>
class PatternMap {
 public:
  // Returns false if the pattern is already there.
  bool add(std::string_view pattern, T value) {
    const bool open = pattern.ends_with('*');
    if (open) pattern.remove_suffix(1);
    const bool added = (open ? prefixes_ : exact_).emplace(pattern, std::move(value)).second;
    if (added && open && std::ranges::find(sizes_, pattern.size()) == sizes_.end()) {
      sizes_.insert(std::ranges::upper_bound(sizes_, pattern.size(), std::greater<>()),
                    pattern.size());
    }
    return added;
  }
  // Visits all matches, the longest first; an exact match comes before them.
  template <class Visitor>
  void visit(std::string_view text, Visitor visitor) const {
    if (const auto found = exact_.find(text); found != exact_.end()) visitor(found->second);
    for (const std::size_t size : sizes_) {
      if (size > text.size()) continue;
      const auto found = prefixes_.find(text.substr(0, size));
      if (found != prefixes_.end()) visitor(found->second);
    }
  }

 private:
  std::map<std::string, T, std::less<>> exact_;
  std::map<std::string, T, std::less<>> prefixes_;
  std::vector<std::size_t> sizes_;  // of prefixes, descending
};

// What the file says about one user, one client or everybody.
struct Entry {
  PatternMap<RightSet> keys;
  std::optional<Quota> limits;
  bool inspect = false;  // may ask the store about itself
};

// One client as the broker knows it.
struct Subject {
  std::optional<std::string> user;  // nothing: anonymous
  std::string client_id;
  friend bool operator==(const Subject&, const Subject&) = default;
};

// What one client may do. Valid as long as the Rights that it comes from.
struct Grant {
  std::vector<const Entry*> entries;
  Quota quota;
  // The account for its keys, watches and requests; empty: they are not counted.
  std::string account_name;
  bool inspect = false;

  bool allows(RightSet any_of, std::string_view key) const;
};

inline constexpr std::size_t max_rights_bytes = 1 << 20;
inline constexpr std::size_t max_pattern_bytes = 4096;
inline constexpr std::uint64_t max_requests_a_second = 1'000'000;

struct Rights {
  Grant grant(const Subject& subject) const;

  std::map<std::string, Entry, std::less<>> users;
  PatternMap<Entry> clients;
  Entry everybody;
};

// The error is one sentence that names the place in the document.
std::expected<Rights, std::string> parse_rights(std::string_view document);

// Every client may probe, as often as it likes: a probe reveals nothing, and refusing it would cost
// the store as much as answering.
bool is_probe(const protocol::statestore::Request& request) noexcept;
// The request needs one of these rights; empty if every client may make it. `fenced`: it carries a
// fencing token.
RightSet needed(const protocol::statestore::Request& request, bool fenced) noexcept;
std::string_view key_of(const protocol::statestore::Request& request) noexcept;
std::string_view verb_of(const protocol::statestore::Request& request) noexcept;

}  // namespace sheaf::store::rights
