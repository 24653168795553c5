#include "client/calls/procedure_host.h"

namespace sheaf::client::calls {

ProcedureRun::ProcedureRun(ProcedureHost& host, std::unique_ptr<Procedure> procedure,
                           ProcedureOwner& owner)
    : host_(host),
      procedure_(std::move(procedure)),
      owner_(&owner),
      timer_(host.loop_.timer(*this)) {
  host_.runs_.push_back(*this);
}

ProcedureRun::~ProcedureRun() {
  host_.runs_.remove(*this);
  if (unheard_) --*host_.unheard_;
}

void ProcedureRun::begin(Now now) {
  procedure_->start(now);
  if (host_.shut_down_) procedure_->on_shutdown(now);
  pump(now);
}

void ProcedureRun::end(Now now) {
  procedure_->on_shutdown(now);
  pump(now);
}

// First every answer is given; only then are the outputs polled.
void ProcedureRun::cancel(Now now) {
  pumping_ = true;
  if (procedure_->on_cancel(now)) {
    for (const auto& slot : slots_) host_.cluster_.cancel(*slot, now);
  }
  pumping_ = false;
  pump(now);
}

// Starts the operations that the procedure wants until it wants no more, then notifies the owner.
// An operation may end before start() returns; its answer is taken at once, and this loop
// continues.
void ProcedureRun::pump(Now now) {
  if (pumping_) return;
  pumping_ = true;
  Command command;
  while (procedure_->poll_command(command)) start(command, now);
  const Deadline due = procedure_->poll_deadline();
  if (due != armed_) {
    armed_ = due;
    due == never ? timer_->cancel() : timer_->set(due);
  }
  follow_watch(now);
  pumping_ = false;
  if (owner_ != nullptr) {
    owner_->on_progress(*this, now);  // may release the run, and so destroy this object
  } else {
    end_if_over();
  }
}

void ProcedureRun::start(const Command& command, Now now) {
  if (host_.shut_down_) return refuse(command.id, now);
  if (free_.empty()) free_.push_back(slots_.emplace_back(std::make_unique<Slot>()).get());
  Slot& slot = *free_.back();
  free_.pop_back();
  slot.id = command.id;
  slot.operation = command.operation;
  slot.route = command.route;
  slot.at_owner = command.at_owner;
  slot.only_on = command.connection;
  slot.sink = this;
  slot.parent = procedure_->parent();
  ++in_flight_;
  host_.cluster_.start(slot, now);
}

void ProcedureRun::refuse(unsigned id, Now now) {
  socket::Completion closing;
  closing.outcome = Outcome::shutdown;
  closing.reason = Reason::closed;
  closing.text = "the client is closing";
  closing.now = now;
  procedure_->on_answer(id, closing);
}

void ProcedureRun::on_done(socket::Request& request, const socket::Completion& completion) {
  auto& slot = static_cast<Slot&>(request);
  const unsigned id = slot.id;
  free_.push_back(&slot);
  --in_flight_;
  procedure_->on_answer(id, completion);
  pump(completion.now);
}

void ProcedureRun::on_timer(Now now) {
  armed_ = never;
  procedure_->on_deadline(now);
  pump(now);
}

void ProcedureRun::on_update(std::string_view, const WatchUpdate&, Now now) {
  procedure_->on_hint(now);
  pump(now);
}

void ProcedureRun::follow_watch(Now now) {
  const std::string_view wanted = host_.shut_down_ ? std::string_view() : procedure_->watched_key();
  if (wanted == watched_ || host_.watches_ == nullptr) return;
  if (!watched_.empty()) host_.watches_->remove(watched_, *this, now);
  watched_ = wanted;
  if (!watched_.empty()) host_.watches_->add(watched_, *this, WatchStart::quiet, now);
}

void ProcedureRun::release() noexcept {
  owner_ = nullptr;
  unheard_ = host_.unheard_ != nullptr;
  if (unheard_) ++*host_.unheard_;
  if (!pumping_) end_if_over();
}

void ProcedureRun::end_if_over() noexcept {
  if (owner_ != nullptr || in_flight_ > 0 || !procedure_->done()) return;
  if (!watched_.empty()) host_.watches_->remove(watched_, *this, host_.loop_.now());
  delete this;
}

ProcedureHost::ProcedureHost(socket::Loop& loop, cluster::ClientCluster& cluster, Watches* watches,
                             std::atomic<unsigned>* unheard)
    : loop_(loop), cluster_(cluster), watches_(watches), unheard_(unheard) {
  cluster_.set_listener(this);
}

ProcedureHost::~ProcedureHost() {
  cluster_.set_listener(nullptr);
  while (ProcedureRun* run = runs_.front()) delete run;
}

void ProcedureHost::run(std::unique_ptr<Procedure> procedure, ProcedureOwner& owner, Now now) {
  (new ProcedureRun(*this, std::move(procedure), owner))->begin(now);
}

// Any run may end meanwhile. So the current runs are counted, and each is moved to the end of the
// list before its turn.
template <class Function>
void ProcedureHost::for_each_run(const Function& function) {
  for (unsigned left = runs_.size(); left > 0 && !runs_.empty(); --left) {
    ProcedureRun& run = *runs_.pop_front();
    runs_.push_back(run);
    function(run);
  }
}

void ProcedureHost::shut_down(Now now) {
  shut_down_ = true;
  for_each_run([&](ProcedureRun& run) { run.end(now); });
}

void ProcedureHost::on_connection_ended(std::uint64_t connection, Now now) {
  for_each_run([&](ProcedureRun& run) {
    run.procedure().on_connection_ended(connection, now);
    run.pump(now);
  });
}

}  // namespace sheaf::client::calls
