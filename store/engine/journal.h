#pragma once

// The engine's changes since its file was written, and the way back: what a file holds is restored
// with the same values.
//
//   start    call restore() for each saved change, resume() with the saved clock, then begin()
//   running  call poll() until it returns false; write all of it as one transaction; then call
//            saved(), or lost() if that failed
//
// What must be in the file is unsaved until then: a key that belongs there, a key that no longer
// does, and every version beyond the ceiling that the file promises. A change of any other key is
// not a change of the file.
//
// A key that changes twice before it is polled is one change: the last state counts. Remembered
// answers and watches are not included, because they belong to connections, which end with the
// process.
//
// The journal is frozen while the file cannot be written. Then the engine changes nothing: it
// refuses writes, and reads of keys whose state is not in the file, and nothing expires. A key
// whose time has passed is absent all the same.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/clock.h"
#include "protocol/statestore/clock.h"
#include "store/engine/changed_keys.h"
#include "store/engine/record_table.h"
#include "store/engine/retained_fences.h"
#include "store/engine/usage.h"

namespace sheaf::store {

// The state of one key, or the fence of a removed key.
struct Change {
  enum class Kind : std::uint8_t {
    put,          // key, value, owner, version, fence if any, until = its expiry
    remove,       // key
    keep_fence,   // key, fence, until
    forget_fence  // key
  };
  Kind kind = Kind::put;
  std::string_view key;
  std::string_view value{};
  std::string_view owner{};  // name of the account that it counts for; empty: none
  Version version{};
  std::optional<protocol::statestore::Timestamp> fence{};
  Deadline until = never;
};

class Journal {
 public:
  Journal(std::uint64_t seed, RecordTable& records, RetainedFences& fences,
          protocol::statestore::HybridClock& clock)
      : records_(records),
        fences_(fences),
        clock_(clock),
        changed_records_(seed),
        changed_fences_(seed) {}
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  // A host with accounts calls it before anything is restored. They must outlive the journal.
  void set_accounts(AccountNames& accounts) noexcept { accounts_ = &accounts; }

  // `saved` is of kind put or keep_fence. Fences must come in the order of `until`. Quotas do not
  // apply.
  void restore(const Change& saved);
  // Later versions will be greater than `clock`.
  void resume(const protocol::statestore::Timestamp& clock) noexcept { clock_.resume(clock); }
  void begin() noexcept;
  // The file promises that no version beyond this one was sent.
  void promised(const protocol::statestore::Timestamp& ceiling) noexcept {
    ceiling_ = {ceiling.wall, ceiling.counter};
  }

  // A key has changed or was removed. `filed`: it belongs, or belonged before, in the file.
  void note_record(std::string_view key, bool filed) {
    if (filed || beyond_ceiling()) changed_records_.note(key);
  }
  void note_fence(std::string_view key) { changed_fences_.note(key); }

  bool empty() const noexcept { return changed_records_.empty() && changed_fences_.empty(); }
  // The views live until the engine is used again.
  bool poll(Change& out);
  void saved();
  void lost();
  // The newest version.
  protocol::statestore::Timestamp clock() const noexcept { return clock_.last(); }

  void freeze(bool frozen) noexcept { frozen_ = frozen; }
  bool frozen() const noexcept { return frozen_; }
  // True if the state of this key must not be revealed.
  bool withholds(std::string_view key) const { return frozen_ && changed_records_.contains(key); }

 private:
  bool beyond_ceiling() const noexcept;

  RecordTable& records_;
  RetainedFences& fences_;
  protocol::statestore::HybridClock& clock_;
  Version ceiling_;
  AccountNames* accounts_ = nullptr;  // null: keys count for no account
  ChangedKeys changed_records_;
  ChangedKeys changed_fences_;
  bool frozen_ = false;
};

}  // namespace sheaf::store
