#pragma once

// LockKey: how a lock's key is acquired, renewed and released at one kind of endpoint. LockPlan
// decides when; a LockKey knows the commands and what their answers mean.
//
// A request is begun; then poll_command and on_answer alternate until on_answer returns the end of
// the request. A request that is begun while another is under way replaces it; what was sent may
// still be executed.
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

// What a lock's key holds while the lock is held.
struct LockItem {
  std::string name;
  std::string nonce;  // of this acquisition only; nobody else has it
  std::chrono::milliseconds lease{10'000};
  bool whole_seconds = true;  // memcached: its life counts in seconds (cas_lock_key.h)
};

// How a request ended. Views live as long as the answer that ended it.
struct KeyAnswer {
  enum class End : std::uint8_t {
    done,   // acquired, renewed, removed
    taken,  // another holder has the key
    gone,   // nobody has the key, so it is not ours (any more)
    failed  // not answered, or refused: see error
  };
  End end = End::failed;
  Deadline sent_at{0};           // done: from this moment on the key lives for a lease at least
  std::string_view version;      // done, unless released; may be empty
  std::uint64_t connection = 0;  // not failed: the one that carried it
  std::string_view node;
  std::optional<Error> error;
  bool in_question = false;  // failed: it may have been executed
};

class LockKey {
 public:
  enum class Request : std::uint8_t { acquire, renew, release };

  virtual ~LockKey() = default;

  // The request is sent on `connection` only (0 = any), and ends by the deadline.
  virtual void begin(Request request, Deadline deadline, std::uint64_t connection, Now now) = 0;
  // No two commands of this object have the same id.
  virtual bool poll_command(calls::Command& command) = 0;
  // The end of the request, if this answer was its last.
  virtual std::optional<KeyAnswer> on_answer(unsigned id, const socket::Completion& answer) = 0;
  // Whether changes of the key can be watched.
  virtual bool watchable() const noexcept = 0;
};

// The state store compares values: one command for each request, safe to repeat.
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
