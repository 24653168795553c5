#include "tests/sim/thread_world.h"

#include <algorithm>

#include "base/quiet_thread.h"
#include "tests/sim/kit/sim_threads.h"
#include "tests/sim/kit/sim_transport.h"

namespace sheaf::sim {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t most_keys_of_a_batch = 16;

std::chrono::microseconds draw_us(Random& random, std::uint64_t below) {
  return std::chrono::microseconds(random.below(below));
}

}  // namespace

ThreadWorld::ThreadWorld(std::uint64_t seed, const socket::LaneControls& controls)
    : random_(seed),
      controls_(controls),
      habit_(static_cast<Habit>(random_.below(3))),
      stack_(draw_stack(seed, habit_, random_)),
      faulty_(random_.below(3) != 0),
      closes_early_(random_.below(4) == 0) {
  draw_servers();
  const std::uint64_t callers = 2 + random_.below(1 + random_.below(5));
  for (std::uint64_t i = 0; i < callers; ++i) {
    Caller& caller = callers_.emplace_back(Caller{Random(random_.fork()), {}});
    for (int k = 0; k < 5; ++k) {
      caller.own.push_back(&keys_.emplace_back("key" + std::to_string(keys_.size())));
    }
  }
}

Stack ThreadWorld::draw_stack(std::uint64_t seed, Habit habit, Random& random) {
  if (habit == Habit::reading_batches) return Stack(seed, 1, EndpointKind::memcached);
  const auto servers = static_cast<unsigned>(1 + random.below(3));
  return Stack(seed, servers,
               random.below(2) == 0 ? EndpointKind::state_store : EndpointKind::memcached);
}

