#pragma once

/// @file
/// Locker: locks with leases and fencing tokens. LockGuard: one lock that is held, and the reads
/// and writes that it protects. Mutex: the same as a standard mutex. docs/locks.md says what is
/// promised; sheaf/async.h has the asynchronous forms.

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <sheaf/client.h>

namespace sheaf {
namespace client::lock {
class LockSession;
struct GuardAccess;
}  // namespace client::lock
inline namespace v0 {

class AsyncLocker;
class AsyncLockGuard;

/// What a lock of this endpoint promises.
enum class LockStrength : std::uint8_t {
  fenced,  ///< The store refuses writes with an older token, so a paused holder does no harm.
  /// No server checks tokens: a holder that was paused longer than its lease may still write with a
  /// plain set, and the server may drop a lock early. LockGuard::write compares versions: it
  /// overwrites nothing that the guard has not read.
  advisory
};
/// One word: "fenced", "advisory".
SHEAF_API std::string_view to_string(LockStrength strength) noexcept;

/// Options of a Locker.
struct LockerOptions {
  /// Begins the value that the lock's key holds, for people; random bytes follow, so that two
  /// holders never look alike. At most 256 bytes; empty = the cluster's client ID.
  std::string holder{};
  /// For how long a holder that dies keeps the lock: Locker::min_lease .. Locker::max_lease. It is
  /// renewed each third of it while held; a holder believes in it 1 % + 50 ms less. On memcached,
  /// which counts in seconds, a client that has been trying gets a dead holder's lock 1 % + 350 ms
  /// later; one that comes later, after up to 3 s.
  std::chrono::milliseconds lease{10'000};
};

/// Options of Locker::try_lock.
struct TryLockOptions {
  Timeout timeout{};  ///< For the whole attempt. See Timeout.
  Stop stop{};        ///< See Stop.
};

/// Options of Locker::lock.
struct LockOptions {
  /// How long to wait while another holds the lock: see Wait; at most Locker::max_wait. None: as
  /// long as it takes, but no longer than the lock's node answers: see Locker::lock.
  Wait wait{};
  Timeout timeout{};  ///< For each request to the lock's node. See Timeout.
  Stop stop{};        ///< See Stop.
};

/// Options of LockGuard::release.
struct ReleaseOptions {
  Timeout timeout{};  ///< How long to wait for the answer. See Timeout.
  Stop stop{};        ///< See Stop.
};

/// Options of LockGuard::read.
struct FencedReadOptions {
  /// A fenced read writes the value back and so ends its time to live: give it again here. None:
  /// the key never expires afterwards (or after the cluster's `default_ttl`). Under an advisory
  /// lock a read writes nothing, and the time to live stays as it is.
  std::optional<Ttl> ttl{};
  bool persist = false;     ///< As `ttl`: give it again for a key that was set so.
  bool other_node = false;  ///< Allow a key on another node than the lock's: see LockGuard.
  Timeout timeout{};        ///< For the whole read. See Timeout.
  Stop stop{};              ///< See Stop.
};

/// Options of LockGuard::write.
struct FencedWriteOptions {
  std::optional<Ttl> ttl{};                       ///< As SetOptions::ttl.
  SetCondition condition = SetCondition::always;  ///< See SetCondition.
  bool persist = false;                           ///< See SetOptions::persist.
  bool other_node = false;  ///< Allow a key on another node than the lock's: see LockGuard.
  Timeout timeout{};        ///< See Timeout.
  Stop stop{};              ///< See Stop.
};

/// Options of LockGuard::remove.
struct FencedRemoveOptions {
  /// Remove only if the key holds exactly this value; unsupported under an advisory lock.
  std::optional<std::string_view> if_value{};
  bool other_node = false;  ///< Allow a key on another node than the lock's: see LockGuard.
  Timeout timeout{};        ///< See Timeout.
  Stop stop{};              ///< See Stop.
};

/// One lock that is held, until release(), the destructor, or its loss.
///
/// It is renewed in the background. It is lost when no renewal succeeds within the lease (the
/// process was stopped, the node cannot be reached), when the store says that another has it, and
/// when the connection that it was taken on ends: a store without a disk forgets its locks when it
/// ends.
///
/// read, write and remove carry the fencing token. Read what you are going to change with read()
/// and not with Client::get: only what was claimed is protected. The keys should live on the lock's
/// node, because the token has a meaning only there; tag them, as in `{lock}counter` for a lock
/// named `lock`. A key on another node is refused unless the option `other_node` allows it; what
/// the token protects there is weaker: see docs/locks.md.
///
/// Under an advisory lock no token is sent. Instead the guard notes the version of what it reads
/// and writes, and its next write or removal of that key is carried out only if the key is still at
/// that version, wherever the key lives.
///
/// Thread rule: any thread may call any member at any time, except that the destructor, moves and
/// release() on a moved-from guard need that no other thread calls the object. read, write, remove
/// and release block; callbacks may call them. async() has forms that do not block.
///
/// Lifetime: may outlive the Client; the lock is then not held, and calls end with
/// Outcome::shutdown. The store keeps it until its lease ends: release it before. After fork() it
/// is not held in the child. A moved-from guard holds nothing: release() returns false, its other
/// calls end with Reason::lock_lost.
class SHEAF_API LockGuard {
 public:
  /// Receives the reason of a loss: Reason::timed_out (the lease was over), connection_lost,
  /// lock_lost (another has it) or closed (the client was closed).
  using LossCallback = MoveOnlyFunction<void(const Error&)>;

  /// What was moved from holds nothing.
  LockGuard(LockGuard&&) noexcept;
  /// The lock that was held here is released as by the destructor.
  LockGuard& operator=(LockGuard&&) noexcept;
  /// As release(), within the cluster's `timeout`.
  ~LockGuard();

  /// The name that was locked; empty when moved from.
  const std::string& name() const noexcept;
  /// What the lock promises.
  LockStrength strength() const noexcept;

  /// True if the lock is held now, by this process's own clock; it may be lost a moment later. The
  /// token protects writes, and nothing protects other actions. Neither waits nor asks the store.
  bool held() const noexcept;
  /// The fencing token of this tenure, for writes by other programs; empty when not held. After a
  /// write that ended `unknown` the guard takes a new token, and the old one is no longer valid.
  /// For an advisory lock: the version of its key when it was taken, which no server checks.
  FencingToken token() const;

  /// Calls `lost` once if the lock is lost, now or later; on the dispatcher, or on the calling
  /// thread when the client was closed. Once release() or the destructor has begun, only a call
  /// that was about to run may still come. A second on_loss() replaces the first callback.
  void on_loss(LossCallback lost);

  /// Gives the lock back; held() is false as soon as this is called, also with a token that was
  /// asked to stop before. True: the guard still had it. False: it was lost or released before. An
  /// error (Outcome::unknown, not_sent, ...) means that the store may keep it until its lease ends;
  /// the client continues to try. Only a bad timeout (Outcome::invalid, Reason::bad_argument)
  /// changes nothing.
  Result<bool> release(const ReleaseOptions& options = {});

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
  /// since the guard read or wrote it; a key that the guard has never read is written without that
  /// check. There Reason::connection_lost (nothing was sent) means that the connection is another
  /// one than when the key was read: read it again. Errors: as read.
  Result<SetResult> write(std::string_view key, std::string_view value,
                          const FencedWriteOptions& options = {});
  /// Removes a key with the token. The store forgets the key's fence as well: an older holder could
  /// write it again. Under an advisory lock `value_differs` means that the key has changed since
  /// the guard read or wrote it. Errors: as read.
  Result<RemoveResult> remove(std::string_view key, const FencedRemoveOptions& options = {});

  /// The asynchronous forms of these members: sheaf/async.h.
  AsyncLockGuard async() const;

 private:
  friend struct client::lock::GuardAccess;
  explicit LockGuard(std::shared_ptr<client::lock::LockSession> session) noexcept;
  std::shared_ptr<client::lock::LockSession> session_;
};

/// How an attempt to take a lock ended. Exactly one of three: the lock was taken and here is its
/// guard (held), another holds the lock (busy), or it is not known or not possible (error).
///
///     if (auto lock = locker.lock("door", {.wait = 10s})) {
///       lock->write("{door}count", "1");
///     } else if (lock.busy()) {
///       // another had it for all of the 10 s
///     } else {
///       log(lock.error().message());
///     }
///
/// Thread rule: a plain value, used by one thread at a time; the guard in it has its own rule.
/// Lifetime: the guard in it releases the lock when it is destroyed. A result whose guard was moved
/// out is still `held`: what it holds is a moved-from guard.
class [[nodiscard]] LockResult {
 public:
  /// Another holds the lock.
  LockResult() noexcept = default;
  /// The lock was taken.
  LockResult(LockGuard guard) noexcept  // NOLINT(google-explicit-constructor): as Result
      : state_(std::in_place_index<1>, std::move(guard)) {}
  /// An error.
  LockResult(Failure failure) noexcept  // NOLINT(google-explicit-constructor): as Result
      : state_(std::in_place_index<2>, std::move(failure.error)) {}

  /// The lock was taken, and its guard is here. Whether it is still held now: guard().held().
  bool held() const noexcept { return state_.index() == 1; }
  /// Another held the lock, to the end of the wait if there was one. The lock was not taken.
  bool busy() const noexcept { return state_.index() == 0; }
  /// Neither held nor busy: error() says why.
  bool failed() const noexcept { return state_.index() == 2; }
  /// The same as held().
  explicit operator bool() const noexcept { return held(); }

  /// The guard; throws BadResultAccess, with the reason, if there is none.
  LockGuard& guard() & { return require(), **this; }
  LockGuard&& guard() && { return require(), std::move(**this); }
  /// The guard; undefined if the lock was not taken.
  LockGuard& operator*() & noexcept { return *std::get_if<1>(&state_); }
  LockGuard&& operator*() && noexcept { return std::move(*std::get_if<1>(&state_)); }
  const LockGuard& operator*() const& noexcept { return *std::get_if<1>(&state_); }
  /// The same.
  LockGuard* operator->() noexcept { return std::get_if<1>(&state_); }
  const LockGuard* operator->() const noexcept { return std::get_if<1>(&state_); }

  /// Why nothing is known of the lock, or why it could not be asked for: see Locker::try_lock.
  /// Only if failed(): undefined if the lock was taken or another holds it.
  const Error& error() const& noexcept { return *std::get_if<2>(&state_); }
  Error&& error() && noexcept { return std::move(*std::get_if<2>(&state_)); }

 private:
  void require() const {
    if (failed()) throw_bad_result_access(error().message());
    if (busy()) throw_bad_result_access("another holder has the lock");
  }
  std::variant<std::monostate, LockGuard, Error> state_;
};

/// Takes locks. Acquisitions are independent of each other: threads of one client and several
/// lockers exclude each other as processes do, and a lock that is held cannot be taken again by its
/// holder.
///
/// The key of a lock is its name; other clients of the state store protocol that lock by
/// `SET name value NEX PX lease` are respected, and respect ours. On memcached, which allows names
/// of 1 to 250 bytes, those that lock by `add name value` are, and in the Redis protocol, with
/// names of up to 8 KiB, those that lock by `SET name value NX PX lease`.
///
/// Thread rule: any thread may call any member at any time.
/// Lifetime: may outlive the Client; calls then end with Outcome::shutdown. Copies are independent;
/// a moved-from locker is as it was.
class SHEAF_API Locker {
 public:
  /// The shortest lease.
  static constexpr std::chrono::milliseconds min_lease{100};
  /// The longest lease.
  static constexpr std::chrono::milliseconds max_lease{std::chrono::hours(24)};
  /// The longest wait for a lock; more is cut to it.
  static constexpr std::chrono::hours max_wait = longest_wait;

  /// Connects to nothing. Options that are not allowed are reported by the calls:
  /// Outcome::invalid, naming the limit.
  explicit Locker(Client& client, LockerOptions options = LockerOptions());
  /// Copies are independent: each takes locks as if it were the only one.
  Locker(const Locker&) = default;
  /// Becomes a copy.
  Locker& operator=(const Locker&) = default;
  ~Locker() = default;

  /// What locks of this endpoint promise.
  LockStrength strength() const noexcept;
  /// The options.
  const LockerOptions& options() const noexcept { return options_; }

  /// Asks once. Errors: Outcome::not_sent and the like when the node is not reached within the
  /// timeout, Outcome::refused when the store refuses. When it is unknown whether the lock was
  /// taken, the client releases it in the background.
  LockResult try_lock(std::string_view name, const TryLockOptions& options = {});

  /// Waits until the lock is free, woken by notifications and, if none comes (as everywhere but in
  /// the state store), by asking each quarter of a second. With a `wait` of 0 as try_lock. Busy:
  /// another held it to the end of the wait. An error: the node was not reached at the end of the
  /// wait, or the store refused, which ends the wait early. Without a `wait` an error also ends it
  /// when the node has not answered for the longer of a lease and the cluster's `timeout`.
  LockResult lock(std::string_view name, const LockOptions& options = {});

  /// The asynchronous forms of these members: sheaf/async.h.
  AsyncLocker async() const;

 private:
  friend class AsyncLocker;
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
  Mutex(Client& client, std::string name, LockerOptions options = LockerOptions());
  ~Mutex();
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  /// Waits for as long as it takes. Throws std::system_error when the node has not answered for the
  /// longer of a lease and the cluster's `timeout` (std::errc::host_unreachable), when the store
  /// refuses (permission_denied), when the client was closed (operation_canceled) and when name or
  /// options are not allowed (invalid_argument).
  void lock();
  /// As lock() until the token is asked to stop: then false, and nothing is held. True: held; for
  /// the standard guards see std::adopt_lock.
  [[nodiscard]] bool lock(const std::stop_token& stop);
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
  /// Gives the lock back. Errors are not reported: the lock then ends with its lease.
  void unlock();

  /// True if the lock in the store is held. See LockGuard::held.
  bool held() const;
  /// The guard, for fenced reads and writes. Only for the thread that locked, until unlock().
  LockGuard& guard();

 private:
  struct State;
  bool try_lock_within(std::chrono::nanoseconds time);
  bool lock_unless(Stop stop);
  bool enter(std::optional<std::chrono::nanoseconds> time, Stop stop);
  void keep(LockGuard guard);
  void leave();
  std::unique_ptr<State> state_;
};

}  // namespace v0
}  // namespace sheaf
