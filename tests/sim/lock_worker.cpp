#include "tests/sim/lock_worker.h"

#include <charconv>

namespace sheaf::sim {

using namespace std::chrono_literals;
using client::calls::ProcedureRun;
using client::lock::FencedPlan;
using client::lock::FencedRead;
using client::lock::FencedWrite;
using client::lock::LockPlan;

// Owns one lock from the first request to the last. It outlives the round, since a lock may be
// freed during the next round.
class LockWorker::LockOwner final : public client::calls::ProcedureOwner {
 public:
  explicit LockOwner(LockWorker& worker) : worker_(&worker) {}
  void on_progress(ProcedureRun& run, Now now) override {
    run_ = &run;
    auto& plan = static_cast<LockPlan&>(run.procedure());
    if (worker_ != nullptr) worker_->on_lock(plan, now);
    if (!plan.done()) return;
    run_ = nullptr;
    run.release();
  }
  void leave() { worker_ = nullptr; }
  ProcedureRun* run() const { return run_; }
  LockPlan* plan() const {
    return run_ == nullptr ? nullptr : static_cast<LockPlan*>(&run_->procedure());
  }
  bool reported = false;  // the worker knows that the plan is settled
  bool lost = false;

 private:
  LockWorker* worker_;
  ProcedureRun* run_ = nullptr;
};

class LockWorker::OperationOwner final : public client::calls::ProcedureOwner {
 public:
  explicit OperationOwner(LockWorker& worker) : worker_(worker) {}
  void on_progress(ProcedureRun& run, Now now) override {
    auto& plan = static_cast<FencedPlan&>(run.procedure());
    run_ = &run;
    if (!plan.done()) return;
    run_ = nullptr;
    const bool in_doubt = plan.in_doubt();
    if (auto* read = dynamic_cast<FencedRead*>(&plan)) {
      const auto got = read->take_out();
      run.release();
      doubt(in_doubt, now);
      worker_.on_read(got);
    } else {
      const auto done = static_cast<FencedWrite&>(plan).take_out();
      run.release();
      doubt(in_doubt, now);
      worker_.on_written(done);
    }
  }
  void on_tenure(Now now) {
    if (run_ == nullptr) return;
    static_cast<FencedPlan&>(run_->procedure()).on_tenure(now);
    run_->resume(now);
  }

 private:
  void doubt(bool in_doubt, Now now) {
    LockPlan* plan = worker_.present_ == nullptr ? nullptr : worker_.present_->plan();
    if (!in_doubt || plan == nullptr) return;
    plan->on_doubt(now);
    worker_.present_->run()->resume(now);
  }
  LockWorker& worker_;
  ProcedureRun* run_ = nullptr;
};

LockWorker::LockWorker(unsigned index, StackClient& client, Counter& counter, Random& random,
                       const WorkerOptions& options)
    : index_(index),
      client_(client),
      counter_(counter),
      random_(random),
      options_(options),
      operation_(std::make_unique<OperationOwner>(*this)) {}
LockWorker::~LockWorker() = default;

bool LockWorker::believes() const {
  return tenure_ != nullptr && tenure_->held && client_.loop().world().now().mono < tenure_->until;
}

void LockWorker::stand_still(std::chrono::nanoseconds time) {
  client_.loop().stop_for(time);
  still_until_ = client_.loop().world().now().mono + time;
}

// Runs `what` in the client's next turn, which may come after a long halt. Never in the present
// turn: work that a turn defers still runs in that turn, before the halt.
void LockWorker::soon(std::function<void()> what) {
  if (options_.stand_still > 0 && random_.between(0, 1) < options_.stand_still) {
    stand_still(std::chrono::milliseconds(
        random_.below(static_cast<std::uint64_t>(options_.longest_still.count()))));
  }
  client_.loop().world().after(
      0ns, [this, work = std::move(what)](Now) { client_.later([work](Now) { work(); }); });
}

void LockWorker::take() {
  client::lock::LockTerms terms;
  terms.name = counter_.lock;
  terms.nonce = "worker" + std::to_string(index_) + ":" + std::to_string(random_.u64());
  terms.lease = options_.lease;
  terms.patient = random_.below(4) != 0;
  terms.attempt_timeout = 200ms;
  terms.controls = options_.controls;
  terms.wait_until = client_.loop().world().now().mono + 3s;
  auto plan = std::make_unique<LockPlan>(std::move(terms), memory_, random_.fork());
  tenure_ = plan->tenure();
  if (present_ != nullptr) present_->leave();
  present_ = owners_.emplace_back(std::make_unique<LockOwner>(*this)).get();
  client_.run(std::move(plan), *present_);
}

void LockWorker::on_lock(LockPlan& plan, Now now) {
  if (plan.settled() && !present_->reported) {
    present_->reported = true;
    if (!plan.acquired()) return again();
    granted_at_ = now.mono;
    counter_.tokens.push_back(tenure_->token);
    const bool linger = random_.between(0, 1) < options_.linger;
    const auto longest = static_cast<std::uint64_t>(2 * options_.lease.count());
    client_.loop().world().after(std::chrono::milliseconds(linger ? random_.below(longest) : 0),
                                 [this](Now) { soon([this] { read(); }); });
    return;
  }
  if (plan.loss() && !present_->lost) {
    present_->lost = true;
    ++losses_;
  }
  if (plan.acquired()) operation_->on_tenure(now);
}

client::lock::FencedTerms LockWorker::terms() const {
  client::lock::FencedTerms terms;
  terms.key = counter_.key;
  terms.started = client_.loop().now().mono;
  terms.deadline = terms.started + 500ms;
  terms.controls = options_.controls;
  return terms;
}

void LockWorker::read() {
  client_.run(std::make_unique<FencedRead>(tenure_, terms()), *operation_);
}

void LockWorker::on_read(const Result<GetResult>& got) {
  if (!got) {
    ++refused_;
    return soon([this] { give_back(); });
  }
  soon([this, value = *got] { write(value); });
}

void LockWorker::write(const GetResult& got) {
  client::lock::FencedTerms wanted = terms();
  unsigned number = 0;
  if (got) {
    const std::size_t colon = got->data.find(':');
    name_ = got->data.substr(0, colon);
    std::from_chars(got->data.data() + colon + 1, got->data.data() + got->data.size(), number);
  } else {
    name_ = "c" + std::to_string(counter_.begun++);
  }
  wanted.value = name_ + ":" + std::to_string(number + 1);
  client_.run(std::make_unique<FencedWrite>(tenure_, std::move(wanted), SetCondition::always),
              *operation_);
}

void LockWorker::on_written(const Result<SetResult>& done) {
  if (done && done->stored) {
    ++counter_.acknowledged[name_];
    ++rounds_;
  } else {
    ++refused_;
  }
  soon([this] { give_back(); });
}

void LockWorker::give_back() {
  if (LockPlan* plan = present_->plan()) {
    const Now now = client_.loop().now();
    plan->release(now.mono + 1s, now);
    present_->run()->resume(now);
  }
  again();
}

void LockWorker::again() {
  if (finishing_) {
    idle_ = true;
    return;
  }
  client_.loop().world().after(std::chrono::milliseconds(random_.below(30)),
                               [this](Now) { client_.later([this](Now) { take(); }); });
}

}  // namespace sheaf::sim
