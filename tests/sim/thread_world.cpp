#include "tests/sim/thread_world.h"

#include <algorithm>

#include "tests/sim/kit/sim_threads.h"

namespace sheaf::sim {
namespace {

constexpr std::size_t most_keys_of_a_batch = 16;

}  // namespace

ThreadWorld::ThreadWorld(std::uint64_t seed, const Plants& plants)
    : ThreadWorld(Draw(seed), plants) {}

ThreadWorld::ThreadWorld(const Draw& draw, const Plants& plants)
    : ThreadRoom({draw.random, draw.setting}, plants), habit_(draw.habit) {
  stack_.keep_log();
  closes_early_ = random_.below(4) == 0;
  const std::uint64_t callers = 2 + random_.below(1 + random_.below(5));
  for (std::uint64_t i = 0; i < callers; ++i) {
    Caller& caller = callers_.emplace_back(Caller{Random(random_.fork()), {}});
    for (int k = 0; k < 5; ++k) {
      caller.own.push_back(&keys_.emplace_back("key" + std::to_string(keys_.size())));
    }
  }
}

ThreadWorld::Draw::Draw(std::uint64_t seed)
    : random(seed),
      habit(static_cast<Habit>(random.below(3))),
      setting{seed, EndpointKind::memcached, 1} {
  if (habit == Habit::reading_batches) return;
  setting.servers = static_cast<unsigned>(1 + random.below(3));
  if (random.below(2) == 0) setting.kind = EndpointKind::state_store;
}

void ThreadWorld::run() {
  client_.emplace(open_client());
  draw_faults();
  run_threads(static_cast<unsigned>(callers_.size()),
              [this](unsigned number) { run_caller(callers_[number]); });
  if (!closes_early_) settle();
  closing_ = true;
  client_.reset();
  if (pending_ > 0) require(std::to_string(pending_) + " callbacks never came");
  for (const std::string& finding : order_.judge(stack_.log())) require(finding);
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

// Ends the faults. Then every key must be readable and hold what was written last.
void ThreadWorld::settle() {
  SimThreads::current()->wait_until("the last callbacks", [this] { return pending_ == 0; });
  end_faults();
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
  ++counts_.special;
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
  ++counts_.special;
}

// Its callback often asks again.
void ThreadWorld::get_async(Caller& caller) {
  const Read read = begin_read(caller.random, 1);
  client_->async()
      .get(read.names[0])
      .then(once<Result<GetResult>>([this, &caller, read](const Result<GetResult>& got) {
        end_call(read.started);
        end_read(read, 0, got);
        if (!closing_ && caller.random.below(4) != 0) get_async(caller);
      }));
}

void ThreadWorld::set_async(Caller& caller) {
  KeyHistory* const key = free_key(caller);
  if (key == nullptr) return;
  for (std::uint64_t at_once = 1 + caller.random.below(4); at_once > 0; --at_once) {
    set_async(caller, *key);
  }
}

void ThreadWorld::set_async(Caller& caller, KeyHistory& key) {
  const std::string value = key.begin_set(caller.random.below(3000));
  order_.begin_write(0, key.name(), value, stack_.world.now().mono);
  client_->async()
      .set(key.name(), value)
      .then(once<Result<SetResult>>([this, &key, write = key.newest(), value,
                                     started = begin_call()](const Result<SetResult>& result) {
        end_call(started);
        check_stored(key, result);
        const Error* const error = result ? nullptr : &result.error();
        if (error == nullptr) {
          order_.acknowledge(value);
        } else {
          order_.fail(value, error->outcome, stack_.world.now().mono);
        }
        require(key.end_write(write, error));
      }));
}

void ThreadWorld::get_many_async(Caller& caller) {
  const Read read = begin_read(caller.random, 1 + caller.random.below(most_keys_of_a_batch));
  client_->async()
      .get_many(read.names)
      .then(once<AsyncClient::Gets>([this, read](const AsyncClient::Gets& got) {
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
    ++counts_.special;
  };
}

// ---- checks

// One of the caller's keys that no asynchronous call is writing.
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

void ThreadWorld::check_stored(const KeyHistory& key, const Result<SetResult>& result) {
  if (!result) check_error(result.error());
  if (result && !result->stored) require(key.name() + " was not stored");
}

void ThreadWorld::end_write(KeyHistory& key, const Result<SetResult>& result) {
  check_stored(key, result);
  require(key.end_write(result ? nullptr : &result.error()));
}

bool ThreadWorld::calm() const {
  return !faulty_ && SimThreads::current()->longest_delay() <= std::chrono::milliseconds(1);
}

void ThreadWorld::check_error(const Error& error) {
  if (closing_ && error.reason == Reason::closed) {
    ++counts_.failures;
  } else {
    ThreadRoom::check_error(error);
  }
}

}  // namespace sheaf::sim
