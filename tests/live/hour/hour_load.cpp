#include "tests/live/hour/hour_load.h"

#ifdef SHEAF_TEST_REDIS_SERVERS

#include <condition_variable>
#include <utility>

#include <sheaf/async.h>

#include "protocol/resp/wire/hash_slot.h"
#include "tests/contract/endpoints.h"
#include "tests/live/client/load_keys.h"

namespace sheaf::test {

// ---- losses

std::size_t LossTimes::begin(const SlotSet& slots) {
  const std::lock_guard lock(mutex_);
  all_.push_back({.slots = slots, .time = {.begun = Clock::now()}});
  return all_.size() - 1;
}

void LossTimes::end(std::size_t number, Clock::time_point said) {
  const std::lock_guard lock(mutex_);
  all_.at(number).time.ended = said;
}

std::vector<LossTime> LossTimes::of(std::uint16_t slot) const {
  const std::lock_guard lock(mutex_);
  const auto long_over = Clock::now() - std::chrono::minutes(1);
  std::vector<LossTime> found;
  for (const Slots& one : all_) {
    if (one.time.ended && *one.time.ended < long_over) continue;
    if (one.slots[slot]) found.push_back(one.time);
  }
  return found;
}

namespace {

// Counts the calls of a round that have not ended.
class CallsInFlight {
 public:
  void begin(std::size_t count) {
    const std::lock_guard lock(mutex_);
    count_ += count;
  }
  void ended() {
    const std::lock_guard lock(mutex_);
    if (--count_ == 0) all_ended_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    all_ended_.wait(lock, [this] { return count_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable all_ended_;
  std::size_t count_ = 0;
};

// A call, and how it ended.
struct HourCall {
  NumberedCall numbered{};
  std::optional<std::string> value{};  // that a get has read
  std::optional<Error> error{};
};

}  // namespace

// ---- a key

class HourKey {
 public:
  using Clock = NumberedCall::Clock;

  HourKey(std::string mark, std::string name)
      : mark_(std::move(mark)), name_(std::move(name)), slot_(protocol::resp::hash_slot(name_)) {}

  std::uint16_t slot() const { return slot_; }
  // Starts some calls. They end before judge() is called.
  void submit(const AsyncClient& client, Random& random, bool only_gets, CallsInFlight& in_flight);
  void judge(const HourLoad::Surroundings& surroundings);

 private:
  void submit_set(const AsyncClient& client, HourCall& call, CallsInFlight& in_flight);
  void submit_get(const AsyncClient& client, HourCall& call, CallsInFlight& in_flight);
  static void note_end(HourCall& call, const Error* error);
  void report(const HourCall& call, const HourLoad::Surroundings& surroundings) const;
  // False if the value is not one of this key, which is reported.
  bool understand(HourCall& call, HourRecord& record) const;
  std::string value_of(std::uint64_t number) const {
    return mark_ + ":" + name_ + "=" + std::to_string(number);
  }

  const std::string mark_;
  const std::string name_;
  const std::uint16_t slot_;
  NumberHistory history_;
  std::vector<HourCall> calls_;  // of this round, in the order of their submission
};

void HourKey::submit(const AsyncClient& client, Random& random, bool only_gets,
                     CallsInFlight& in_flight) {
  calls_ = std::vector<HourCall>(only_gets ? 1 : 2 + random.below(5));
  in_flight.begin(calls_.size());
  for (HourCall& call : calls_) {
    call.numbered.writes = !only_gets && random.below(5) < 3;
    if (call.numbered.writes) {
      submit_set(client, call, in_flight);
    } else {
      submit_get(client, call, in_flight);
    }
  }
}

void HourKey::submit_set(const AsyncClient& client, HourCall& call, CallsInFlight& in_flight) {
  SetOptions terms;
  terms.timeout = HourLoad::patience;
  call.numbered.number = history_.begin();
  call.numbered.begun = Clock::now();
  client.set(name_, value_of(call.numbered.number), terms)
      .then([&call, &in_flight](const Result<SetResult>& set) {
        note_end(call, set ? nullptr : &set.error());
        in_flight.ended();
      });
}

void HourKey::submit_get(const AsyncClient& client, HourCall& call, CallsInFlight& in_flight) {
  GetOptions terms;
  terms.timeout = HourLoad::patience;
  call.numbered.begun = Clock::now();
  client.get(name_, terms).then([&call, &in_flight](const Result<GetResult>& got) {
    note_end(call, got ? nullptr : &got.error());
    if (got && *got) call.value = (*got)->data;
    in_flight.ended();
  });
}

void HourKey::note_end(HourCall& call, const Error* error) {
  call.numbered.ended = Clock::now();
  if (error == nullptr) return;
  call.error = *error;
  call.numbered.end = error->outcome == Outcome::unknown ? NumberedCall::End::unknown
                                                         : NumberedCall::End::not_executed;
}

void HourKey::judge(const HourLoad::Surroundings& surroundings) {
  std::vector<NumberedCall> numbered;
  for (HourCall& call : calls_) {
    report(call, surroundings);
    if (understand(call, surroundings.record)) numbered.push_back(call.numbered);
  }
  const std::vector<LossTime> losses = surroundings.losses.of(slot_);
  for (const auto& [breach, read, right] : history_.judge(numbered, losses)) {
    std::string sentence = mark_ + ":" + name_ + " holds " + std::to_string(read) + ", not " +
                           std::to_string(right) + "; submitted together:";
    for (const NumberedCall& call : numbered) {
      sentence += (call.writes ? " set " : " get ") + std::to_string(call.number);
      if (call.end == NumberedCall::End::unknown) sentence += " (unknown)";
      if (call.end == NumberedCall::End::not_executed) sentence += " (failed)";
    }
    surroundings.record.found(breach, std::move(sentence));
  }
}

void HourKey::report(const HourCall& call, const HourLoad::Surroundings& surroundings) const {
  const Error* const error = call.error ? &*call.error : nullptr;
  const char* const name = call.numbered.writes ? "set" : "get";
  surroundings.record.ended(name, error);
  const auto took = call.numbered.ended - call.numbered.begun;
  if (took > HourLoad::patience + surroundings.judge.lateness()) {
    const auto shown = std::chrono::duration_cast<std::chrono::milliseconds>(took);
    surroundings.judge.found(mark_ + ":" + name_ + ": a " + name + " ended after " +
                             std::to_string(shown.count()) + " ms");
  }
  surroundings.judge.ended({.name = name,
                            .key = name_,
                            .slot = slot_,
                            .writes = call.numbered.writes,
                            .begun = call.numbered.begun,
                            .ended = call.numbered.ended},
                           error);
}

bool HourKey::understand(HourCall& call, HourRecord& record) const {
  if (call.numbered.writes || !call.value) return true;
  const auto number = number_behind(mark_ + ":" + name_ + "=", *call.value);
  if (number) {
    call.numbered.number = *number;
    return true;
  }
  const bool another_mark = !call.value->starts_with(mark_ + ":");
  record.found(another_mark ? Breach::foreign : Breach::wrong,
               mark_ + ":" + name_ + " holds " + *call.value);
  return false;
}

// ---- all keys

HourLoad::HourLoad(Surroundings surroundings, Whose whose, std::uint64_t seed)
    : surroundings_(surroundings), whose_(std::move(whose)), client_(open(whose_.uri)) {
  for (std::size_t i = 0; i < threads; ++i) {
    random_.emplace_back(seed * threads + i);
    for (std::size_t k = 0; k < keys_of_a_thread; ++k) {
      keys_[i].push_back(std::make_unique<HourKey>(
          whose_.mark, whose_.keys + "-" + std::to_string(i) + "/" + std::to_string(k)));
    }
  }
  start();
}

HourLoad::~HourLoad() { end_threads(); }

void HourLoad::start() {
  for (std::size_t i = 0; i < threads; ++i) {
    threads_.emplace_back(
        [this, i](const std::stop_token& stop) { run(stop, keys_[i], random_[i]); });
  }
}

void HourLoad::end_threads() {
  for (std::jthread& thread : threads_) thread.request_stop();
  threads_.clear();
}

void HourLoad::reopen() {
  end_threads();
  client_.emplace(open(whose_.uri));
  start();
}

void HourLoad::stop() {
  end_threads();
  for (std::size_t i = 0; i < threads; ++i) use(keys_[i], random_[i], Calls::gets);
}

std::vector<std::uint16_t> HourLoad::slots() const {
  std::vector<std::uint16_t> all;
  for (const Keys& keys : keys_) {
    for (const auto& key : keys) all.push_back(key->slot());
  }
  return all;
}

// The pauses leave most of the machine to the servers.
void HourLoad::run(const std::stop_token& stop, Keys& keys, Random& random) {
  constexpr std::chrono::milliseconds pause{20};
  std::mutex mutex;
  std::condition_variable_any paused;
  while (!stop.stop_requested()) {
    use(keys, random, Calls::any);
    std::unique_lock lock(mutex);
    paused.wait_for(lock, stop, pause, [] { return false; });
  }
}

void HourLoad::use(Keys& keys, Random& random, Calls calls) {
  const AsyncClient client = client_->async();
  CallsInFlight in_flight;
  for (const auto& key : keys) key->submit(client, random, calls == Calls::gets, in_flight);
  in_flight.wait();
  for (const auto& key : keys) key->judge(surroundings_);
}

}  // namespace sheaf::test

#endif
