// Pure: no socket, clock, entropy, thread or callback.

#include "store/engine/state.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include <sheaf/version.h>

#include "base/sha1.h"
#include "protocol/statestore/inspection.h"
#include "protocol/statestore/properties.h"
#include "protocol/statestore/topics.h"
#include "store/engine/key_listing.h"

namespace sheaf::store {

namespace wire = protocol::statestore;

namespace {

// The most expired keys that one request removes, in addition to its own key.
constexpr std::size_t expiries_per_request = 16;
constexpr std::uint64_t max_watch_key_bytes = 64 << 20;
constexpr std::uint64_t max_retained_fence_bytes = 64 << 20;

// The moment `life` from now. A life of centuries never ends.
Deadline expiry_at(std::chrono::milliseconds life, Deadline mono) noexcept {
  if (life.count() == 0) return never;
  const Deadline left = never - std::max(mono, Deadline(0));
  if (life >= std::chrono::floor<std::chrono::milliseconds>(left)) return never;
  return mono + life;
}

// What an account's quota allows, for the error text.
std::string at_most(std::uint64_t limit, std::string_view what) {
  return "at most " + std::to_string(limit) + " " + std::string(what);
}

// Another one for each start of a store. It does not tell what the seed is.
std::uint64_t number_in_cursors(std::uint64_t seed) {
  const Sha1 sum = sha1(std::to_string(seed));
  return std::uint64_t{sum[0]} << 32 | sum[1];
}

// The counter of this class of errors.
std::uint64_t& counter_of(wire::StoreError error, EngineCounters& counters) {
  switch (error) {
    case wire::StoreError::not_authorized:
      return counters.unauthorized;
    case wire::StoreError::quota:
      return counters.over_quota;
    case wire::StoreError::timestamp_skew:
    case wire::StoreError::fencing_skew:
      return counters.bad_time;
    case wire::StoreError::fencing_required:
    case wire::StoreError::fencing_stale:
      return counters.fenced;
    case wire::StoreError::read_only:
      return counters.read_only;
    case wire::StoreError::syntax:
    case wire::StoreError::unknown_command:
    case wire::StoreError::wrong_arguments:
    case wire::StoreError::timestamp_missing:
    case wire::StoreError::timestamp_malformed:
    case wire::StoreError::key_empty:
      break;
  }
  return counters.malformed;
}

}  // namespace

Engine::State::State(const EngineOptions& options, std::uint64_t seed)
    : options_(options),
      clock_(std::string(wire::store_node)),
      records_(seed),
      retained_(options_.fence_retention, options_.max_keys, max_retained_fence_bytes, seed),
      journal_(seed, records_, retained_, clock_),
      duplicates_(options_.max_duplicates, max_duplicate_bytes, seed),
      watches_(options_.max_watches, max_watch_key_bytes, seed),
      listing_(number_in_cursors(seed)) {
  retained_.note_in(journal_);
}

Answer Engine::State::execute(const Request& request, Now now) {
  ++counters_.requests;
  if (const auto verdict = check_response_topic(request)) return *verdict;
  expire(expiries_per_request, now);
  const auto parsed = wire::parse_request(request.payload);
  const bool to_keynotify = parsed ? std::holds_alternative<wire::KeyNotifyRequest>(*parsed)
                                   : parsed.error().to_keynotify;
  // The protocol page requires QoS 1 and correlation data, but has no error text for their absence.
  if (parsed) ++counters_.commands[parsed->index()];
  if (request.qos != 1 || !request.correlation) return refuse(StoreError::syntax, to_keynotify);
  if (!parsed) return refuse(parsed.error().error, to_keynotify);
  if (const auto refusal = check_sender(request, to_keynotify)) return *refusal;
  return execute_checked(*parsed, request, now);
}

// Its order of checks is that of execute(). No check depends on the time, so that a question about
// a store whose clock is wrong gets an answer.
Answer Engine::State::inspect(const Request& request, const HostNumbers& host, Now now) {
  ++counters_.inspections;
  if (const auto verdict = check_response_topic(request)) return *verdict;
  if (request.qos != 1 || !request.correlation) return refuse(StoreError::syntax);
  const auto parsed = wire::parse_inspection(request.payload);
  if (!parsed) return refuse(parsed.error());
  if (const auto refusal = check_sender(request, false)) return *refusal;
  if (std::holds_alternative<wire::VersionInspection>(*parsed)) {
    return reply(wire::GetReply{SHEAF_VERSION});
  }
  if (const auto* const keys = std::get_if<wire::KeysInspection>(&*parsed)) {
    if (keys->pattern.size() > max_pattern) return refuse(StoreError::syntax);
    return reply(wire::GetReply{
        list_keys(records_, {listing_, keys->cursors, keys->count, keys->pattern}, now.mono)});
  }
  if (const auto* const ttl = std::get_if<wire::TtlInspection>(&*parsed)) {
    return reply(wire::GetReply{time_to_live(records_, ttl->key, now.mono)});
  }
  return reply(wire::GetReply{print_numbers(list_numbers(gauges(), counters_, host))});
}

EngineGauges Engine::State::gauges() const {
  return {.keys = records_.size(),
          .bytes = records_.bytes(),
          .watches = watches_.size(),
          .answers = duplicates_.size(),
          .fences = retained_.size(),
          .frozen = journal_.frozen()};
}

std::optional<Answer> Engine::State::check_response_topic(const Request& request) {
  if (!request.response_topic) {
    ++counters_.dropped;
    return Answer{.verdict = Verdict::drop, .payload = {}, .timestamp = {}};
  }
  if (wire::response_topic_allowed(*request.response_topic)) return std::nullopt;
  ++counters_.forbidden;
  return Answer{.verdict = Verdict::disconnect, .payload = {}, .timestamp = {}};
}

std::optional<Answer> Engine::State::check_sender(const Request& request, bool to_keynotify) {
  if (options_.reply_topics == ReplyTopics::own &&
      !wire::is_own_response_topic(*request.response_topic, request.client_id)) {
    return refuse(StoreError::not_authorized, to_keynotify);
  }
  if (request.gate == Gate::not_authorized) return refuse(StoreError::not_authorized, to_keynotify);
  if (request.gate == Gate::open) return std::nullopt;
  ++counters_.too_fast;
  return refuse(StoreError::quota, to_keynotify,
                at_most(request.quota.requests, "requests a second"));
}

Answer Engine::State::execute_checked(const wire::Request& parsed, const Request& request,
                                      Now now) {
  if (const auto* set = std::get_if<wire::SetRequest>(&parsed))
    return write_once(*set, request, now);
  if (const auto* del = std::get_if<wire::DelRequest>(&parsed))
    return write_once(*del, request, now);
  if (const auto* vdel = std::get_if<wire::VdelRequest>(&parsed)) {
    return write_once(*vdel, request, now);
  }
  if (const auto* get = std::get_if<wire::GetRequest>(&parsed)) return read(*get, request, now);
  return watch(std::get<wire::KeyNotifyRequest>(parsed), request, now);
}

template <class Write>
Answer Engine::State::write_once(const Write& packet, const Request& request, Now now) {
  // These refusals need not be remembered, because every repeat gets them again.
  if (journal_.frozen()) return refuse(StoreError::read_only);
  const auto stamps = read_timestamp(request, std::is_same_v<Write, wire::SetRequest>);
  if (!stamps) return refuse(stamps.error());
  const DuplicateKey key = duplicates_.key_of(request);
  if (const auto* known = duplicates_.find(key, now.mono)) {
    ++counters_.duplicates;
    return {.verdict = Verdict::answer, .payload = known->payload, .timestamp = known->timestamp};
  }
  const Answer answer = write(packet, request, *stamps, now);
  duplicates_.remember(key, packet.key, answer.payload, answer.timestamp, now.mono);
  return answer;
}

Answer Engine::State::read(const wire::GetRequest& get, const Request& request, Now now) {
  if (const auto error = check_read(request, now)) return refuse(*error);
  if (journal_.withholds(get.key)) return refuse(StoreError::read_only);
  const Entry* const entry = find_live(get.key, now);
  if (entry == nullptr) {
    ++(get.key == wire::probe_key ? counters_.probes : counters_.misses);
    return reply(wire::GetReply{});
  }
  ++counters_.hits;
  return with_version(reply(wire::GetReply{entry->second.value}), entry->second.version, now);
}

Answer Engine::State::watch(const wire::KeyNotifyRequest& packet, const Request& request, Now now) {
  if (const auto error = check_read(request, now)) return refuse(*error, true);
  if (packet.stop) {
    return reply(wire::KeyNotifyReply{watches_.remove(request.client, packet.key)});
  }
  if (packet.key.size() > wire::max_watched_key_size(request.client_id.size())) {
    return refuse(StoreError::syntax, true);
  }
  switch (watches_.add(request.client, request.client_id, packet.key, request.account,
                       request.quota.watches)) {
    case WatchTable::Added::yes:
      break;
    case WatchTable::Added::no_room:
      return refuse(StoreError::quota, true);
    case WatchTable::Added::account_full:
      return refuse(StoreError::quota, true, at_most(request.quota.watches, "watches"));
  }
  return reply(wire::KeyNotifyReply{});
}

void Engine::State::tick(Now now) {
  expire(max_expiries_per_tick, now);
  duplicates_.forget_old(now.mono, max_expiries_per_tick);
  if (journal_.frozen()) return;
  retained_.forget_old(now.mono, max_expiries_per_tick);
}

std::optional<Deadline> Engine::State::next_expiry() const {
  return journal_.frozen() ? std::nullopt : records_.next_expiry();
}

Engine::State::Entry* Engine::State::find_live(std::string_view key, Now now) {
  Entry* const entry = records_.find(key);
  if (entry == nullptr || !RecordTable::expired(*entry, now.mono)) return entry;
  if (journal_.frozen()) return nullptr;
  ++counters_.expired;
  remove(*entry, {}, now);
  return nullptr;
}

bool Engine::State::expire(std::size_t limit, Now now) {
  if (journal_.frozen()) return false;
  bool any = false;
  for (; limit > 0; --limit) {
    Entry* const entry = records_.next_to_expire();
    if (entry == nullptr || !RecordTable::expired(*entry, now.mono)) break;
    ++counters_.expired;
    remove(*entry, {}, now);
    any = true;
  }
  return any;
}

// Clients must never see a timestamp over a minute ahead: such an answer has no version.
Answer Engine::State::with_version(Answer answer, const Version& version, Now now) {
  const Timestamp timestamp{version.wall, version.counter, wire::store_node};
  if (wire::too_far_ahead(timestamp, now.wall)) return answer;
  answer_timestamp_ = print(timestamp);
  answer.timestamp = answer_timestamp_.view();
  return answer;
}

Answer Engine::State::refuse(StoreError error, bool to_keynotify, std::string_view detail) {
  ++counters_.errors;
  ++counter_of(error, counters_);
  return reply(wire::ErrorReply{error, to_keynotify, detail}, options_.spelling);
}

wire::TimestampText Engine::State::print(const Timestamp& timestamp) const noexcept {
  return wire::TimestampText(timestamp, options_.spelling == Spelling::sdk
                                            ? wire::TimestampForm::padded
                                            : wire::TimestampForm::unpadded);
}

// Writes: SET, DEL, VDEL and expiry --------------------------------------------------------------

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
  // can_tick_after() also fails when the store's own clock is ahead because the wall clock has
  // stepped back.
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
  // The fence of a removed key refuses only lower tokens, not requests without a token.
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
    ++counters_.unmet;
    return with_version(reply(wire::SetReply{false}, options_.spelling), entry->second.version,
                        now);
  }
  if (const auto refusal = find_room(entry, set, request, now)) return *refusal;
  return apply(set, *target, request, now);
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
  if (record.value != vdel.value) {
    ++counters_.unmet;
    return reply(wire::VdelReply{Result::differs}, spelling);
  }
  const Version version = record.version;
  remove(*target->entry, target->stamps.latest(), now);
  return with_version(reply(wire::VdelReply{Result::removed}, spelling), version, now);
}

