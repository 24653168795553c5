#pragma once

// CasLockKey: a lock's key at an endpoint that compares versions, not values: memcached.
//
// | step     | sends                     | answer             | then                            |
// |----------|---------------------------|--------------------|---------------------------------|
// | adding   | set name nonce if absent  | stored             | done; slowly: swapping          |
// |          |                           | stored, no version | looking                         |
// |          |                           | not stored         | taken; looking, if an attempt   |
// |          |                           |                    | of ours may live                |
// | looking  | get name                  | our nonce          | swapping; give back: removing;  |
// |          |                           |                    | done, if it was just stored     |
// |          |                           | our nonce, but no  | failed: the server keeps none;  |
// |          |                           | version            | give back: removing, always     |
// |          |                           | another's          | taken; give back: gone          |
// |          |                           | absent             | take: adding; else gone         |
// | swapping | set name nonce if version | stored             | done; slowly: once more         |
// |          |                           | not stored, absent | take: adding; keep: taken, gone |
// | removing | remove name if version    | removed            | done                            |
// |          |                           | another version    | looking                         |
// |          |                           | absent             | gone                            |
// | any      |                           | not answered       | failed                          |
//
// take begins with adding; keep with swapping, or looking when the version is not certain; give
// back with removing, or looking likewise.
//
// A version means something on the connection that told it, and nowhere else: a server that has
// restarted counts from 1 again, and the same number may be another item. A version is certain
// while every write was answered. On one connection requests are executed in their order, so what
// a get finds there is what all writes before it have left.
//
// The life of an item. memcached counts whole seconds with a clock that it reads about once a
// second, a little later each time. An item is stored with the second that was read last and ends
// when its own is reached, so it lives up to a second shorter than asked; and when a reading passes
// the turn of a second, a whole second is left out, and items of that time live up to two seconds
// shorter (with 3 s, 1.01 s were measured). So `grace` seconds more are asked for. A reading that a
// busy server makes later than that may cost as much again; the allowance in the belief covers
// 50 ms of it. A holder believes a lease from before its request was sent, as everywhere.
//
// A server that was stopped and goes on stores with the second from before, until it reads its
// clock: an item of 6 s lived for 1.01 s after a stop of 5 s. So what was stored but answered
// slowly is swapped once more. (A request that came just before the server went on is answered fast
// and not noticed; the next renewal finds out.)

#include <map>
#include <string>

#include "client/lock/lock_key.h"

namespace sheaf::client::lock {

struct CasRules {
  // An answer that took longer is slow.
  std::chrono::nanoseconds slow = std::chrono::milliseconds(100);
  std::chrono::seconds grace{2};  // asked for beyond the lease
  // Renewals compare; tests switch it off to see that two believe then.
  bool compare = true;
};

// How long an item is asked to live: whole seconds.
std::chrono::seconds item_life(std::chrono::milliseconds lease,
                               std::chrono::seconds grace = CasRules().grace) noexcept;

// The error of an endpoint that tells no versions.
Error no_versions(std::string_view node);

class CasLockKey final : public LockKey {
 public:
  explicit CasLockKey(LockItem item, CasRules rules = {}) : item_(std::move(item)), rules_(rules) {}
  void begin(Deed deed, Deadline deadline, std::uint64_t connection, Now now) override;
  bool poll_command(calls::Command& command) override;
  std::optional<KeyAnswer> on_answer(unsigned id, const socket::Completion& answer) override;
  bool watchable() const noexcept override { return false; }

 private:
  enum class Step : std::uint8_t { idle, adding, looking, swapping, removing };

  Step first() const;
  void go(Step step, Now now);
  bool writes() const { return step_ != Step::idle && step_ != Step::looking; }
  std::optional<KeyAnswer> on_stored(const socket::Completion& answer);
  std::optional<KeyAnswer> on_added(const socket::Completion& answer);
  std::optional<KeyAnswer> on_looked(const socket::Completion& answer);
  std::optional<KeyAnswer> on_swapped(const socket::Completion& answer);
  std::optional<KeyAnswer> on_removed(const socket::Completion& answer);
  KeyAnswer ended(KeyAnswer::End end, const socket::Completion& answer);
  KeyAnswer failed(Error error, const socket::Completion& answer);
  void note(const socket::Completion& answer);
  protocol::Operation operation();

  LockItem item_;
  CasRules rules_;

  // The deed.
  Deed deed_ = Deed::take;
  Step step_ = Step::idle;
  Deadline deadline_{0};
  std::uint64_t connection_ = 0;  // of its next request; 0 = any
  Deadline begun_at_{0};
  Deadline sent_at_{0};    // the present request
  Deadline stored_at_{0};  // sending time of the write that was stored
  bool stored_ = false;    // by this deed; only its version is wanted yet
  bool repeated_ = false;  // after a slow answer
  bool wanted_ = false;
  bool in_flight_ = false;
  unsigned id_ = 0;

  // What is known of the item.
  bool may_be_ours_ = false;  // an attempt was stored, or may have been
  std::string version_;       // told last, on version_connection_
  std::uint64_t version_connection_ = 0;
  bool certain_ = false;
  std::map<unsigned, std::string> compared_;  // by commands in flight, which borrow it
};

}  // namespace sheaf::client::lock
