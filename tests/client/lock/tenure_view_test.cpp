#include "client/lock/tenure_view.h"

#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <vector>

namespace sheaf::client::lock {
namespace {

// A view whose reports wait until the test runs them.
class TenureViewTest : public testing::Test {
 protected:
  static ClientOptions queueing(std::deque<std::function<void()>>& tasks) {
    ClientOptions options;
    options.executor = [&tasks](std::function<void()> task) { tasks.push_back(std::move(task)); };
    return options;
  }
  static Error lost(const std::string& why) {
    Error error;
    error.reason = Reason::connection_lost;
    error.text = why;
    return error;
  }
  LockGuard::LossCallback note(const std::string& who) {
    return [this, who](const Error& error) { reports_.push_back(who + ": " + error.text); };
  }
  void run_tasks() {
    while (!tasks_.empty()) {
      auto task = std::move(tasks_.front());
      tasks_.pop_front();
      task();
    }
  }

  std::deque<std::function<void()>> tasks_;
  std::vector<std::string> reports_;
  runtime::Context context_{ClusterConfig(), queueing(tasks_)};
  TenureView view_{context_};
};

TEST_F(TenureViewTest, ALossIsReportedOnce) {
  view_.on_loss(note("first"));
  view_.update(Tenure(), lost("cut off"));
  view_.update(Tenure(), lost("again"));
  run_tasks();
  EXPECT_EQ(reports_, std::vector<std::string>{"first: cut off"});
}

TEST_F(TenureViewTest, ALossThatIsKnownIsReportedAtOnce) {
  view_.update(Tenure(), lost("cut off"));
  view_.on_loss(note("late"));
  run_tasks();
  EXPECT_EQ(reports_, std::vector<std::string>{"late: cut off"});
}

TEST_F(TenureViewTest, AReportThatHasNotBegunIsWithdrawnWhenTheLockIsGivenBack) {
  view_.on_loss(note("first"));
  view_.update(Tenure(), lost("cut off"));
  EXPECT_TRUE(view_.give_back());
  run_tasks();
  EXPECT_EQ(reports_, std::vector<std::string>());
}

TEST_F(TenureViewTest, AReportThatHasNotBegunIsThatOfTheLatestCallback) {
  view_.on_loss(note("first"));
  view_.update(Tenure(), lost("cut off"));
  view_.on_loss(note("second"));
  run_tasks();
  EXPECT_EQ(reports_, std::vector<std::string>{"second: cut off"});
}

}  // namespace
}  // namespace sheaf::client::lock
