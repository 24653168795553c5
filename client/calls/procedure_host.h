#pragma once

// ProcedureHost: runs procedures on a cluster: starts their operations, wakes them at their
// deadlines and when their watched key changes, and ends them when the client closes.
//
// Thread rule: belongs to one lane; under its baton.

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/intrusive_list.h"
#include "client/calls/procedure.h"
#include "client/calls/watches.h"
#include "cluster/client_cluster.h"
#include "socket/seam.h"

namespace sheaf::client::calls {

class ProcedureHost;
class ProcedureRun;

// Notified of the progress of a procedure.
class ProcedureOwner {
 public:
  // Called after the start and after every further input, when all that the procedure wanted has
  // been started. Here the owner may release the run and start other procedures.
  virtual void on_progress(ProcedureRun& run, Now now) = 0;

 protected:
  ~ProcedureOwner() = default;
};

// A running procedure. It exists until it is done, nothing of it is in flight and its owner has
// released it.
class ProcedureRun final : public ListHook<ProcedureRun>,
                           private socket::RequestSink,
                           private socket::TimerSink,
                           private WatchSink {
 public:
  ~ProcedureRun();
  ProcedureRun(const ProcedureRun&) = delete;
  ProcedureRun& operator=(const ProcedureRun&) = delete;

  Procedure& procedure() noexcept { return *procedure_; }
  // Call after the owner gave the procedure an input of its own (asked a lock to be released, ...).
  // Starts what the procedure wants now, then calls on_progress as usual.
  void resume(Now now) { pump(now); }
  // The owner's caller no longer wants the outcome. The run may not exist afterwards.
  void cancel(Now now);
  // The owner is no longer notified, and the run continues alone. The run may not exist afterwards.
  void release() noexcept;

 private:
  friend class ProcedureHost;
  struct Slot final : cluster::Request {
    unsigned id = 0;
  };

  ProcedureRun(ProcedureHost& host, std::unique_ptr<Procedure> procedure, ProcedureOwner& owner);
  void begin(Now now);
  void end(Now now);  // the client closes
  void pump(Now now);
  void start(const Command& command, Now now);
  void refuse(unsigned id, Now now);
  void follow_watch(Now now);
  void end_if_over() noexcept;
  void on_done(socket::Request& request, const socket::Completion& completion) override;
  void on_timer(Now now) override;
  void on_update(std::string_view key, const WatchUpdate& update, Now now) override;

  ProcedureHost& host_;
  std::unique_ptr<Procedure> procedure_;
  ProcedureOwner* owner_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::vector<Slot*> free_;
  unsigned in_flight_ = 0;
  bool pumping_ = false;
  bool unheard_ = false;  // and counted
  std::string watched_;
  Deadline armed_ = never;
  std::unique_ptr<socket::Timer> timer_;
};

class ProcedureHost final : private cluster::ConnectionListener {
 public:
  // If `watches` is null, procedures get no hints. `unheard` counts the runs that were released and
  // continue alone; it may be null.
  ProcedureHost(socket::Loop& loop, cluster::ClientCluster& cluster, Watches* watches,
                std::atomic<unsigned>* unheard = nullptr);
  // Nothing may be in flight any more: the cluster was shut down or destroyed.
  ~ProcedureHost();
  ProcedureHost(const ProcedureHost&) = delete;
  ProcedureHost& operator=(const ProcedureHost&) = delete;

  // Starts the procedure; the owner is notified before this returns.
  void run(std::unique_ptr<Procedure> procedure, ProcedureOwner& owner, Now now);

  // Ends every procedure, before the cluster shuts down. Operations that they still want end at
  // once, unsent.
  void shut_down(Now now);
  bool empty() const noexcept { return runs_.empty(); }

 private:
  friend class ProcedureRun;
  void on_connection_ended(std::uint64_t connection, Now now) override;
  template <class Function>
  void for_each_run(const Function& function);

  socket::Loop& loop_;
  cluster::ClientCluster& cluster_;
  Watches* watches_;
  std::atomic<unsigned>* const unheard_;
  bool shut_down_ = false;
  IntrusiveList<ProcedureRun> runs_;
};

}  // namespace sheaf::client::calls