void ThreadWorld::draw_servers() {
  ClusterConfig& config = stack_.config;
  config.timeout = std::chrono::milliseconds(50 + random_.below(200));
  config.connect_timeout = 60ms;
  config.keep_alive = 1s;  // a connection that was cut off is dead without a word
  config.pool_max = 1 + static_cast<unsigned>(random_.below(2));
  if (config.kind == EndpointKind::memcached) {
    config.batch_connections = static_cast<unsigned>(random_.below(3));
  } else {
    config.protocol = MemcachedProtocol::automatic;
  }
  config.idle_timeout = std::chrono::milliseconds(random_.below(2) == 0 ? 10 : 60'000);
  config.spin = random_.below(2) == 0;
  for (unsigned i = 0; i < stack_.size(); ++i) {
    LinkFaults& faults = stack_.broker(i).faults;
    faults.delay = draw_us(random_, 200);
    if (random_.below(2) == 0) faults.jitter = draw_us(random_, 2000);
    if (random_.below(4) == 0) faults.max_piece = 1 + random_.below(100);
    if (random_.below(4) == 0) faults.short_write = 0.1;
    if (faulty_ && random_.below(3) == 0) faults.reset = 0.01;
  }
}

void ThreadWorld::draw_faults() {
  if (!faulty_) return;
  for (std::uint64_t i = random_.below(4); i > 0; --i) {
    SimServer& server = stack_.broker(static_cast<unsigned>(random_.below(stack_.size())));
    const std::uint64_t kind = random_.below(3);
    const auto length = std::chrono::milliseconds(1 + random_.below(200));
    stack_.world.after(draw_us(random_, 40'000), [&server, kind, length](Now) {
      if (!server.serving()) return;
      if (kind == 0) server.reset_all();
      if (kind == 1) server.stop_for(length);
      if (kind == 2) server.cut_off_for(length);
    });
  }
}

void ThreadWorld::main() {
  use_network(stack_.network, controls_);
  auto client = Client::open(stack_.config);
  if (!client) require("the client does not open: " + client.error().message());
  client_.emplace(std::move(*client));
  draw_faults();
  std::vector<QuietThread> threads;
  for (Caller& caller : callers_) {
    threads.emplace_back("caller", [this, &caller] { run_caller(caller); });
  }
  for (QuietThread& thread : threads) thread.join();
  if (!closes_early_) settle();
  closing_ = true;
  client_.reset();
  if (pending_ > 0) require(std::to_string(pending_) + " callbacks never came");
}

void ThreadWorld::run_caller(Caller& caller) {
  Random& random = caller.random;
  for (std::uint64_t calls = 5 + random.below(20); calls > 0; --calls) {
    if (habit_ == Habit::reading_batches && random.below(4) != 0) {
      get_many(caller);
    } else {
      call(caller);
    }
    if (habit_ == Habit::resting && random.below(2) == 0) rest(random);
  }
}

void ThreadWorld::call(Caller& caller) {
  using Call = void (ThreadWorld::*)(Caller&);
  static constexpr Call calls[] = {
      &ThreadWorld::get,       &ThreadWorld::get,       &ThreadWorld::get,
      &ThreadWorld::set,       &ThreadWorld::set,       &ThreadWorld::remove,
      &ThreadWorld::get_many,  &ThreadWorld::get_many,  &ThreadWorld::set_many,
      &ThreadWorld::get_async, &ThreadWorld::set_async, &ThreadWorld::get_many_async,
  };
  const std::uint64_t chosen = caller.random.below(std::size(calls) + 1);
  chosen < std::size(calls) ? (this->*calls[chosen])(caller) : rest(caller.random);
}

// At times for longer than a call may last: no other call then helps one that was forgotten.
void ThreadWorld::rest(Random& random) {
  SimThreads::current()->pass(draw_us(random, random.below(2) == 0 ? 12'000 : 600'000));
}

// The faults end. Then every key must be readable, and hold what was written last.
void ThreadWorld::settle() {
  SimThreads::current()->wait_until("the last callbacks", [this] { return pending_ == 0; });
  for (unsigned i = 0; i < stack_.size(); ++i) stack_.broker(i).faults = {};
  if (faulty_) SimThreads::current()->pass(10s);
  faulty_ = false;
  for (KeyHistory& key : keys_) {
    Read read{begin_call(), {&key}, {key.last_acknowledged()}, {key.name()}};
    end_read(read, 0, client_->get(key.name()));
  }
}

// ---- calls

void ThreadWorld::get(Caller& caller) {
  const Read read = begin_read(caller.random, 1);
  const auto got = client_->get(read.names[0]);
  end_call(read.started);
  end_read(read, 0, got);
}

void ThreadWorld::set(Caller& caller) {
  KeyHistory* const key = free_key(caller);
  if (key == nullptr) return;
  const Start started = begin_call();
  const std::string value = key->begin_set(caller.random.below(3000));
  const auto result = client_->set(key->name(), value);
  end_call(started);
  end_write(*key, result);
}

void ThreadWorld::remove(Caller& caller) {
  KeyHistory* const key = free_key(caller);
  if (key == nullptr) return;
  const Start started = begin_call();
  key->begin_remove();
  const auto removed = client_->remove(key->name());
  end_call(started);
  if (!removed) check_error(removed.error());
  require(key->end_write(removed ? nullptr : &removed.error()));
}

void ThreadWorld::get_many(Caller& caller) {
  const Read read = begin_read(caller.random, 1 + caller.random.below(most_keys_of_a_batch));
  const auto got = client_->get_many(read.names);
  end_call(read.started);
  end_read(read, got);
  ++counts_.batches;
}

void ThreadWorld::set_many(Caller& caller) {
  std::vector<KeyHistory*> keys;
  std::vector<SetItem> items;
  for (KeyHistory* const key : caller.own) {
    if (key->busy()) continue;
    keys.push_back(key);
    items.push_back({key->name(), key->begin_set(caller.random.below(300))});
  }
  const Start started = begin_call();
  const auto results = client_->set_many(items);
  end_call(started);
  if (results.size() != keys.size()) require("a batch of sets lacks results");
  for (std::size_t i = 0; i < keys.size(); ++i) end_write(*keys[i], results[i].result);
  ++counts_.batches;
}

// Often its callback asks again.
void ThreadWorld::get_async(Caller& caller) {
  const Read read = begin_read(caller.random, 1);
  client_->async().get(read.names[0], {},
                       once<Result<GetResult>>([this, &caller, read](const Result<GetResult>& got) {
                         end_call(read.started);
                         end_read(read, 0, got);
                         if (!closing_ && caller.random.below(4) != 0) get_async(caller);
                       }));
}

void ThreadWorld::set_async(Caller& caller) {
  KeyHistory* const key = free_key(caller);
  if (key == nullptr) return;
  const std::string value = key->begin_set(caller.random.below(3000));
  client_->async().set(
      key->name(), value, {},
      once<Result<SetResult>>([this, key, started = begin_call()](const Result<SetResult>& result) {
        end_call(started);
        end_write(*key, result);
      }));
}

void ThreadWorld::get_many_async(Caller& caller) {
  const Read read = begin_read(caller.random, 1 + caller.random.below(most_keys_of_a_batch));
  client_->async().get_many(read.names, {},
                            once<AsyncClient::Gets>([this, read](const AsyncClient::Gets& got) {
                              end_call(read.started);
                              end_read(read, got);
                            }));
}

template <class Out, class F>
std::function<void(Out)> ThreadWorld::once(F end) {
  ++pending_;
  return [this, end, ended = std::make_shared<bool>(false)](const Out& out) {
    if (std::exchange(*ended, true)) require("a callback came twice");
    end(out);
    --pending_;
    ++counts_.callbacks;
  };
}

// ---- checks

// One of the caller's keys that no asynchronous call writes now.
KeyHistory* ThreadWorld::free_key(Caller& caller) {
  KeyHistory* const key = caller.own[caller.random.below(caller.own.size())];
  return key->busy() ? nullptr : key;
}

ThreadWorld::Read ThreadWorld::begin_read(Random& random, std::size_t keys) {
  Read read{begin_call(), {}, {}, {}};
  const std::size_t first = random.below(keys_.size());
  for (std::size_t i = 0; i < std::min(keys, keys_.size()); ++i) {
    KeyHistory& key = keys_[(first + i) % keys_.size()];
    read.keys.push_back(&key);
    read.since.push_back(key.last_acknowledged());
    read.names.push_back(key.name());
  }
  return read;
}

void ThreadWorld::end_read(const Read& read, std::size_t index, const Result<GetResult>& got) {
  if (!got) return check_error(got.error());
  require(read.keys[index]->check(read.since[index], *got));
}

void ThreadWorld::end_read(const Read& read, const std::vector<KeyResult<GetResult>>& got) {
  if (got.size() != read.keys.size()) require("a batch of gets lacks results");
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i].key != read.keys[i]->name()) require("results of a batch are out of order");
    end_read(read, i, got[i].result);
  }
}

