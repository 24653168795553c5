#pragma once

// EverythingSaid: everything that a client reports to its user and to the log, for tests that
// search it for text that must not appear.
//
// Thread rule: any thread.

#include <mutex>
#include <string>

#include <sheaf/log.h>
#include <sheaf/result.h>

namespace sheaf::test {

class EverythingSaid {
 public:
  LogSink sink() {
    return [this](const LogRecord& record) {
      add(record.node + " " + record.operation + " " + record.key + " " + record.text);
    };
  }
  void add(const std::string& text) {
    const std::lock_guard lock(mutex_);
    text_ += text + "\n";
  }
  void add(const Error& error) { add(error.message() + "\n" + error.text + "\n" + error.node); }
  std::string text() const {
    const std::lock_guard lock(mutex_);
    return text_;
  }

 private:
  mutable std::mutex mutex_;
  std::string text_;
};

}  // namespace sheaf::test
