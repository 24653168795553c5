#pragma once

// StoreRegister: the register on the state store, which has no compare-and-set of its own.
//
//   closed    -> locking   SET lock nonce NEX PX 2000: its version is the token of the attempt
//   locking   -> waiting   another client holds it
//   waiting   -> locking   after a pause, at a hint, at the latest when a dead holder's lease ends
//   locking   -> reading   GET head; skipped while the known head may still be the newest
//   reading   -> claiming  SET head <the same bytes> NEX, with the token. Absent: SET NX
//   claiming  -> reading   refused: the head has changed in between
//   claiming  -> open      from here on only this attempt can write the head, or it never will
//   open      -> exchanging -> open
//   open      -> committing -> open      SET head' with the token: this alone decides
//   any       -> closed    VDEL lock nonce
//
// The claim is needed because the store compares tokens on writes only. Without it, a writer whose
// lease ran out between its GET and its SET would overwrite an edit that its successor, which has
// read but not yet written, is about to acknowledge. With it, a commit that succeeds proves that no
// other writer has written the head since the claim: lower tokens were refused since then, and a
// higher one would have refused the commit.
//
// Every command of one attempt uses the connection that answered its lock request. A store that has
// lost its memory is reached over another connection, so nothing of the old one can get into the
// new one.
//
// Pure: no socket, clock, entropy, thread or callback.
//
// Thread rule: one thread at a time; under the baton.

#include "base/random.h"
#include "client/list/list_controls.h"
#include "client/list/register_base.h"

namespace sheaf::client::list {

struct StoreRegisterOptions {
  std::chrono::milliseconds lease{2'000};
  std::chrono::milliseconds step_timeout{1'000};  // for one operation
  std::chrono::milliseconds tenure{25};           // after this time others get their turn
  std::chrono::milliseconds first_poll{2};
  std::chrono::milliseconds last_poll{250};
  ListControls controls{};
};

class StoreRegister final : public RegisterBase {
 public:
  StoreRegister(Keys keys, StoreRegisterOptions options, Seed seed);

  void open(Deadline until, Now now) override;
  void exchange(std::vector<std::string> gets, std::vector<KeyAndValue> puts, Deadline until,
                Now now) override;
  void commit(Head head, Deadline until, Now now) override;
  void close(Deadline until, Now now) override;
  void distrust_head() noexcept override {}  // open() reads the head or writes it back
  bool closing() const override { return releases_ > 0; }

  void on_deadline(Now now) override;
  void on_hint(Now now) override;
  Deadline poll_deadline() const override { return state_ == State::waiting ? retry_at_ : never; }
  std::string_view watched_key() const override;

 private:
  enum class State : std::uint8_t {
    closed,
    locking,
    waiting,
    reading,
    claiming,
    open,
    exchanging,
    committing
  };
  enum Purpose : unsigned { lock, step, get, put, release };

  void on_reply_to(const PendingOperation& operation, const socket::Completion& answer) override;
  void send_lock(Now now);
  void send_get(Now now);
  void send_claim(Now now);
  void on_lock(const socket::Completion& answer);
  void on_lock_taken(const socket::Completion& answer);
  void on_head(const socket::Completion& answer);
  void on_claim(const socket::Completion& answer);
  void on_exchange(const PendingOperation& operation, const socket::Completion& answer);
  void on_commit(const socket::Completion& answer);
  void opened();
  void wait(std::string_view version, Now now);
  void forget_head() noexcept;

  const StoreRegisterOptions options_;
  Random random_;
  State state_ = State::closed;

  std::string nonce_;  // empty: no lock of ours can exist
  std::string token_;
  Deadline locked_at_{0};

  bool contended_ = false;    // other clients held the lock during this attempt
  std::string seen_version_;  // of another client's lock
  Deadline seen_at_{0};       // when seen_version_ was first seen
  Deadline retry_at_ = never;
  Deadline asked_at_{0};
  unsigned refusals_ = 0;
  std::chrono::nanoseconds pause_{0};

  bool known_ = false;          // bytes_ is the head that we saw or wrote last
  std::uint64_t known_on_ = 0;  // the connection it is from
  bool absent_ = false;
  std::string bytes_;
  Head next_;
  std::string next_bytes_;
  unsigned releases_ = 0;  // in flight
};

}  // namespace sheaf::client::list
