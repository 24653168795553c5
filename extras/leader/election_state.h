#pragma once

// LeaderElection::State: what the election and its asynchronous calls share: the term, the campaign
// in progress, the callbacks, and who was seen to lead.
//
// Thread rule: any thread. No callback and no call of the client is made under the mutex.

#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include <sheaf/leader.h>

#include "base/clock.h"
#include "base/fork_mark.h"
#include "base/mutex.h"
#include "extras/leader/leader_view.h"
#include "extras/leader/pauses.h"

namespace sheaf {
inline namespace v0 {

class LeaderElection::State : public std::enable_shared_from_this<State> {
 public:
  // How often the key is read where nothing can be watched.
  static constexpr std::chrono::milliseconds look_interval{500};

  State(Client& client, std::string name, LockerOptions options);

  const std::string& name() const noexcept { return name_; }
  // For what only the client itself has. Errors: Outcome::shutdown once it has gone.
  Result<Client*> client() const;
  const AsyncClient& async() const noexcept { return async_; }
  Locker& locker() noexcept { return locker_; }
  leader::Pauses& pauses() noexcept { return pauses_; }

  // ---- the campaign

  // Begins a campaign, which ends when the source is asked to stop. Otherwise returns how it has
  // ended before it began.
  std::optional<Result<bool>> enter(std::stop_source& campaign);
  // The lock was acquired: the campaign's outcome. Calls on_elected.
  Result<bool> elected(LockGuard guard, const std::stop_source& campaign);
  // The campaign has ended without the lock.
  Result<bool> not_elected(LockResult asked, const std::stop_source& campaign);
  // Ends a campaign in progress. Returns the term to release, or null.
  std::shared_ptr<LockGuard> withdraw();
  std::shared_ptr<LockGuard> term() const;
  bool leading() const noexcept;

  void on_elected(ElectedCallback elected);
  void on_lost(LostCallback lost);

  // ---- who leads

  // For calls that wait: is asked to stop by close().
  std::stop_token closing() const noexcept { return closing_.get_token(); }
  // The watch of the lock's key; null where nothing can be watched.
  Result<std::shared_ptr<Watch>> watch();
  // How long to wait before the next read of the key, which is then this caller's.
  std::chrono::nanoseconds until_look(Deadline now);
  // What was learnt: another leader, nothing new, or an error that ends the call.
  using Seen = Result<std::optional<Leader>>;
  Seen see(const Result<GetResult>& got);
  Seen see(const WatchEvent& event);

  // Ends everything, and gives leadership up.
  void close();

 private:
  void leave(const std::stop_source& campaign) SHEAF_REQUIRES(mutex_);
  void lost(const Error& why);
  std::optional<Leader> see_value(const std::optional<std::string>& value);

  Client* const client_;
  const ClientServers client_lives_;
  const AsyncClient async_;
  const std::string name_;
  Locker locker_;
  const bool watches_;
  const ForkMark process_;
  std::stop_source closing_;
  leader::Pauses pauses_;

  mutable sync::Mutex mutex_;
  std::shared_ptr<LockGuard> term_ SHEAF_GUARDED_BY(mutex_);
  std::optional<std::stop_source> campaign_ SHEAF_GUARDED_BY(mutex_);  // that is in progress
  std::shared_ptr<const ElectedCallback> on_elected_ SHEAF_GUARDED_BY(mutex_);
  std::shared_ptr<const LostCallback> on_lost_ SHEAF_GUARDED_BY(mutex_);
  std::shared_ptr<Watch> watch_ SHEAF_GUARDED_BY(mutex_);
  leader::LeaderView view_ SHEAF_GUARDED_BY(mutex_);
  Deadline next_look_ SHEAF_GUARDED_BY(mutex_){0};
};

}  // namespace v0

namespace leader {

// Passes on one change after another, and an error at the end; see LeaderElection::on_leader.
void report(const std::shared_ptr<LeaderElection::State>& state,
            const std::shared_ptr<const LeaderElection::LeaderCallback>& changed);

}  // namespace leader
}  // namespace sheaf
