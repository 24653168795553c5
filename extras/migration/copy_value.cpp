// How values are copied from one fleet to the other while programs write.

#include <optional>
#include <utility>

#include <sheaf/migration.h>

#include "base/read_clocks.h"
#include "extras/migration/stage_rules.h"

namespace sheaf {
namespace migration {
namespace {

// A placeholder whose copier has died expires.
constexpr Ttl placeholder_ttl{std::chrono::seconds(60)};
constexpr int most_attempts = 4;
// From the request for a placeholder to the request that replaces it. A restarted server counts its
// versions from the start, so one could recur; but no server restarts in so short a time.
constexpr std::chrono::milliseconds longest_attempt{100};

// The result of one attempt; nothing: another program acted in between, so try again.
using Attempt = Result<std::optional<Copied>>;

// The version of a placeholder that was in `to` before this returns. Nothing if there is a value
// (then `there` is true) or another program acts at the same time.
struct Place {
  std::optional<Version> version;
  bool there = false;
};

Result<Place> adopt(Client& to, std::string_view key, Timeout timeout) {
  const auto held = to.get(key, {.timeout = timeout});
  if (!held) return Failure(held.error());
  if (!*held) return Place{};
  if ((*held)->data == placeholder) return Place{(*held)->version, false};
  return Place{std::nullopt, true};
}

// Another program's placeholder does as well: it only has to exist before the value is read. A
// server that does not return the version of a stored value is asked for it.
Result<Place> take_place(Client& to, std::string_view key, Timeout timeout) {
  const auto put =
      to.set(key, placeholder,
             {.ttl = placeholder_ttl, .condition = SetCondition::if_absent, .timeout = timeout});
  if (!put) return Failure(put.error());
  if (put->stored && !put->version.empty()) return Place{put->version, false};
  return adopt(to, key, timeout);
}

// A placeholder that is never filled would look like a value to a plain client. Anything else
// written in its place stays.
void drop_place(Client& to, std::string_view key, const Version& version, Timeout timeout) {
  static_cast<void>(to.remove(key, {.if_version = version, .timeout = timeout}));
}

Attempt try_copy(Client& from, Client& to, std::string_view key, Timeout timeout) {
  const Deadline begun = read_monotonic();
  const auto place = take_place(to, key, timeout);
  if (!place) return Failure(place.error());
  if (place->there) return std::optional(Copied::kept);
  if (!place->version) return std::optional<Copied>();
  const auto read = from.get(key, {.timeout = timeout, .ttl_left = true});
  if (!read) {
    drop_place(to, key, *place->version, timeout);
    return Failure(read.error());
  }
  const bool ends_now = *read && (*read)->ttl_left == std::chrono::seconds(0);
  if (!*read || ends_now || (*read)->data == placeholder) {
    const auto removed = to.remove(key, {.if_version = place->version, .timeout = timeout});
    if (!removed) return Failure(removed.error());
    return std::optional(Copied::absent);
  }
  if (read_monotonic() - begun > longest_attempt) {
    drop_place(to, key, *place->version, timeout);
    return std::optional<Copied>();
  }
  const Value& value = **read;
  SetOptions options{.condition = SetCondition::if_version,
                     .version = *place->version,
                     .flags = value.flags,
                     .timeout = timeout};
  options.ttl = value.ttl_left ? Ttl(*value.ttl_left) : Ttl::never();
  const auto stored = to.set(key, value.data, options);
  if (!stored) {
    drop_place(to, key, *place->version, timeout);
    return Failure(stored.error());
  }
  return stored->stored ? std::optional(Copied::copied) : std::nullopt;
}

}  // namespace

}  // namespace migration

inline namespace v0 {

Result<Copied> copy_for_migration(Client& from, Client& to, std::string_view key, Timeout timeout) {
  using migration::try_copy;
  for (int attempt = 0; attempt < migration::most_attempts; ++attempt) {
    auto tried = try_copy(from, to, key, timeout);
    if (!tried) return Failure(std::move(tried.error()));
    if (*tried) return **tried;
  }
  return Copied::overtaken;
}

Result<Copied> move_for_migration(Client& from, Client& to, std::string_view key, Timeout timeout) {
  auto copied = copy_for_migration(from, to, key, timeout);
  if (!copied || (*copied != Copied::copied && *copied != Copied::kept)) return copied;
  const auto removed = from.remove(key, {.timeout = timeout});
  if (!removed) return Failure(removed.error());
  return copied;
}

Result<bool> drop_stale_copy(Client& present, Client& copies, std::string_view key,
                             bool absent_counts, Timeout timeout) {
  const auto copy = copies.get(key, {.timeout = timeout});
  if (!copy) return Failure(copy.error());
  if (!*copy || (*copy)->data == migration::placeholder) return false;
  const auto value = present.get(key, {.timeout = timeout});
  if (!value) return Failure(value.error());
  const bool none = !*value || (*value)->data == migration::placeholder;
  const bool right =
      none ? !absent_counts : (*value)->data == (*copy)->data && (*value)->flags == (*copy)->flags;
  if (right) return false;
  const auto removed = copies.remove(key, {.if_version = (*copy)->version, .timeout = timeout});
  if (!removed) return Failure(removed.error());
  return *removed == RemoveResult::removed;
}

}  // namespace v0
}  // namespace sheaf
