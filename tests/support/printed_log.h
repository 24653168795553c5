#pragma once

// printed_log: a sink that writes records to standard error, and so into the output of a test.
// tests/run.sh searches that for passwords.
//
// Thread rule: any thread.

#include <cstdio>

#include <sheaf/log.h>

namespace sheaf::test {

inline LogSink printed_log() {
  return [](const LogRecord& record) {
    std::fprintf(stderr, "log: %s %s %s: %s\n", record.node.c_str(), record.operation.c_str(),
                 record.key.c_str(), record.text.c_str());
  };
}

}  // namespace sheaf::test
