#pragma once

// CasRegister: the register for endpoints that compare and set themselves (memcached, servers of
// the Redis protocol). There is no lock: the first writer to commit wins, the others start again.
//
//   closed     -> reading     GET head, with its version; skipped while the known head is likely to
//                             be the newest
//   reading    -> open
//   open       -> exchanging  GETs; items and segments by `add`, with a life of 60 s
//   exchanging -> open
//   open       -> swapping    touch of every added key, which makes it permanent. Then, on the same
//                             connection, SET head' if its version is the same (absent: `add`):
//                             this alone decides
//              -> touching    the touches alone, where answers name no connection
//   touching   -> swapping    all are answered: SET head'
//              -> closed      lost: one was not, or its key is gone
//   swapping   -> swapped     SET head' is answered; touches may not be
//              -> closed      lost: another version; unknown: something was not answered
//   swapped    -> open        all are answered
//              -> closed      unknown: a touch was not answered, or its key is gone
//
// Added keys have ids that no other writer uses: each register counts from a number drawn at
// random, and if a key exists already, the draw was unlucky and is repeated. So no writer ever
// overwrites another's items, whichever wins. The 60 s life cleans up after a writer that is
// killed; an attempt that lost removes what it added.
//
// The touches come before the commit, not after it: a commit that took effect never names a key
// that is about to expire, even if its writer is killed right after it. A key that expired might be
// one that was acknowledged: a segment holds the items of all writers.
//
// Every command of one attempt uses the connection that answered its first request: a restarted
// memcached counts its versions from 1 again, so an old version means nothing there. Where answers
// name no connection, versions are valid on all of them; then the commit waits until the touches
// are answered, because they may use other connections.
//
// Pure: no socket, clock, entropy, thread or callback.
//
// Thread rule: one thread at a time; under the baton.

#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "client/list/list_controls.h"
#include "client/list/register_base.h"

namespace sheaf::client::list {

struct CasRegisterOptions {
  std::chrono::milliseconds step_timeout{1'000};  // of one operation
  // The life of added keys until the commit. An attempt that takes half of it is lost.
  std::chrono::milliseconds life{60'000};
  // While others write too, this client gives them a turn after this time.
  std::chrono::milliseconds tenure{25};
  ListControls controls{};
};

class CasRegister final : public RegisterBase {
 public:
  CasRegister(Keys keys, CasRegisterOptions options, Seed seed);

  void open(Deadline until, Now now) override;
  void exchange(std::vector<std::string> gets, std::vector<KeyAndValue> puts, Deadline until,
                Now now) override;
  void commit(Head head, Deadline until, Now now) override;
  void close(Deadline until, Now now) override;
  void distrust_head() noexcept override {
    if (known_ == Known::trusted) known_ = Known::doubtful;
  }
  bool closing() const override { return false; }

  void on_deadline(Now) override {}
  void on_hint(Now) override {}
  Deadline poll_deadline() const override { return never; }
  std::string_view watched_key() const override { return {}; }

 private:
  enum class State : std::uint8_t {
    closed,
    reading,
    open,
    exchanging,
    touching,
    swapping,
    swapped
  };
  // The head that we read or wrote last may still be the newest, or (`trusted`) is likely to be.
  enum class Known : std::uint8_t { nothing, doubtful, trusted };
  enum Purpose : unsigned { read, get, put, look, touch, swap };

  void on_reply_to(const PendingOperation& operation, const socket::Completion& answer) override;
  void send_get(Now now);
  void look_for_versions(Now now);
  void send_swap(Now now);
  void send_touches(Deadline until, Now now);
  void on_head(const socket::Completion& answer);
  void on_exchange(const PendingOperation& operation, const socket::Completion& answer);
  void on_all_exchanged(bool looked, const socket::Completion& answer);
  void on_commit(const PendingOperation& operation, const socket::Completion& answer);
  void on_swapped(const socket::Completion& answer);
  void on_committed(const socket::Completion& answer);
  void end_without_versions(const socket::Completion& answer);
  void draw();
  void lose(const socket::Completion& answer, std::string text);
  std::uint64_t bound() const noexcept {
    return options_.controls.same_connection ? connection_ : 0;
  }

  const CasRegisterOptions options_;
  Random random_;
  State state_ = State::closed;
  Id next_ = 0;  // the id that this register uses next

  Known known_ = Known::nothing;
  std::optional<std::string> version_;  // of that head; none: it was absent; empty: not sent
  bool versioned_ = false;              // the server has sent a version
  bool contended_ = false;              // another client wrote it recently

  std::vector<std::string> added_;  // in this attempt; not yet named by a commit
  Deadline added_at_{0};
  Head next_head_;
  bool gone_ = false;  // swapping: something in added_ was missing
};

}  // namespace sheaf::client::list
