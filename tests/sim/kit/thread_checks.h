#pragma once

// Frequent steps of the threads of a simulated run (sim_threads.h). Call from such a thread only.

#include <chrono>
#include <string>

#include <sheaf/client.h>

#include "client/client_impl.h"
#include "tests/sim/kit/sim_threads.h"

namespace sheaf::sim {

inline void pass(std::chrono::nanoseconds time) { SimThreads::current()->pass(time); }

// Ends the run with `finding` if `holds` is false.
inline void check(bool holds, const std::string& finding) {
  if (!holds) SimThreads::current()->fail(finding);
}

// Neither call may fail, and the key must have the value that was set.
inline void set_and_get(Client& client, const std::string& key, const std::string& value) {
  const auto set = client.set(key, value);
  check(set.has_value(), "a set failed: " + (set ? "" : set.error().message()));
  const auto got = client.get(key);
  check(got.has_value(), "a get failed: " + (got ? "" : got.error().message()));
  check(*got && (*got)->data == value, "another value came back");
}

// From now on the client takes the processors for busy with other work, as after yields that took
// long.
inline void find_contention(Client& client) {
  using namespace std::chrono_literals;
  Yielding& yielding = client::Internals::context(client).path().loop().yielding();
  for (int i = 0; i < 8; ++i) yielding.contention().yielded(4ms, 0ms);
}

}  // namespace sheaf::sim
