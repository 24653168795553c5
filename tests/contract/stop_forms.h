#pragma once

// Every way to make a call with a stop token, for the tests of stop tokens.

#include <chrono>
#include <functional>
#include <future>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <sheaf/client.h>

namespace sheaf::test {

// The time-out of calls that their token is to end.
inline constexpr std::chrono::seconds patience{20};

// The result of a call: an error for each of its keys.
using Errors = std::vector<std::optional<Error>>;

template <class T>
Errors errors_of(const Result<T>& result) {
  return {result ? std::nullopt : std::optional(result.error())};
}
template <class T>
Errors errors_of(const std::vector<KeyResult<T>>& results) {
  Errors errors;
  for (const auto& entry : results) errors.push_back(errors_of(entry.result).front());
  return errors;
}

template <class Call>
std::future<Errors> on_a_thread(Call call) {
  return std::async(std::launch::async, std::move(call));
}

// One way to make a call with a token, begun on another thread or detached.
struct StopForm {
  std::string name;
  std::function<std::future<Errors>(Client&, std::stop_token)> begin;
};

// Calls that are one request or one batch.
std::vector<StopForm> request_forms();
// Calls that wait for the lock `lock`.
std::vector<StopForm> lock_forms();
// Calls of several requests, locks among them; the outcome describes the whole call.
std::vector<StopForm> other_forms();
// All calls.
std::vector<StopForm> all_forms();

}  // namespace sheaf::test
