// Pure: no socket, clock, entropy, thread or callback.

#include "tests/support/resp_model/request_log.h"

#include <algorithm>

namespace sheaf::test::resp_model {

void RequestLog::add_error(std::string_view text) {
  ++errors_[std::string(text.substr(0, text.find(' ')))];
}

void RequestLog::add_fetch(const std::string& client, NodeNumber node, Deadline at) {
  fetches_.push_back({client, node, at});
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

std::uint64_t RequestLog::fetches() const { return fetches_.size(); }

std::uint64_t RequestLog::fetches_by(const std::string& client) const {
  return static_cast<std::uint64_t>(std::ranges::count(fetches_, client, &Fetch::client));
}

std::uint64_t RequestLog::fetches_from(NodeNumber node) const {
  return static_cast<std::uint64_t>(std::ranges::count(fetches_, node, &Fetch::node));
}

std::map<std::string, std::vector<Deadline>> RequestLog::fetch_times() const {
  std::map<std::string, std::vector<Deadline>> times;
  for (const Fetch& fetch : fetches_) times[fetch.client].push_back(fetch.at);
  return times;
}

}  // namespace sheaf::test::resp_model
