#pragma once

// Event logs of tests: one that drops all records, one that keeps them.

#include <string>
#include <string_view>
#include <vector>

#include "node/event_log.h"

namespace sheaf::test {

class NoEvents final : public node::EventLog {
 public:
  bool listening() const noexcept override { return false; }
  void record(LogRecord) override {}
  std::string show_key(std::string_view) const override { return {}; }
};

class RecordedEvents final : public node::EventLog {
 public:
  bool listening() const noexcept override { return true; }
  void record(LogRecord record) override { records.push_back(std::move(record)); }
  std::string show_key(std::string_view key) const override {
    return key.empty() ? std::string() : "<" + std::string(key) + ">";
  }

  std::vector<LogRecord> records;
};

}  // namespace sheaf::test
