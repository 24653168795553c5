#pragma once

// CasLockKey: a lock's key at an endpoint that compares versions instead of values: memcached, and
// servers of the Redis protocol.
//
// Pure: no socket, clock, entropy, thread or callback.
//
// | step     | sends                     | answer             | then                            |
// |----------|---------------------------|--------------------|---------------------------------|
// | adding   | set name nonce if absent  | stored             | done; if slow: swapping         |
// |          |                           | stored, no version | fetching                        |
// |          |                           | not stored         | taken; looking, if an attempt   |
// |          |                           |                    | of ours may have been stored    |
// | fetching | get name, for the version | our nonce          | done                            |
// |          | of what was just stored   | else               | as looking                      |
// | looking  | get name                  | our nonce          | swapping; release: removing     |
// |          |                           | our nonce, but no  | failed: the server has none;    |
// |          |                           | version            | release: always removing        |
// |          |                           | another nonce      | taken; release: gone            |
// |          |                           | the same version   | acquire: replacing              |
// |          |                           | for a lease        |                                 |
// |          |                           | absent             | acquire: adding; else gone      |
// | swapping | set name nonce if version | stored             | done; if slow: once more        |
// |          |                           | stored, no version | acquire: fetching; renew: done  |
// |          |                           | not stored, absent | acquire: adding; renew: taken,  |
// |          |                           |                    | gone                            |
// | replacing| set name nonce if its     | stored             | done; if slow: swapping         |
// |          | version                   | not stored, absent | adding                          |
// | removing | remove name if version    | removed            | done                            |
// |          |                           | another version    | looking                         |
// |          |                           | absent             | gone                            |
// | any      |                           | not answered       | failed                          |
//
// acquire begins with adding, renew with swapping, release with removing. Renew and release begin
// with looking instead if the version is not certain, and so does acquire on memcached once the
// lock was taken.
//
// A memcached version is valid only on the connection that returned it: a server that has restarted
// counts from 1 again, and the same number may belong to another item. At other endpoints
// connections have no numbers: a version is made from the nonce, which only we have. A version is
// certain while every write was answered. A server executes the requests of one connection in
// order, so a get sees the effect of all earlier writes on that connection.
//
// The life of an item is the lease, where servers count milliseconds. memcached counts whole
// seconds, with a clock that it reads about once a second, a little later each time. It stores an
// item with the second that it read last, and ends the item when it reads the item's last second.
// So an item lives up to a second less than asked for. When a reading slips past the turn of a
// second, one second is skipped, and items of that time live up to two seconds less (3 s were asked
// for, 1.01 s were measured). So `grace` more seconds are asked for. A busy server may read its
// clock even later, which costs as much again; the allowance in the belief covers 50 ms of it. As
// everywhere, a holder believes in a lease that begins before its request was sent.
//
// A waiter need not wait for the end of an item that outlives the lease. The item's flags say how
// long the lease is. Every renewal changes the version. So a holder whose version a waiter has seen
// on one connection for a lease, and for the allowance that a belief has, believes no more, and the
// waiter replaces that version. A renewal that is still under way then fails. An item without such
// flags is somebody else's and is left until it ends.
//
// A server that was stopped and resumes stores with the second from before the stop, until it reads
// its clock: an item of 6 s lived for 1.01 s after a stop of 5 s. So an item whose storing was
// answered slowly is swapped once more. (A request that came just before the server resumed is
// answered fast, so this is not noticed until the next renewal.)

#include <map>
#include <string>

#include "client/lock/lock_controls.h"
#include "client/lock/lock_key.h"
#include "client/lock/rivals.h"

namespace sheaf::client::lock {

// The time to live of an item where it counts in whole seconds.
std::chrono::seconds item_life(std::chrono::milliseconds lease,
                               std::chrono::seconds grace = LockControls().grace) noexcept;

// The flags of an item whose holder has that lease, and the lease of an item with those flags, if
// they are such. Five bits mark them, the others are the milliseconds.
std::uint32_t lease_flags(std::chrono::milliseconds lease) noexcept;
std::optional<std::chrono::milliseconds> lease_of(std::uint32_t flags) noexcept;

// The error of an endpoint that returns no versions.
Error no_versions(std::string_view node);

class CasLockKey final : public LockKey {
 public:
  // The rivals belong to the client and outlive the key.
  CasLockKey(LockItem item, Rivals& rivals, LockControls controls = {})
      : item_(std::move(item)), rivals_(rivals), controls_(controls) {}
  void begin(Request request, Deadline deadline, std::uint64_t connection, Now now) override;
  bool poll_command(calls::Command& command) override;
  std::optional<KeyAnswer> on_answer(unsigned id, const socket::Completion& answer) override;
  bool watchable() const noexcept override { return false; }

 private:
  enum class Step : std::uint8_t { idle, adding, fetching, looking, swapping, replacing, removing };

  Step first() const;
  void go(Step step, Now now);
  bool in_flight() const { return step_ != Step::idle && sent_; }
  bool reads() const { return step_ == Step::fetching || step_ == Step::looking; }
  void doubt();
  bool certain() const { return !version_.empty(); }
  std::optional<KeyAnswer> on_stored(const socket::Completion& answer);
  std::optional<KeyAnswer> on_added(const socket::Completion& answer);
  std::optional<KeyAnswer> on_looked(const socket::Completion& answer);
  std::optional<KeyAnswer> on_swapped(const socket::Completion& answer);
  std::optional<KeyAnswer> on_removed(const socket::Completion& answer);
  KeyAnswer ended(KeyAnswer::End end, const socket::Completion& answer);
  KeyAnswer failed(Error error, const socket::Completion& answer);
  void note(const socket::Completion& answer);
  std::optional<KeyAnswer> on_rival(const socket::Completion& answer);
  protocol::Operation operation();

  LockItem item_;
  Rivals& rivals_;
  LockControls controls_;

  // The request.
  Request request_ = Request::acquire;
  Step step_ = Step::idle;
  Deadline deadline_{0};
  std::uint64_t connection_ = 0;  // for the next command; 0 = any
  Deadline begun_at_{0};
  Deadline sent_at_{0};    // when the current command was sent
  Deadline stored_at_{0};  // when the write that was stored was sent
  bool repeated_ = false;  // swapped once more after a slow answer
  bool sent_ = false;      // the command of the step
  unsigned id_ = 0;

  // What is known of the item.
  std::string rival_;         // replacing: the version of another holder's item
  bool may_be_ours_ = false;  // one of our writes was stored, or may have been
  std::string version_;       // from version_connection_; empty if it is not certain
  std::uint64_t version_connection_ = 0;
  std::map<unsigned, std::string> compared_;  // per command in flight, which has a view of it
};

}  // namespace sheaf::client::lock
