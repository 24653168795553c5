#pragma once

/// @file
/// Locker: locks with leases and fencing tokens. LockGuard: one lock that is held, and the reads
/// and writes that it protects. Mutex: the same as a standard mutex. docs/locks.md tells what is
/// promised.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <sheaf/client.h>
#include <sheaf/export.h>
#include <sheaf/options.h>
#include <sheaf/result.h>
#include <sheaf/value.h>

namespace sheaf {
namespace client::lock {
class LockSession;
}  // namespace client::lock
inline namespace v0 {

/// What a lock of this endpoint promises.
enum class LockStrength : std::uint8_t {
  fenced,  ///< The store refuses writes with an older token: a holder that was paused harms nobody.
  /// Nobody checks tokens: a holder that was paused longer than its lease may still write with a
  /// plain set, and the server may drop a lock early. LockGuard::write compares versions: it
  /// overwrites nothing that the guard has not read.
  advisory
};
/// One word: "fenced", "advisory".
SHEAF_API std::string_view to_string(LockStrength strength) noexcept;

/// Options of a Locker.
struct LockerOptions {
  /// Begins the value that the lock's key holds, for people; random bytes follow, so that two
  /// holders never look alike. At most 256 bytes; empty = the cluster's `client_id`.
  std::string holder{};
  /// For how long a holder that dies keeps the lock: Locker::min_lease .. Locker::max_lease. It is
  /// renewed each third of it while held; a holder believes in it 1 % + 50 ms less. memcached
  /// counts in seconds: there a dead holder keeps the lock for up to 3 s more than the lease, and
  /// for 2 s more if the lease is a whole number of seconds.
  std::chrono::milliseconds lease{10'000};
};

/// Options of LockGuard::read.
struct FencedReadOptions {
  /// A fenced read writes the value back and so ends its time to live: give it again here. None:
  /// the key never expires afterwards (or after the cluster's `default_ttl`). Under an advisory
  /// lock a read writes nothing, and the time to live stays as it is.
  std::optional<Ttl> ttl{};
  bool other_node = false;  ///< Allow a key on another node than the lock's: see LockGuard.
  Timeout timeout{};        ///< For the whole read. See Timeout.
};

/// Options of LockGuard::write.
struct FencedWriteOptions {
  std::optional<Ttl> ttl{};                       ///< As SetOptions::ttl.
  SetCondition condition = SetCondition::always;  ///< See SetCondition.
  bool other_node = false;  ///< Allow a key on another node than the lock's: see LockGuard.
  Timeout timeout{};        ///< See Timeout.
};

/// Options of LockGuard::remove.
struct FencedRemoveOptions {
  /// Remove only if the key holds exactly this value; unsupported under an advisory lock.
  std::optional<std::string_view> if_value{};
  bool other_node = false;  ///< Allow a key on another node than the lock's: see LockGuard.
  Timeout timeout{};        ///< See Timeout.
};

/// One lock that is held, until release(), the destructor, or its loss.
///
/// It is renewed in the background. It is lost when no renewal succeeds within the lease (the
/// process stood still, the node cannot be reached), when the store says that another has it, and
/// when the connection that it was taken on ends: a store without a disk forgets its locks when it
/// ends.
///
/// read, write and remove carry the fencing token. Read what you are going to change with read()
/// and not with Client::get: only what was claimed is protected. The keys should live on the lock's
/// node, for only there the token has a meaning; tag them, as in `{lock}counter` for a lock named
/// `lock`. A key of another node is refused unless the option `other_node` says so; what it
/// protects there is weaker: see docs/locks.md.
///
/// Under an advisory lock no token is sent. Instead the guard notes the version of what it reads
/// and writes, and its next write or removal of that key is carried out only if the key is still at
/// that version, wherever the key lives.
///
/// Thread rule: any thread may call any member at any time, except that the destructor, moves and
/// release() on a moved-from guard need that no other thread calls the object. read, write, remove
/// and release block; callbacks may call them.
///
/// Lifetime: may outlive the Client; the lock is then not held, and calls end with
/// Outcome::shutdown. It lives on in the store until its lease ends: release it before. After
/// fork() it is not held in the child.
class SHEAF_API LockGuard {
 public:
  /// Receives the reason of a loss: Reason::timed_out (the lease was over), connection_lost,
  /// lock_lost (another has it) or closed (the client was closed).
  using LossCallback = std::function<void(const Error&)>;

  LockGuard(LockGuard&&) noexcept;
  LockGuard& operator=(LockGuard&&) noexcept;
  /// As release(), within the cluster's `timeout`.
  ~LockGuard();

  /// The name that was locked; empty when moved from.
  const std::string& name() const noexcept;
  /// What the lock promises.
  LockStrength strength() const noexcept;

  /// Whether the lock is held, by our own clock. True says nothing about the next moment: writes
  /// are protected by the token, other deeds by nothing. Does not wait and asks nobody.
  bool held() const noexcept;
  /// The fencing token of this tenure, for writes by other programs; empty when not held. After a
  /// write that ended `unknown` the guard takes a new one, and the old one counts no more. Of an
  /// advisory lock it is the version of its key when it was taken, which no server checks.
  FencingToken token() const;

  /// Calls `lost` once if the lock is lost, now or later; on the dispatcher. Not called after
  /// release() or the destructor has begun. A second call replaces the first callback.
  void on_loss(LossCallback lost);

  /// Gives the lock back; held() is false from the beginning. True: it was still ours. False: it
  /// had been lost before. An error (Outcome::unknown, not_sent, ...) means that the store may keep
  /// it until its lease ends; the client goes on trying. A further call returns false.
  Result<bool> release(Timeout timeout = {});

  /// Reads a key and claims it for this tenure: from now on the store refuses writers with an older
  /// token, and a following write() replaces exactly what was read. An absent key is an empty
  /// optional; it is not claimed, but the guard's next write() of it is carried out only if the key
  /// is still absent. Under an advisory lock nothing is claimed: the version is noted for the next
  /// write(). Errors: as Client::get and Client::set; Reason::lock_lost when the lock is not held
  /// (nothing was sent); Reason::fencing_stale when a later holder was here; Reason::queue_full
  /// when the guard has noted 65,536 keys.
  Result<GetResult> read(std::string_view key, const FencedReadOptions& options = {});
  /// Writes a key with the token. `stored` false: the condition did not hold, or the key was read
  /// as absent and is there now: read it again. Under an advisory lock also when it has changed
  /// since the guard read or wrote it; what the guard has never read is written as it is. There
  /// Reason::connection_lost (nothing was sent) means that the server, or the way to it, is another
  /// than when the key was read: read it again. Errors: as read.
  Result<SetResult> write(std::string_view key, std::string_view value,
                          const FencedWriteOptions& options = {});
  /// Removes a key with the token. The store forgets the key's fence with it: an older holder could
  /// write it again. Under an advisory lock `value_differs` means that the key has changed since
  /// the guard read or wrote it. Errors: as read.
  Result<RemoveResult> remove(std::string_view key, const FencedRemoveOptions& options = {});

 private:
  friend class Locker;
  explicit LockGuard(std::shared_ptr<client::lock::LockSession> session) noexcept;
  std::shared_ptr<client::lock::LockSession> session_;
};

/// A guard, or nothing when another holds the lock.
using LockResult = Result<std::optional<LockGuard>>;

/// Takes locks. Every acquisition stands for itself: threads of one client and several lockers
/// exclude each other as processes do, and a lock that is held cannot be taken again by its holder.
///
/// The key of a lock is its name; other clients of the state store protocol that lock by
/// `SET name value NEX PX lease` are respected, and respect ours. On memcached, which allows names
/// of 1 to 250 bytes, those that lock by `add name value` are.
///
/// Thread rule: any thread may call any member at any time.
/// Lifetime: may outlive the Client; calls then end with Outcome::shutdown.
class SHEAF_API Locker {
 public:
  /// The shortest lease.
  static constexpr std::chrono::milliseconds min_lease{100};
  /// The longest lease.
  static constexpr std::chrono::milliseconds max_lease{std::chrono::hours(24)};
  /// The longest wait for a lock; more is cut to it.
  static constexpr std::chrono::hours max_wait{24 * 365};

  /// Runs on the dispatcher, exactly once. The guard is in the result; it releases when that dies.
  using LockCallback = std::function<void(LockResult)>;

  /// Options that are not allowed are told by the calls: Outcome::invalid, naming the limit.
  explicit Locker(Client& client, LockerOptions options = {});

  /// What locks of this endpoint promise.
  LockStrength strength() const noexcept;
  /// The options.
  const LockerOptions& options() const noexcept { return options_; }

  /// Asks once. Empty: another holds the lock. Errors: Outcome::not_sent and the like when the node
  /// is not reached within the timeout, Outcome::refused when the store refuses. When it is unknown
  /// whether the lock was taken it is given back in the background.
  LockResult try_lock(std::string_view name, Timeout timeout = {});
  /// The same, without blocking.
  void try_lock_async(std::string_view name, Timeout timeout, LockCallback done);

  /// Waits at most `wait` (0 = as try_lock) until the lock is free, woken by notifications and, if
  /// none comes (as on memcached), by asking each quarter of a second. Empty: another held it to
  /// the end. An error: the node was not reached in the end, or refused; what ends early is refused
  /// only.
  LockResult lock(std::string_view name, std::chrono::nanoseconds wait);
  /// The same, without blocking.
  void lock_async(std::string_view name, std::chrono::nanoseconds wait, LockCallback done);

 private:
  friend class Mutex;
  struct Request;
  using Session = std::shared_ptr<client::lock::LockSession>;
  Result<Session> prepare(const Request& request) const;
  LockResult run(const Request& request) const;
  LockResult lock_patiently(std::string_view name, std::chrono::nanoseconds patience);
  void run_async(const Request& request, LockCallback done) const;

  std::shared_ptr<client::lock::LockService> service_;
  LockerOptions options_;
};

/// A lock as a standard mutex (TimedLockable): for std::unique_lock, std::scoped_lock, std::lock.
/// Threads that share the object exclude each other even when the lock in the store is lost
/// meanwhile: ask held(), and write through guard().
///
/// Thread rule: as std::timed_mutex, but any thread may unlock.
/// Lifetime: may outlive the Client.
class SHEAF_API Mutex {
 public:
  /// `name` is the lock's name, the options are those of Locker.
  Mutex(Client& client, std::string name, LockerOptions options = {});
  ~Mutex();
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  /// Waits for as long as it takes. Throws std::system_error when the node has not answered for the
  /// longer of a lease and the cluster's `timeout` (std::errc::host_unreachable), when the store
  /// refuses (permission_denied), when the client was closed (operation_canceled) and when name or
  /// options are not allowed (invalid_argument).
  void lock();
  /// False when another holds the lock, and when it could not be asked for.
  bool try_lock();
  /// Waits at most `time`. False as try_lock.
  template <class Rep, class Period>
  bool try_lock_for(const std::chrono::duration<Rep, Period>& time) {
    using std::chrono::nanoseconds;
    constexpr std::chrono::duration<double> longest = Locker::max_wait;
    if (std::chrono::duration<double>(time) >= longest) return try_lock_within(Locker::max_wait);
    return try_lock_within(std::chrono::ceil<nanoseconds>(time));
  }
  /// Waits until `time` at the latest. False as try_lock.
  template <class Clock, class Duration>
  bool try_lock_until(const std::chrono::time_point<Clock, Duration>& time) {
    return try_lock_for(time - Clock::now());
  }
  /// Gives the lock back; errors stay untold: the lock then ends with its lease.
  void unlock();

  /// Whether the lock in the store is held. See LockGuard::held.
  bool held() const;
  /// The guard, for fenced reads and writes. Only between lock and unlock, by who locked.
  LockGuard& guard();

 private:
  struct State;
  bool try_lock_within(std::chrono::nanoseconds time);
  bool enter(std::optional<std::chrono::nanoseconds> time);
  void leave(std::optional<LockGuard> guard);
  std::unique_ptr<State> state_;
};

}  // namespace v0
}  // namespace sheaf
