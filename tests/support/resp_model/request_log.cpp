// Pure: no socket, clock, entropy, thread or callback.

#include "tests/support/resp_model/request_log.h"

#include <algorithm>

namespace sheaf::test::resp_model {

void RequestLog::add_error(std::string_view text) {
  ++errors_[std::string(text.substr(0, text.find(' ')))];
}

void RequestLog::add_fetch(const std::string& client, NodeNumber node) {
  ++fetches_[{client, node}];
}

std::size_t RequestLog::times(const Words& words) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(executions_, [&](const Execution& execution) {
        return execution.words.size() >= words.size() &&
               std::equal(words.begin(), words.end(), execution.words.begin());
      }));
}

std::vector<Execution> RequestLog::repeats(std::string_view command) const {
  std::map<Words, std::size_t> seen;
  std::vector<Execution> repeats;
  for (const Execution& execution : executions_) {
    if (!execution.write) continue;
    if (!command.empty() && execution.words[0] != command) continue;
    if (++seen[execution.words] > 1) repeats.push_back(execution);
  }
  return repeats;
}

std::uint64_t RequestLog::errors(std::string_view first_word) const {
  const auto found = errors_.find(first_word);
  return found == errors_.end() ? 0 : found->second;
}

std::uint64_t RequestLog::fetches() const {
  std::uint64_t count = 0;
  for (const auto& [who, times] : fetches_) count += times;
  return count;
}
std::uint64_t RequestLog::fetches_by(const std::string& client) const {
  std::uint64_t count = 0;
  for (const auto& [who, times] : fetches_) count += who.first == client ? times : 0;
  return count;
}
std::uint64_t RequestLog::fetches_from(NodeNumber node) const {
  std::uint64_t count = 0;
  for (const auto& [who, times] : fetches_) count += who.second == node ? times : 0;
  return count;
}

}  // namespace sheaf::test::resp_model
