// What changes the store: SET, DEL, VDEL and expiry.
//
// Pure: no socket, clock, entropy, thread or callback.

#include <algorithm>
#include <utility>

#include "protocol/statestore/properties.h"
#include "store/engine/state.h"

namespace sheaf::store {

namespace wire = protocol::statestore;

namespace {

// The moment `life` from now. A life of centuries never ends.
Deadline expiry_at(std::chrono::milliseconds life, Deadline mono) noexcept {
  if (life.count() == 0) return never;
  const Deadline left = never - std::max(mono, Deadline(0));
  if (life >= std::chrono::floor<std::chrono::milliseconds>(left)) return never;
  return mono + life;
}

}  // namespace

Engine::State::Timestamp Engine::State::Stamps::latest() const noexcept {
  return std::max(timestamp.value_or(Timestamp{}), token.value_or(Timestamp{}));
}

std::expected<Engine::State::Stamps, wire::StoreError> Engine::State::read_timestamp(
    const Request& request, bool required) const {
  if (!request.timestamp) {
    if (required) return std::unexpected(StoreError::timestamp_missing);
    return Stamps{};
  }
  const auto timestamp = wire::parse_timestamp(*request.timestamp);
  if (!timestamp) return std::unexpected(StoreError::timestamp_malformed);
  return Stamps{timestamp, std::nullopt};
}

std::optional<wire::StoreError> Engine::State::check_read(const Request& request, Now now) const {
  const auto stamps = read_timestamp(request, false);
  if (!stamps) return stamps.error();
  if (wire::too_far_ahead(stamps->latest(), now.wall)) return StoreError::timestamp_skew;
  return std::nullopt;
}

std::optional<wire::StoreError> Engine::State::check_stamps(Stamps& stamps, const Request& request,
                                                            bool versioned, Now now) const {
  // can_tick_after() also fails when the store's own clock is ahead: the wall clock has stepped
  // back.
  const auto skewed = [&](const Timestamp& timestamp) {
    return wire::too_far_ahead(timestamp, now.wall) ||
           (versioned && !clock_.can_tick_after(timestamp, now.wall));
  };
  if (skewed(stamps.latest())) return StoreError::timestamp_skew;
  if (!request.fencing_token) return std::nullopt;
  stamps.token = wire::parse_timestamp(*request.fencing_token);
  if (!stamps.token) return StoreError::timestamp_malformed;
  if (skewed(*stamps.token)) return StoreError::fencing_skew;
  return std::nullopt;
}

std::expected<Engine::State::Target, wire::StoreError> Engine::State::find_target(
    std::string_view key, const Request& request, Stamps stamps, bool versioned, Now now) {
  if (const auto error = check_stamps(stamps, request, versioned, now)) {
    return std::unexpected(*error);
  }
  Entry* const entry = find_live(key, now);
  if (const auto error = check_fence(entry, key, stamps.token, now)) return std::unexpected(*error);
  return Target{entry, stamps};
}

std::optional<wire::StoreError> Engine::State::check_fence(const Entry* entry, std::string_view key,
                                                           const std::optional<Timestamp>& token,
                                                           Now now) const {
  const Fence* fence = entry == nullptr ? nullptr : entry->second.fence.get();
  if (fence != nullptr && !token) return StoreError::fencing_required;
  // The fence of a removed key refuses lower tokens only, not requests without a token.
  if (fence == nullptr && token) fence = retained_.find(key, now.mono);
  if (fence != nullptr && *token < fence->token()) return StoreError::fencing_stale;
  return std::nullopt;
}

Answer Engine::State::write(const wire::SetRequest& set, const Request& request, Stamps stamps,
                            Now now) {
  const auto target = find_target(set.key, request, stamps, true, now);
  if (!target) return refuse(target.error());
  const Entry* const entry = target->entry;
  const bool holds =
      entry == nullptr || set.condition == wire::SetCondition::none ||
      (set.condition == wire::SetCondition::if_absent_or_equal && entry->second.value == set.value);
  if (!holds) {
    ++counters_.executed_writes;
    return with_version(reply(wire::SetReply{false}, options_.spelling), entry->second.version,
                        now);
  }
  if (!has_room(entry, set, now)) return refuse(StoreError::quota);
  return apply(set, *target, now);
}

Answer Engine::State::write(const wire::DelRequest& del, const Request& request, Stamps stamps,
                            Now now) {
  const auto target = find_target(del.key, request, stamps, false, now);
  if (!target) return refuse(target.error());
  ++counters_.executed_writes;
  if (target->entry == nullptr) return reply(wire::DelReply{0});
  const Version version = target->entry->second.version;
  remove(*target->entry, target->stamps.latest(), now);
  return with_version(reply(wire::DelReply{1}), version, now);
}

Answer Engine::State::write(const wire::VdelRequest& vdel, const Request& request, Stamps stamps,
                            Now now) {
  using Result = wire::VdelReply::Result;
  const auto target = find_target(vdel.key, request, stamps, false, now);
  if (!target) return refuse(target.error());
  ++counters_.executed_writes;
  const Spelling spelling = options_.spelling;
  if (target->entry == nullptr) return reply(wire::VdelReply{Result::absent}, spelling);
  const Record& record = target->entry->second;
  if (record.value != vdel.value) return reply(wire::VdelReply{Result::differs}, spelling);
  const Version version = record.version;
  remove(*target->entry, target->stamps.latest(), now);
  return with_version(reply(wire::VdelReply{Result::removed}, spelling), version, now);
}

// Removes expired keys if their room is needed.
bool Engine::State::has_room(const Entry* entry, const wire::SetRequest& set, Now now) {
  const std::uint64_t freed = entry == nullptr ? 0 : entry->second.value.size();
  const std::uint64_t added = (entry == nullptr ? set.key.size() : 0) + set.value.size();
  const auto fits = [&] {
    if (entry == nullptr && records_.size() >= options_.max_keys) return false;
    return records_.bytes() - freed + added <= options_.max_bytes;
  };
  constexpr std::size_t at_once = 64;
  while (!fits()) {
    if (!expire(at_once, now)) return false;
  }
  return true;
}

Answer Engine::State::apply(const wire::SetRequest& set, const Target& target, Now now) {
  auto fence = target.stamps.token ? std::make_unique<Fence>(*target.stamps.token) : nullptr;
  // has_room() may have removed expired keys, which moves the clock.
  const auto version = clock_.tick_after(target.stamps.latest(), now.wall);
  if (!version) return refuse(StoreError::timestamp_skew);
  Entry& entry = records_.put(target.entry, set.key, set.value, expiry_at(set.expiry, now.mono));
  entry.second.version = {version->wall, version->counter};
  entry.second.fence = std::move(fence);
  ++counters_.executed_writes;
  notify(set.key, {wire::Notification::Operation::set, set.value}, *version);
  return with_version(reply(wire::SetReply{true}, options_.spelling), entry.second.version, now);
}

void Engine::State::remove(Entry& entry, const Timestamp& after, Now now) {
  if (entry.second.fence) retained_.keep(entry.first, *entry.second.fence, now.mono);
  const auto version = clock_.tick_after(after, now.wall);
  const auto latest_legal = static_cast<std::uint64_t>(std::max<std::int64_t>(0, now.wall.count()) +
                                                       wire::max_drift.count());
  notify(entry.first, {wire::Notification::Operation::removed, std::nullopt},
         version.value_or(Timestamp{latest_legal, 0, wire::store_node}));
  records_.erase(entry);
}

void Engine::State::notify(std::string_view key, const wire::Notification& change,
                           const Timestamp& version) {
  if (!watches_.watched(key)) return;
  std::string payload;
  ByteWriter out(payload);
  change.encode(out, options_.spelling);
  counters_.notifications += watches_.notify(key, std::move(payload), print(version).view());
}

}  // namespace sheaf::store