// Removes expired keys if their room is needed.
std::optional<Answer> Engine::State::find_room(const Entry* entry, const wire::SetRequest& set,
                                               const Request& request, Now now) {
  const std::uint64_t size = set.key.size() + set.value.size();
  const std::uint64_t freed = entry == nullptr ? 0 : set.key.size() + entry->second.value.size();
  const bool owned = entry != nullptr && RecordTable::account(*entry) == request.account;
  const Quota& quota = request.quota;
  enum class Full : std::uint8_t { no, store, keys, bytes };
  const auto full = [&] {
    if (entry == nullptr && records_.size() >= options_.max_keys) return Full::store;
    if (records_.bytes() - freed + size > options_.max_bytes) return Full::store;
    // A write that does not make an account larger is allowed even after its quota was lowered: a
    // lock must not be lost while it is renewed.
    if (request.account == nobody || (owned && size <= freed)) return Full::no;
    const Usage usage = records_.usage(request.account);
    if (!owned && usage.keys >= quota.keys) return Full::keys;
    return usage.bytes - (owned ? freed : 0) + size > quota.bytes ? Full::bytes : Full::no;
  };
  constexpr std::size_t at_once = 64;
  Full what = full();
  while (what != Full::no && expire(at_once, now)) what = full();
  switch (what) {
    case Full::no:
      break;
    case Full::store:
      return refuse(StoreError::quota);
    case Full::keys:
      return refuse(StoreError::quota, false, at_most(quota.keys, "keys"));
    case Full::bytes:
      return refuse(StoreError::quota, false, at_most(quota.bytes, "bytes of keys and values"));
  }
  return std::nullopt;
}

