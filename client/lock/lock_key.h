#pragma once

// LockKey: how a lock's key is taken, kept and given back at one kind of endpoint. Pure. LockPlan
// says when; what is asked of the endpoint, and what its answers mean, stands here.
//
// A deed is begun, then poll_command and on_answer alternate until on_answer tells its end. A deed
// that is begun while another is under way replaces it; what was sent may still be carried out.
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

// What a lock's key holds while it is held.
struct LockItem {
  std::string name;
  std::string nonce;  // nobody else's, and of this acquisition only
  std::chrono::milliseconds lease{10'000};
};

// How a deed ended. Views live as long as the answer that ended it.
struct KeyAnswer {
  enum class End : std::uint8_t {
    done,   // taken; kept; removed
    taken,  // another has it
    gone,   // nobody has it: it is not ours (any more)
    failed  // not answered, or refused: see error
  };
  End end = End::failed;
  Deadline sent_at{0};           // taken, kept: the key lives a lease from here on, at least
  std::string_view version;      // taken, kept; may be empty
  std::uint64_t connection = 0;  // not failed: which carried it
  std::string_view node;
  std::optional<Error> error;
  bool in_question = false;  // failed: it may have been carried out
};

class LockKey {
 public:
  enum class Deed : std::uint8_t { take, keep, give_back };

  virtual ~LockKey() = default;

  // What the deed sends goes on `connection` only (0 = any), and is over by the deadline.
  virtual void begin(Deed deed, Deadline deadline, std::uint64_t connection, Now now) = 0;
  // Its id is one that no other command of this object has.
  virtual bool poll_command(calls::Command& command) = 0;
  // The end of the deed, if this answer was its last.
  virtual std::optional<KeyAnswer> on_answer(unsigned id, const socket::Completion& answer) = 0;
  // Whether changes of the key can be watched.
  virtual bool watchable() const noexcept = 0;
};

// The state store compares values: one command for each deed, safe to repeat.
//
// | deed      | command                        | done | taken | gone                 |
// |-----------|--------------------------------|------|-------|----------------------|
// | take      | SET name nonce NEX PX lease    | +OK  | :-1   |                      |
// | keep      | the same                       | +OK  | :-1   |                      |
// | give back | VDEL name nonce                | :1   |       | :0, :-1              |
class StoreLockKey final : public LockKey {
 public:
  explicit StoreLockKey(LockItem item) : item_(std::move(item)) {}
  void begin(Deed deed, Deadline deadline, std::uint64_t connection, Now now) override;
  bool poll_command(calls::Command& command) override;
  std::optional<KeyAnswer> on_answer(unsigned id, const socket::Completion& answer) override;
  bool watchable() const noexcept override { return true; }

 private:
  LockItem item_;
  Deed deed_ = Deed::take;
  Deadline deadline_{0};
  std::uint64_t connection_ = 0;
  Deadline sent_at_{0};
  bool wanted_ = false;
  unsigned id_ = 0;
};

}  // namespace sheaf::client::lock
