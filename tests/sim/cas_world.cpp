#include "tests/sim/cas_world.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace sheaf::sim {

using namespace std::chrono_literals;
using client::calls::Command;
using client::lock::LockPlan;
using client::lock::VersionedRead;
using client::lock::VersionedWrite;
using std::chrono::nanoseconds;

// A request on its way. Owns what the command only borrows.
struct CasLocker::Sent {
  Run& run;
  unsigned id;
  std::uint64_t connection;
  unsigned start;  // of the server
  protocol::Operation operation;
  std::string key, value, version;
  bool over = false;     // the plan has received its answer
  bool dropped = false;  // it will no longer be executed

  Sent(Run& owner, const Command& command, std::uint64_t carrier, unsigned server)
      : run(owner),
        id(command.id),
        connection(carrier),
        start(server),
        operation(command.operation),
        key(operation.key),
        value(operation.value),
        version(operation.version) {
    operation.key = key;
    operation.value = value;
    operation.version = version;
  }
};

CasLocker::CasLocker(CasWorld& world, unsigned index)
    : world_(world), index_(index), connection_(++world.last_connection) {}

bool CasLocker::believes() const {
  return tenure_ != nullptr && tenure_->held && world_.now.mono < tenure_->until;
}

// A stalled client does nothing: its work waits until it resumes.
void CasLocker::soon(nanoseconds time, std::function<void()> what) {
  const Deadline due = std::max(world_.now.mono + time, still_until_);
  world_.at(due, [this, what = std::move(what)] {
    if (world_.now.mono < still_until_) return soon(0ns, what);
    what();
  });
}

void CasLocker::stand_still(nanoseconds time) {
  still_until_ = std::max(still_until_, world_.now.mono + time);
}

void CasLocker::cut(Cut how) {
  const std::uint64_t ended = std::exchange(connection_, ++world_.last_connection);
  executes_at_ = answers_at_ = world_.now.mono;
  for (const auto& sent : under_way_) {
    if (sent->connection == ended && how != Cut::executed) sent->dropped = true;
  }
  if (how == Cut::restart) ++unaware_;
  const auto notify = [this, ended, how] {
    if (how == Cut::restart) --unaware_;
    for (const auto& sent : std::vector(under_way_)) {
      if (sent->connection == ended) fail(sent, Outcome::unknown, Reason::connection_lost);
    }
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      runs_[i]->plan->on_connection_ended(ended, world_.now);
      pump(*runs_[i]);
    }
  };
  if (world_.now.mono < still_until_) return soon(0ns, notify);
  notify();
}

void CasLocker::begin() {
  if (world_.finishing) return;
  client::lock::LockTerms terms;
  terms.name = "lock";
  terms.nonce = std::to_string(index_) + ":" + std::to_string(names_++);
  terms.lease = world_.lease;
  terms.patient = world_.toss(0.7);
  terms.attempt_timeout = 300ms;
  terms.wait_until = world_.now.mono + 3s;
  Run& run = *runs_.emplace_back(std::make_unique<Run>());
  auto lock = std::make_unique<LockPlan>(
      terms, memory_, world_.random.fork(),
      std::make_unique<client::lock::CasLockKey>(terms, memory_.rivals, world_.controls));
  run.lock = lock.get();
  tenure_ = lock->tenure();
  run.plan = std::move(lock);
  present_ = &run;
  start(run);
}

void CasLocker::start(Run& run) {
  run.plan->start(world_.now);
  pump(run);
}

void CasLocker::pump(Run& run) {
  if (run.pumping) return;
  run.pumping = true;
  Command command;
  while (run.plan->poll_command(command)) send(run, command);
  run.pumping = false;
  const Deadline due = run.plan->poll_deadline();
  if (due != run.timer && due != never) {
    soon(due - world_.now.mono, [this, &run, due] {
      if (run.timer != due) return;
      run.timer = never;
      run.plan->on_deadline(world_.now);
      pump(run);
    });
  }
  run.timer = due;
  settle(run);
}

// The life of a lock: the holder keeps it for a while, counts something under it, gives it back and
// takes it again.
void CasLocker::settle(Run& run) {
  if (run.lock == nullptr && run.plan->done() && !std::exchange(run.reported, true)) run.done();
  if (&run != present_) return;
  if (run.lock->settled() && !run.reported) {
    run.reported = true;
    if (!run.lock->acquired()) return again();
    ++grants_;
    soon(world_.up_to(2 * world_.lease), [this, &run] { count(run); });
  }
  if (run.lock->loss() && !std::exchange(run.releasing, true)) {
    ++losses_;
    if (world_.habits.check) again();
  }
}

