#pragma once

// The implementation of the Engine: the order of all checks, and what each request does.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "protocol/statestore/clock.h"
#include "protocol/statestore/packets.h"
#include "store/engine/duplicate_filter.h"
#include "store/engine/engine.h"
#include "store/engine/journal.h"
#include "store/engine/record_table.h"
#include "store/engine/retained_fences.h"
#include "store/engine/watch_table.h"

namespace sheaf::store {

class Engine::State {
 public:
  State(const EngineOptions& options, std::uint64_t seed);

  Answer execute(const Request& request, Now now);
  Answer inspect(const Request& request, const HostNumbers& host, Now now);
  void tick(Now now);
  std::optional<Deadline> next_expiry() const;

  const RecordTable& records() const { return records_; }
  Journal& journal() { return journal_; }
  WatchTable& watches() { return watches_; }
  EngineGauges gauges() const;
  const EngineCounters& counters() const { return counters_; }
  const EngineOptions& options() const { return options_; }

 private:
  using Timestamp = protocol::statestore::Timestamp;
  using StoreError = protocol::statestore::StoreError;
  using Entry = RecordTable::Entry;

  // The timestamps of a request, parsed and not too far ahead.
  struct Stamps {
    std::optional<Timestamp> timestamp;
    std::optional<Timestamp> token;

    // The timestamp that the next version must exceed.
    Timestamp latest() const noexcept;
  };
  // The key of a write, after the checks of timestamps and fence. A null entry: the key is absent.
  struct Target {
    Entry* entry = nullptr;
    Stamps stamps;
  };

  // The checks of the envelope, in two parts. Nothing: the request passes.
  std::optional<Answer> check_response_topic(const Request& request);
  std::optional<Answer> check_sender(const Request& request, bool to_keynotify);
  // Called after the checks of the envelope.
  Answer execute_checked(const protocol::statestore::Request& parsed, const Request& request,
                         Now now);
  template <class Write>
  Answer write_once(const Write& write, const Request& request, Now now);
  // `stamps` holds the timestamp, parsed but not yet compared with the clock.
  Answer write(const protocol::statestore::SetRequest& set, const Request& request, Stamps stamps,
               Now now);
  Answer write(const protocol::statestore::DelRequest& del, const Request& request, Stamps stamps,
               Now now);
  Answer write(const protocol::statestore::VdelRequest& vdel, const Request& request, Stamps stamps,
               Now now);
  Answer read(const protocol::statestore::GetRequest& get, const Request& request, Now now);
  Answer watch(const protocol::statestore::KeyNotifyRequest& watch, const Request& request,
               Now now);

  // Checks, in their order.
  std::expected<Stamps, StoreError> read_timestamp(const Request& request, bool required) const;
  std::optional<StoreError> check_read(const Request& request, Now now) const;
  std::optional<StoreError> check_stamps(Stamps& stamps, const Request& request, bool versioned,
                                         Now now) const;
  // SET is `versioned`: the clock must be able to advance for it.
  std::expected<Target, StoreError> find_target(std::string_view key, const Request& request,
                                                Stamps stamps, bool versioned, Now now);
  std::optional<StoreError> check_fence(const Entry* entry, std::string_view key,
                                        const std::optional<Timestamp>& token, Now now) const;
  // Returns nothing if there is room, otherwise the refusal.
  std::optional<Answer> find_room(const Entry* entry, const protocol::statestore::SetRequest& set,
                                  const Request& request, Now now);

  // Changes.
  Answer apply(const protocol::statestore::SetRequest& set, const Target& target,
               const Request& request, Now now);
  void remove(Entry& entry, const Timestamp& after, Now now);
  Entry* find_live(std::string_view key, Now now);
  // Removes expired keys, at most `limit`. Returns false if none was due.
  bool expire(std::size_t limit, Now now);
  void notify(std::string_view key, const protocol::statestore::Notification& change,
              const Timestamp& version);

  // Answers: their views live until the next one is written.
  template <class Reply, class... Form>
  Answer reply(const Reply& packet, Form... form);
  Answer with_version(Answer answer, const Version& version, Now now);
  Answer refuse(StoreError error, bool to_keynotify = false, std::string_view detail = {});
  protocol::statestore::TimestampText print(const Timestamp& timestamp) const noexcept;

  EngineOptions options_;
  EngineCounters counters_;
  protocol::statestore::HybridClock clock_;
  RecordTable records_;
  RetainedFences retained_;
  Journal journal_;
  DuplicateFilter duplicates_;
  WatchTable watches_;
  std::uint64_t listing_;  // the number of this store in cursors
  std::string answer_;
  protocol::statestore::TimestampText answer_timestamp_;
};

template <class Reply, class... Form>
Answer Engine::State::reply(const Reply& packet, Form... form) {
  // A large value must not keep the buffer large.
  constexpr std::size_t largest_kept = 1 << 20;
  if (answer_.capacity() > largest_kept) std::string().swap(answer_);
  answer_.clear();
  ByteWriter out(answer_);
  packet.encode(out, form...);
  return {.verdict = Verdict::answer, .payload = answer_, .timestamp = {}};
}

}  // namespace sheaf::store
