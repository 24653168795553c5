#pragma once

// CasRegister: the register where the endpoint itself compares and sets (memcached, servers of the
// Redis protocol). There is no lock: whoever commits first wins, the others begin again.
//
//   closed     -> reading     GET head, with its version; left out while the one that we know is
//                             likely to be the newest
//   reading    -> open
//   open       -> exchanging  GETs; items and segments by `add`, with a life of 60 s
//   exchanging -> open
//   open       -> committing  touch of all that was added: from now on it stays. Behind them, on
//                             the same connection, SET head' if its version is the same (absent:
//                             `add`): the only point that counts
//   committing -> open | closed
//
// What is added has ids that nobody else has: each register counts from a number drawn at random,
// and a key that is there already means that the draw was not lucky. So nobody's items are ever
// overwritten, whoever wins. The 60 s sweep up after a writer that is killed; an attempt that lost
// removes what it has added itself.
//
// The touches go in front of the commit and not behind it: a commit that counts never names
// anything that is about to expire, though its writer be killed right after it. Whatever expires
// might have been acknowledged: a segment holds the items of all writers.
//
// Everything of one attempt goes over the connection that answered its first request: a memcached
// that has started again counts its versions from 1 again, so a version says nothing there. Where
// answers name no connection, versions hold on all of them; then the commit waits until the touches
// are answered, for they may go over others.
//
// Pure: no socket, clock, entropy, thread or callback.
//
// Thread rule: one thread at a time; under the baton.

#include "base/random.h"
#include "client/list/list_controls.h"
#include "client/list/register_base.h"

namespace sheaf::client::list {

struct CasRegisterOptions {
  std::chrono::milliseconds step_timeout{1'000};  // of one operation
  // Until the commit; whoever is slower begins again.
  std::chrono::milliseconds life{60'000};
  // While others write, too, they get their turn after this time.
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
  void distrust_head() noexcept override { trusted_ = false; }
  bool closing() const override { return false; }

  void on_deadline(Now) override {}
  void on_hint(Now) override {}
  Deadline poll_deadline() const override { return never; }
  std::string_view watched_key() const override { return {}; }

 private:
  enum class State : std::uint8_t { closed, reading, open, exchanging, committing };
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
  Id next_ = 0;  // the next one of ours

  // The head that we read or wrote last.
  bool known_ = false;    // it may be the newest still
  bool trusted_ = false;  // and is likely to be
  bool absent_ = false;
  std::string version_;
  bool versioned_ = false;  // the server has sent a version
  bool contended_ = false;  // somebody else wrote it lately

  std::vector<std::string> added_;  // in this attempt; no commit names them yet
  Deadline added_at_{0};
  Head next_head_;
  bool swap_sent_ = false;  // the commit
  bool swapped_ = false;    // it was answered
  bool gone_ = false;       // something of added_ was not there any more
};

}  // namespace sheaf::client::list
