#pragma once

// ThreadWorld: several threads call one client, which is the real one from Client::open on, with
// simulated servers and a simulated network. The seed draws the kind of endpoint, the faults, the
// calls, and the order in which the threads continue.
//
// Each key has one thread that writes it; all threads read all keys. Up to four asynchronous sets
// of a key are in flight. A run finds:
//  - a value under another key, an acknowledged write that is lost (KeyHistory)
//  - asynchronous sets of a key that were carried out in another order (WriteOrder)
//  - a call that lasts longer than its timeout, or fails although nothing is wrong
//  - a callback that comes twice or never
//  - a loop that two threads use at once, and threads that wait forever (SimThreads)
//
// Thread rule: as ThreadRoom.

#include <deque>
#include <optional>

#include <sheaf/async.h>
#include <sheaf/client.h>

#include "base/random.h"
#include "tests/sim/key_history.h"
#include "tests/sim/kit/thread_room.h"
#include "tests/sim/kit/write_order.h"

namespace sheaf::sim {

class ThreadWorld final : public ThreadRoom {
 public:
  // Special: batches and callbacks.
  ThreadWorld(std::uint64_t seed, const Plants& plants);

 private:
  // What the callers do most of the time.
  enum class Habit : std::uint8_t {
    all_sorts,
    resting,
    reading_batches,  // of one memcached, the case for extra connections
  };
  struct Draw {
    explicit Draw(std::uint64_t seed);
    Random random;
    Habit habit;
    Setting setting;
  };
  // A thread that makes calls.
  struct Caller {
    Random random;
    std::vector<KeyHistory*> own;
  };
  // A read of some keys and its state at the start.
  struct Read {
    Start started;
    std::vector<KeyHistory*> keys;
    std::vector<std::size_t> since;
    std::vector<std::string_view> names;
  };

  ThreadWorld(const Draw& draw, const Plants& plants);
  void run() override;
  void run_caller(Caller& caller);
  void call(Caller& caller);
  void settle();

  void get(Caller& caller);
  void set(Caller& caller);
  void remove(Caller& caller);
  void get_many(Caller& caller);
  void set_many(Caller& caller);
  void get_async(Caller& caller);
  void set_async(Caller& caller);
  void set_async(Caller& caller, KeyHistory& key);
  void get_many_async(Caller& caller);

  KeyHistory* free_key(Caller& caller);
  Read begin_read(Random& random, std::size_t keys);
  void end_read(const Read& read, std::size_t index, const Result<GetResult>& got);
  void end_read(const Read& read, const std::vector<KeyResult<GetResult>>& got);
  void end_write(KeyHistory& key, const Result<SetResult>& result);
  void check_stored(const KeyHistory& key, const Result<SetResult>& result);
  void check_error(const Error& error);
  // Calls of this world must not fail just because the servers change.
  bool calm() const override;
  // A callback that may be called once: a second call is a finding.
  template <class Out, class F>
  std::function<void(Out)> once(F end);

  const Habit habit_;
  bool closes_early_ = false;  // while asynchronous calls are in flight
  bool closing_ = false;
  WriteOrder order_{cluster::KeyOrder::patience};
  std::deque<KeyHistory> keys_;
  std::deque<Caller> callers_;
  std::optional<Client> client_;
  unsigned pending_ = 0;  // asynchronous calls
};

}  // namespace sheaf::sim
