// Pure: no socket, clock, entropy, thread or callback.

#include "store/engine/state.h"

#include <type_traits>

#include "protocol/statestore/properties.h"
#include "protocol/statestore/topics.h"

namespace sheaf::store {

namespace wire = protocol::statestore;

namespace {

// How many expired keys one request removes, besides its own key.
constexpr std::size_t expiries_per_request = 16;
constexpr std::uint64_t max_watch_key_bytes = 64 << 20;
constexpr std::uint64_t max_retained_fence_bytes = 64 << 20;

}  // namespace

Engine::State::State(const EngineOptions& options, std::uint64_t seed)
    : options_(options),
      clock_(std::string(wire::store_node)),
      records_(seed),
      retained_(options_.fence_retention, options_.max_keys, max_retained_fence_bytes, seed),
      duplicates_(options_.max_duplicates, max_duplicate_bytes, seed),
      watches_(options_.max_watches, max_watch_key_bytes, seed) {}

Answer Engine::State::execute(const Request& request, Now now) {
  ++counters_.requests;
  if (!request.response_topic) {
    ++counters_.dropped;
    return {.verdict = Verdict::drop, .payload = {}, .timestamp = {}};
  }
  if (!wire::response_topic_allowed(*request.response_topic)) {
    ++counters_.forbidden;
    return {.verdict = Verdict::disconnect, .payload = {}, .timestamp = {}};
  }
  expire(expiries_per_request, now);
  const auto parsed = wire::parse_request(request.payload);
  const bool to_keynotify = parsed ? std::holds_alternative<wire::KeyNotifyRequest>(*parsed)
                                   : parsed.error().to_keynotify;
  // The protocol page asks for QoS 1 and correlation data, and has no error text for their absence.
  if (request.qos != 1 || !request.correlation) return refuse(StoreError::syntax, to_keynotify);
  if (!parsed) return refuse(parsed.error().error, to_keynotify);
  if (options_.reply_topics == ReplyTopics::own &&
      !wire::is_own_response_topic(*request.response_topic, request.client_id)) {
    return refuse(StoreError::not_authorized, to_keynotify);
  }
  return execute_checked(*parsed, request, now);
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
  // These refusals need not be remembered: every repeat gets them again.
  const auto stamps = read_timestamp(request, std::is_same_v<Write, wire::SetRequest>);
  if (!stamps) return refuse(stamps.error());
  const DuplicateKey key = duplicates_.key_of(request);
  if (const auto* known = duplicates_.find(key, now.mono)) {
    ++counters_.duplicates;
    return {.verdict = Verdict::answer, .payload = known->payload, .timestamp = known->timestamp};
  }
  const Answer answer = write(packet, request, *stamps, now);
  duplicates_.remember(key, answer.payload, answer.timestamp, now.mono);
  return answer;
}

Answer Engine::State::read(const wire::GetRequest& get, const Request& request, Now now) {
  if (const auto error = check_read(request, now)) return refuse(*error);
  const Entry* const entry = find_live(get.key, now);
  if (entry == nullptr) return reply(wire::GetReply{});
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
  if (!watches_.add(request.client, request.client_id, packet.key)) {
    return refuse(StoreError::quota, true);
  }
  return reply(wire::KeyNotifyReply{});
}

void Engine::State::tick(Now now) {
  expire(max_expiries_per_tick, now);
  duplicates_.forget_old(now.mono, max_expiries_per_tick);
  retained_.forget_old(now.mono, max_expiries_per_tick);
}

Engine::State::Entry* Engine::State::find_live(std::string_view key, Now now) {
  Entry* const entry = records_.find(key);
  if (entry == nullptr || !RecordTable::expired(*entry, now.mono)) return entry;
  ++counters_.expired;
  remove(*entry, {}, now);
  return nullptr;
}

bool Engine::State::expire(std::size_t limit, Now now) {
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

// Clients must never see a timestamp over a minute ahead: such an answer goes without a version.
Answer Engine::State::with_version(Answer answer, const Version& version, Now now) {
  const Timestamp timestamp{version.wall, version.counter, wire::store_node};
  if (wire::too_far_ahead(timestamp, now.wall)) return answer;
  answer_timestamp_ = print(timestamp);
  answer.timestamp = answer_timestamp_.view();
  return answer;
}

Answer Engine::State::refuse(StoreError error, bool to_keynotify) {
  ++counters_.errors;
  return reply(wire::ErrorReply{error, to_keynotify}, options_.spelling);
}

wire::TimestampText Engine::State::print(const Timestamp& timestamp) const noexcept {
  return wire::TimestampText(timestamp, options_.spelling == Spelling::sdk
                                            ? wire::TimestampForm::padded
                                            : wire::TimestampForm::unpadded);
}

}  // namespace sheaf::store
