#pragma once

/// @file
/// LeaderElection: one of several programs leads, and another takes over when it ends. Also for
/// programs that only want to know who leads. docs/leader.md says what is promised.
///
///     sheaf::LeaderElection election(client, "press7", {.holder = "pump A"});
///     election.on_lost([&](const sheaf::Error& why) { stop(why); });
///     if (auto elected = election.campaign(); elected && *elected) {
///       election.term()->write("{press7}state", "running");
///     }

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <sheaf/async.h>

namespace sheaf {
inline namespace v0 {

class AsyncLeaderElection;

/// Options of LeaderElection::campaign.
struct CampaignOptions {
  /// How long to campaign; see Wait. None: until elected. 0: asks once, as Locker::try_lock.
  Wait wait{};
  Timeout timeout{};  ///< For each request to the lock's node. See Timeout.
  Stop stop{};        ///< See Stop.
};

/// The leader, if there is one.
struct Leader {
  /// What the leader calls itself: LockerOptions::holder, or all that the lock's key holds if it
  /// was not this library that wrote it. None: no one leads.
  std::optional<std::string> holder{};
};

/// An election. Its leader is the holder of the lock `name`, so it goes together with Locker, and
/// with other programs that take the same lock.
///
/// On `mqtt://` and `embedded://` a leader is fenced: what it writes through term() is refused once
/// a later leader has read the key. On `memcached://` and `redis://` no server checks that: a
/// leader that was stopped for longer than its lease may act together with the next one until it
/// notices. See LockStrength. When a leader dies, the next is elected when its lease ends: within
/// 400 ms more, on memcached 1 % of the lease and 400 ms.
///
/// Callbacks must not throw. They run on the client's dispatcher, with two exceptions: on_elected
/// of a campaign() that blocks, and what comes after the client was closed, run on the thread of
/// the call.
///
/// Thread rule: any thread may call any member at any time, callbacks included; the destructor
/// needs that no other thread calls the object.
///
/// Lifetime: may outlive the Client, which must not be moved meanwhile. When the client ends the
/// leader has lost, and calls end with Outcome::shutdown. After fork() the child leads nothing.
class SHEAF_API LeaderElection {
 public:
  using ElectedCallback = MoveOnlyFunction<void(const FencingToken&)>;   ///< See on_elected.
  using LostCallback = MoveOnlyFunction<void(const Error&)>;             ///< See on_lost.
  using LeaderCallback = MoveOnlyFunction<void(const Result<Leader>&)>;  ///< See on_leader.

  /// Connects to nothing. Options that are not allowed are reported by campaign().
  LeaderElection(Client& client, std::string name, LockerOptions options = LockerOptions());
  /// As resign(), within the cluster's `timeout`. Asynchronous calls end with Reason::cancelled. A
  /// callback that was about to run may still come.
  ~LeaderElection();
  LeaderElection(const LeaderElection&) = delete;
  LeaderElection& operator=(const LeaderElection&) = delete;

  /// Waits until this object leads: true, at once if it does already. False: another led to the end
  /// of the wait. Servers that are not reached, fail over or refuse for a while do not end it.
  /// Errors: the last one, when the node was not reached at the end of the wait; those that no
  /// repetition changes (Outcome::invalid, unsupported, shutdown, and Outcome::refused for rights,
  /// a login or what the server does not understand); Reason::cancelled after resign();
  /// Outcome::invalid while another campaign of this object runs. A leader that has lost may
  /// campaign again.
  Result<bool> campaign(const CampaignOptions& options = {});
  /// Ends a campaign, and gives leadership up. True: it was given up. False: this object did not
  /// lead. Errors: as LockGuard::release; it does not lead then either.
  Result<bool> resign(const ReleaseOptions& options = {});

  /// True if this object leads now; see LockGuard::held. Neither waits nor asks the store.
  bool leading() const noexcept;
  /// The lock of the last term, for fenced reads and writes; null: there was none. After the term
  /// it is not held, and its calls end with Reason::lock_lost.
  std::shared_ptr<LockGuard> term() const;

  /// Calls `elected` with the fencing token whenever this object is elected, before campaign()
  /// ends. A second on_elected() replaces the first callback.
  void on_elected(ElectedCallback elected);
  /// Calls `lost` once for each term that ends without resign(), after on_elected of that term.
  /// The reasons are those of LockGuard::LossCallback. A second on_lost() replaces the first.
  void on_lost(LostCallback lost);

  /// Asks who leads. Errors: as Client::get.
  Result<Leader> leader(const GetOptions& options = {});
  /// Waits until someone else leads than was reported last, at first: until it is known who leads.
  /// Nothing: the wait was over. Each term is reported, also the second of the same holder, but not
  /// those that come and go between two looks. While the lock's node is not reached nothing is
  /// reported. A change is reported at once where a Watch reports at once, else within a second.
  /// Calls that wait at the same time get different changes. Errors: Outcome::shutdown,
  /// Reason::cancelled, and refusals that no repetition changes.
  Result<std::optional<Leader>> next_leader(const NextOptions& options = {});
  /// Calls `changed` with each change as next_leader() returns it, and with an error at the end.
  /// Once, and not together with next_leader().
  void on_leader(LeaderCallback changed);

  /// The asynchronous forms of these members.
  AsyncLeaderElection async() const;

  class State;  ///< Internal.

 private:
  std::shared_ptr<State> state_;
};

/// The asynchronous forms of LeaderElection, made by LeaderElection::async; as AsyncClient. Futures
/// need the dispatcher, too. A campaign waits without a thread; for next_leader() on memcached, and
/// for pauses between refusals, the election has one.
class SHEAF_API AsyncLeaderElection {
 public:
  /// The same election; the coroutines that await its calls are resumed by the hook.
  AsyncLeaderElection resume_by(ResumeHook hook) const { return {state_, std::move(hook)}; }

  /// See LeaderElection::campaign.
  Call<Result<bool>> campaign(const CampaignOptions& options = {}) const;
  /// See LeaderElection::resign.
  Call<Result<bool>> resign(const ReleaseOptions& options = {}) const;
  /// See LeaderElection::leader.
  Call<Result<Leader>> leader(const GetOptions& options = {}) const;
  /// See LeaderElection::next_leader.
  Call<Result<std::optional<Leader>>> next_leader(const NextOptions& options = {}) const;

 private:
  friend class LeaderElection;
  AsyncLeaderElection(std::shared_ptr<LeaderElection::State> state, ResumeHook hook) noexcept
      : state_(std::move(state)), hook_(std::move(hook)) {}
  std::shared_ptr<LeaderElection::State> state_;
  ResumeHook hook_;
};

}  // namespace v0
}  // namespace sheaf
