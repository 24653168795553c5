#pragma once

// EverythingSaid: all that a client says to its user and to the log, for tests that look in it for
// what must not be there.
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