Answer Engine::State::apply(const wire::SetRequest& set, const Target& target,
                            const Request& request, Now now) {
  auto fence = target.stamps.token ? std::make_unique<Fence>(*target.stamps.token) : nullptr;
  // find_room() may have removed expired keys, which advances the clock.
  const auto version = clock_.tick_after(target.stamps.latest(), now.wall);
  if (!version) return refuse(StoreError::timestamp_skew);
  const bool persists = options_.persist == Persist::all || request.persist;
  const bool filed = persists || (target.entry != nullptr && RecordTable::persists(*target.entry));
  Entry& entry = records_.put(target.entry, set.key, set.value, expiry_at(set.expiry, now.mono),
                              request.account, persists);
  entry.second.version = {version->wall, version->counter};
  entry.second.fence = std::move(fence);
  journal_.note_record(set.key, filed);
  duplicates_.note_write(set.key);
  ++counters_.executed_writes;
  notify(set.key, {wire::Notification::Operation::set, set.value}, *version);
  return with_version(reply(wire::SetReply{true}, options_.spelling), entry.second.version, now);
}

void Engine::State::remove(Entry& entry, const Timestamp& after, Now now) {
  duplicates_.note_write(entry.first);
  if (entry.second.fence) retained_.keep(entry.first, *entry.second.fence, now.mono);
  const auto version = clock_.tick_after(after, now.wall);
  journal_.note_record(entry.first, RecordTable::persists(entry));
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