void ThreadWorld::end_write(KeyHistory& key, const Result<SetResult>& result) {
  if (!result) check_error(result.error());
  if (result && !result->stored) require(key.name() + " was not stored");
  require(key.end_write(result ? nullptr : &result.error()));
}

ThreadWorld::Start ThreadWorld::begin_call() const {
  return {stack_.world.now().mono, SimThreads::current()->delays()};
}

void ThreadWorld::end_call(const Start& started) {
  ++counts_.calls;
  const SimThreads& threads = *SimThreads::current();
  const auto took = stack_.world.now().mono - started.at;
  stack_.world.note(static_cast<std::uint64_t>(took.count()));
  // It may be late by the delays of threads since then, and of those that were delayed just then.
  const auto delays = threads.delays() - started.delays + 10 * threads.longest_delay();
  const auto late = took - stack_.config.timeout - delays;
  if (late.count() > 0) {
    require("a call ended " + std::to_string(late.count() / 1000) + " us after its deadline");
  }
}

void ThreadWorld::check_error(const Error& error) {
  ++counts_.failures;
  if (closing_ && error.reason == Reason::closed) return;
  // Where threads are delayed for long, calls may time out.
  if (faulty_ || SimThreads::current()->longest_delay() > 1ms) return;
  require("a call failed for nothing: " + error.message());
}

void ThreadWorld::require(const std::string& finding) {
  if (!finding.empty()) SimThreads::current()->fail(finding);
}

}  // namespace sheaf::sim
