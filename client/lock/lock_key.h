#pragma once

// LockKey: how a lock's key is acquired, renewed and released at one kind of endpoint. LockPlan
// decides when; a LockKey knows the commands and what their answers mean.
//
// After begin(), poll_command and on_answer alternate until on_answer returns the end of the
// request. begin() during another request replaces that one; commands already sent may still be
// executed.
//
// Pure: no socket, clock, entropy, thread or callback.
//
// Thread rule: one thread at a time; under the baton.

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <sheaf/result.h>

#include "client/calls/procedure.h"

namespace sheaf::client::lock {

// The contents of a lock's key while the lock is held.
struct LockItem {
  std::string name;
  std::string nonce;  // unique to this acquisition
  std::chrono::milliseconds lease{10'000};
  bool whole_seconds = true;  // memcached counts the item's life in seconds (cas_lock_key.h)
};

// How a request ended. Views live as long as the answer that ended it.
struct KeyAnswer {
  enum class End : std::uint8_t {
    done,   // acquired, renewed, removed
    taken,  // another holder has the key
    gone,   // the key does not exist, so it is not ours (any more)
    failed  // not answered, or refused: see error
  };
  End end = End::failed;
  Deadline sent_at{0};           // done: the key lives for at least a lease from this moment on
  Deadline free_at = never;      // taken: when the key can be taken over, unless it is renewed
  std::string_view version;      // done, unless released; may be empty
  std::uint64_t connection = 0;  // not failed: the connection that carried it
  std::string_view node;
  std::optional<Error> error;
  bool in_question = false;  // failed: the request may have been executed
};

// By how much a belief in a lease is shorter than the lease, and a wait for the end of another
// client's belief longer: 1 % for clock drift, and 50 ms.
inline std::chrono::nanoseconds drift_allowance(std::chrono::milliseconds lease) noexcept {
  return std::chrono::nanoseconds(lease) / 100 + std::chrono::milliseconds(50);
}

class LockKey {
 public:
  enum class Request : std::uint8_t { acquire, renew, release };

  virtual ~LockKey() = default;

  // Sends the request only on `connection` (0 = any). It ends by the deadline.
  virtual void begin(Request request, Deadline deadline, std::uint64_t connection, Now now) = 0;
  // No two commands of this object have the same id.
  virtual bool poll_command(calls::Command& command) = 0;
  // Returns the end of the request, if this was its last answer.
  virtual std::optional<KeyAnswer> on_answer(unsigned id, const socket::Completion& answer) = 0;
  // True if changes of the key can be watched.
  virtual bool watchable() const noexcept = 0;
};

// StoreLockKey: the state store compares values, so each request is one command, safe to repeat.
//
// | request | command                        | done | taken | gone    |
// |---------|--------------------------------|------|-------|---------|
// | acquire | SET name nonce NEX PX lease    | +OK  | :-1   |         |
// | renew   | the same                       | +OK  | :-1   |         |
// | release | VDEL name nonce                | :1   |       | :0, :-1 |
class StoreLockKey final : public LockKey {
 public:
  explicit StoreLockKey(LockItem item) : item_(std::move(item)) {}
  void begin(Request request, Deadline deadline, std::uint64_t connection, Now now) override;
  bool poll_command(calls::Command& command) override;
  std::optional<KeyAnswer> on_answer(unsigned id, const socket::Completion& answer) override;
  bool watchable() const noexcept override { return true; }

 private:
  LockItem item_;
  Request request_ = Request::acquire;
  Deadline deadline_{0};
  std::uint64_t connection_ = 0;
  Deadline sent_at_{0};
  bool wanted_ = false;
  unsigned id_ = 0;
};

}  // namespace sheaf::client::lock