client::lock::FencedTerms CasLocker::terms(std::string value) const {
  client::lock::FencedTerms terms;
  terms.key = "counter";
  terms.value = std::move(value);
  terms.started = world_.now.mono;
  terms.deadline = world_.now.mono + 300ms;
  terms.controls.check = world_.habits.check;
  return terms;
}

void CasLocker::count(Run& lock) {
  if (&lock != present_) return;
  auto plan = std::make_unique<VersionedRead>(lock.lock->tenure(), terms({}));
  VersionedRead& read = *plan;
  Run& run = *runs_.emplace_back(std::make_unique<Run>());
  run.plan = std::move(plan);
  run.done = [this, &lock, &read] {
    auto got = std::make_shared<Result<GetResult>>(read.take_out());
    if (!*got) return give_back(lock);
    soon(world_.up_to(world_.toss(0.2) ? nanoseconds(world_.lease) : nanoseconds(1ms)),
         [this, &lock, got] { increment(lock, *got, 1); });
  };
  start(run);
}

void CasLocker::increment(Run& lock, const Result<GetResult>& read, unsigned tries) {
  if (&lock != present_) return;
  const GetResult& old = read.value();
  std::string name = "c" + std::to_string(world_.counter.begun);
  unsigned number = 0;
  if (old) {
    const std::size_t colon = old->data.find(':');
    name = old->data.substr(0, colon);
    std::from_chars(old->data.data() + colon + 1, old->data.data() + old->data.size(), number);
  } else {
    ++world_.counter.begun;
  }
  if (!world_.habits.compare) lock.lock->tenure()->noted.clear();
  auto plan = std::make_unique<VersionedWrite>(
      lock.lock->tenure(), terms(name + ":" + std::to_string(number + 1)), SetCondition::always);
  VersionedWrite& write = *plan;
  Run& run = *runs_.emplace_back(std::make_unique<Run>());
  run.plan = std::move(plan);
  run.done = [this, &lock, &write, name, read, tries] {
    const auto done = write.take_out();
    if (done && done->stored) ++world_.counter.acknowledged[name];
    if (!done && done.error().outcome == Outcome::unknown) {
      ++world_.counter.unsure[name];
      // Writes the same once more, without reading again.
      if (tries < 3)
        return soon(1ms, [this, &lock, read, tries] { increment(lock, read, tries + 1); });
    }
    give_back(lock);
  };
  start(run);
}

void CasLocker::give_back(Run& lock) {
  if (&lock != present_) return;
  if (std::exchange(lock.releasing, true)) {  // it was lost
    if (!world_.habits.check) again();
    return;
  }
  lock.lock->release(world_.now.mono + 1s, world_.now);
  pump(lock);
  again();
}

void CasLocker::again() {
  present_ = nullptr;
  soon(world_.up_to(100ms), [this] { begin(); });
}

void CasLocker::send(Run& run, const Command& command) {
  auto sent = std::make_shared<Sent>(run, command, connection_, world_.starts);
  under_way_.push_back(sent);
  if (command.connection != 0 && command.connection != connection_) {
    sent->dropped = true;
    return soon(0ns, [this, sent] { fail(sent, Outcome::not_sent, Reason::connection_lost); });
  }
  const auto delay = [this] {
    const bool late = world_.faults.late && world_.toss(0.05);
    return world_.up_to(late ? nanoseconds(2 * world_.lease) : nanoseconds(2ms));
  };
  executes_at_ = std::max(executes_at_, world_.now.mono + delay());
  world_.at(executes_at_, [this, sent] { execute(sent); });
  soon(sent->operation.deadline - world_.now.mono,
       [this, sent] { fail(sent, Outcome::unknown, Reason::timed_out); });
}

void CasLocker::execute(const std::shared_ptr<Sent>& sent) {
  if (sent->dropped || sent->start != world_.starts) return;
  const CacheTable::Answer got = world_.table.execute(sent->operation, world_.clock);
  const bool late = world_.faults.late && world_.toss(0.05);
  const auto delay = world_.up_to(late ? nanoseconds(2 * world_.lease) : nanoseconds(2ms));
  if (sent->connection != connection_) return;  // no one is listening
  answers_at_ = std::max(answers_at_, world_.now.mono + delay);
  soon(answers_at_ - world_.now.mono, [this, sent, got] {
    if (sent->connection != connection_) return;
    socket::Completion done;
    done.answered = true;
    done.reply.status = got.status;
    done.reply.value = got.value;
    done.reply.version = got.version;
    done.reply.flags = got.flags;
    done.connection = sent->connection;
    answer(sent, done);
  });
}

