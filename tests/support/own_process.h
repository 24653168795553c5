#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "tests/support/sanitized.h"

namespace sheaf::test {

// True if the test may fork processes that start threads. ThreadSanitizer ends such a process if an
// earlier test has started threads, even only those of libuv's pool. In that case this runs the
// test again in a new process, expects it to pass, and returns false: the test is over.
inline bool may_fork() {
  constexpr auto in_own_process = "SHEAF_TEST_OWN_PROCESS";
  if (!thread_sanitized || std::getenv(in_own_process)) return true;
  const auto& test = *testing::UnitTest::GetInstance()->current_test_info();
  const std::string filter =
      std::string("--gtest_filter=") + test.test_suite_name() + '.' + test.name();
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::setenv(in_own_process, "1", 1);
    for (const auto* own : {"GTEST_OUTPUT", "GTEST_TOTAL_SHARDS", "GTEST_SHARD_INDEX"}) {
      ::unsetenv(own);
    }
    ::execl("/proc/self/exe", "test", filter.c_str(), "--gtest_brief=1",
            "--gtest_fail_if_no_test_selected=1", nullptr);
    ::_exit(127);
  }
  int status = -1;
  EXPECT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_EQ(status, 0) << "in a process of its own";
  return false;
}

}  // namespace sheaf::test
