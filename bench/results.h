#pragma once

// Results of calls, and the time that they took.

#include <chrono>
#include <stdexcept>
#include <utility>

#include <sheaf/result.h>

namespace bench {

// In milliseconds.
inline double since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

// Throws std::runtime_error for an error.
template <class Out>
Out must(sheaf::Result<Out> result) {
  if (!result) throw std::runtime_error(result.error().message());
  return std::move(*result);
}

}  // namespace bench