void CasLocker::fail(const std::shared_ptr<Sent>& sent, Outcome outcome, Reason reason) {
  socket::Completion done;
  done.outcome = outcome;
  done.reason = reason;
  answer(sent, done);
}

void CasLocker::answer(const std::shared_ptr<Sent>& sent, const socket::Completion& given) {
  if (std::exchange(sent->over, true)) return;
  std::erase(under_way_, sent);
  socket::Completion done = given;
  done.now = world_.now;
  sent->run.plan->on_answer(sent->id, done);
  pump(sent->run);
}

// ---- the world

CasWorld::CasWorld(std::uint64_t seed, client::lock::LockControls with, CasHabits how)
    : random(seed ^ 0xca5), controls(with), habits(how), clock(random.between(0.98, 1.0)) {
  now.mono = 0s;
  const auto half = [&] { return random.below(2) == 0; };
  faults = {half(), half(), half(), random.below(3) == 0};
  constexpr std::array<std::chrono::milliseconds, 5> leases{300ms, 1000ms, 1500ms, 2000ms, 2900ms};
  lease = leases[random.below(leases.size())];
  for (unsigned i = 0; i < 3; ++i) lockers_.push_back(std::make_unique<CasLocker>(*this, i));
  for (const auto& locker : lockers_) locker->begin();
  at(clock.next_reading(), [this] { read_clock(); });
  at(up_to(1s), [this] { fault(); });
}

CasWorld::~CasWorld() = default;

void CasWorld::read_clock() {
  clock.read(up_to(2ms));
  at(clock.next_reading(), [this] { read_clock(); });
}

void CasWorld::fault() {
  at(now.mono + up_to(1s), [this] { fault(); });
  CasLocker& one = *lockers_[random.below(lockers_.size())];
  switch (random.below(4)) {
    case 0:
    case 1:
      if (faults.still) one.stand_still(up_to(3 * lease));
      return;
    case 2:
      if (faults.cut) one.cut(toss(0.5) ? CasLocker::Cut::executed : CasLocker::Cut::dropped);
      return;
    default:
      if (!faults.restart || !toss(0.3)) return;
      table.restart();
      ++starts;
      for (const auto& locker : lockers_) locker->cut(CasLocker::Cut::restart);
      return;
  }
}

// A holder that stalls across a restart cannot know that its lock is forgotten.
void CasWorld::look() {
  unsigned believers = 0;
  for (const auto& locker : lockers_) {
    if (locker->believes() && !locker->unaware()) ++believers;
  }
  if (believers > 1) ++pairs_;
}

void CasWorld::run(nanoseconds time) {
  const Deadline end = now.mono + time;
  while (!events_.empty() && events_.begin()->first <= end) {
    const auto next = events_.begin();
    now.mono = std::max(now.mono, next->first);
    now.wall = std::chrono::duration_cast<std::chrono::milliseconds>(now.mono);
    const auto what = std::move(next->second);
    events_.erase(next);
    what();
    look();
  }
}

void CasWorld::finish() {
  faults = {};
  finishing = true;
  run(30s);
}

unsigned CasWorld::grants() const {
  unsigned sum = 0;
  for (const auto& locker : lockers_) sum += locker->grants();
  return sum;
}

unsigned CasWorld::losses() const {
  unsigned sum = 0;
  for (const auto& locker : lockers_) sum += locker->losses();
  return sum;
}

unsigned CasWorld::counted() const {
  unsigned sum = 0;
  for (const auto& [name, number] : counter.acknowledged) sum += number;
  return sum;
}

bool CasWorld::miscounted() {
  protocol::Operation get;
  get.key = "counter";
  const std::string value = table.execute(get, clock).value;
  if (value.empty()) return false;  // it was lost with its server
  const std::size_t colon = value.find(':');
  const std::string name = value.substr(0, colon);
  unsigned number = 0;
  std::from_chars(value.data() + colon + 1, value.data() + value.size(), number);
  return number < counter.acknowledged[name] ||
         number > counter.acknowledged[name] + counter.unsure[name];
}

}  // namespace sheaf::sim
