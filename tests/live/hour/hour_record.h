#pragma once

// HourRecord: what happened in a live hour: events and how long until the load was back, calls and
// how they ended, and what was wrong. It ends as a table.
//
// Thread rule: any thread.

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <sheaf/result.h>

#include "tests/live/hour/number_history.h"

namespace sheaf::test {

class HourRecord {
 public:
  // A call ended; `error` is null if it succeeded.
  void ended(std::string_view call, const Error* error);
  // A read was not right. Only the first few sentences of each kind are kept.
  void found(Breach breach, std::string sentence);
  // The load was served again after this time; more than `limit` is too late.
  void back(const std::string& event, std::chrono::nanoseconds took,
            std::chrono::nanoseconds limit);
  // The load was not served again, and continues with another client.
  void not_back(const std::string& event);
  // Calls that failed or waited although they should not; sentences about some of them.
  void add_failures(std::uint64_t count, const std::string& sentences);

  // Everything, in a few lines for people.
  std::string table() const;
  // All that was wrong, as sentences; empty if nothing was.
  std::string complaints() const;

 private:
  struct Event {
    unsigned times = 0;
    unsigned late = 0;
    unsigned not_back = 0;
    std::chrono::nanoseconds longest{0};
  };
  struct Breaches {
    std::uint64_t count = 0;
    std::vector<std::string> first;
  };

  mutable std::mutex mutex_;
  std::map<std::string, Event> events_;
  std::map<std::string, std::map<std::string, std::uint64_t>> calls_;  // by name and by ending
  std::array<Breaches, breach_count> breaches_;
  std::uint64_t failures_ = 0;
  std::string failure_sentences_;
};

}  // namespace sheaf::test
