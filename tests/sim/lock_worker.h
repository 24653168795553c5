#pragma once

// A client that adds one to a shared counter again and again under a lock: it takes the lock, reads
// fenced, writes fenced, and gives the lock back. It halts at the worst moments. It waits for each
// answer or gives it up, and its writes carry fencing tokens, so the order of requests on a key is
// not in question.
//
// Thread rule: one thread. The worker outlives its client.

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "client/lock/fenced_plan.h"
#include "client/lock/lock_plan.h"
#include "tests/sim/kit/stack.h"

namespace sheaf::sim {

// What all workers share. When a counter is lost with its store, they start a new one under a new
// name, so its value is "name:number".
struct Counter {
  std::string lock;
  std::string key;
  std::map<std::string, unsigned> acknowledged;  // increments, by the counter's name
  unsigned begun = 0;
  std::vector<std::string> tokens;  // of all tenures, in the order of their grants
};

struct WorkerOptions {
  std::chrono::milliseconds lease{300};
  double stand_still = 0;  // chance, after the grant and after the read
  std::chrono::milliseconds longest_still{900};
  double linger = 0.1;  // chance to keep the lock for up to two leases before the read
  client::lock::LockControls controls{};
};

class LockWorker final {
 public:
  LockWorker(unsigned index, StackClient& client, Counter& counter, Random& random,
             const WorkerOptions& options);
  ~LockWorker();
  LockWorker(const LockWorker&) = delete;
  LockWorker& operator=(const LockWorker&) = delete;

  void begin() { take(); }
  // Takes no more locks once the present round is over.
  void finish() { finishing_ = true; }
  bool idle() const { return idle_; }

  // True if this client's own clock says that it holds the lock, as LockGuard::held().
  bool believes() const;
  Deadline granted_at() const { return granted_at_; }
  bool stood_still_since(Deadline time) const { return still_until_ > time; }
  void stand_still(std::chrono::nanoseconds time);
  unsigned rounds() const { return rounds_; }
  unsigned losses() const { return losses_; }
  unsigned refused() const { return refused_; }

 private:
  class LockOwner;
  class OperationOwner;

  void take();
  void on_lock(client::lock::LockPlan& plan, Now now);
  void read();
  void on_read(const Result<GetResult>& got);
  void write(const GetResult& got);
  void on_written(const Result<SetResult>& done);
  void give_back();
  void again();
  void soon(std::function<void()> what);
  client::lock::FencedTerms terms() const;

  const unsigned index_;
  StackClient& client_;
  Counter& counter_;
  Random& random_;
  const WorkerOptions options_;
  client::lock::LockMemory memory_;
  std::vector<std::unique_ptr<LockOwner>> owners_;
  std::unique_ptr<OperationOwner> operation_;
  std::shared_ptr<client::lock::Tenure> tenure_;
  LockOwner* present_ = nullptr;
  std::string name_;  // of the counter being written
  Deadline granted_at_{0};
  Deadline still_until_{0};
  bool finishing_ = false;
  bool idle_ = false;
  unsigned rounds_ = 0;
  unsigned losses_ = 0;
  unsigned refused_ = 0;
};

}  // namespace sheaf::sim
