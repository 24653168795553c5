#pragma once

// The start of transcripts of locks, for any kind of comparison: a plan that has just asked, and a
// tenure that is held.

#include <gtest/gtest.h>

#include <memory>

#include "client/lock/fenced_plan.h"
#include "client/lock/lock_plan.h"
#include "tests/client/lock/transcript.h"

namespace sheaf::test {

using namespace std::chrono_literals;

inline client::lock::LockTerms lock_terms(bool patient) {
  client::lock::LockTerms terms;
  terms.name = "lock";
  terms.nonce = "me:1";
  terms.lease = 10s;
  terms.patient = patient;
  terms.wait_until = 1030s;
  return terms;
}

class AskingTest : public testing::Test {
 protected:
  // `version` is that of the SET that gets the lock in hold().
  AskingTest(client::lock::LockTerms terms, std::string_view version)
      : plan(std::move(terms), memory, Seed{}), it(plan), version_(version) {
    plan.start(it.now());
  }
  void hold() {
    it.wants();
    it.at(1000s + 1ms);
    it.answer(protocol::Status::done, version_);
    ASSERT_TRUE(plan.acquired());
  }
  client::lock::LockMemory memory;
  client::lock::LockPlan plan;
  Transcript<client::lock::LockPlan> it;

 private:
  std::string_view version_;
};

class GuardTest : public testing::Test {
 protected:
  explicit GuardTest(std::string_view token = {}) {
    tenure->name = "lock";
    tenure->held = true;
    tenure->until = 1005s;
    tenure->token = token;
    tenure->connection = 7;
    wanted.key = "key";
    wanted.value = "mine";
    wanted.started = 1000s;
    wanted.deadline = 1002s;
  }
  std::shared_ptr<client::lock::Tenure> tenure = std::make_shared<client::lock::Tenure>();
  client::lock::FencedTerms wanted;
  Now start{1000s, 0ms};
};

}  // namespace sheaf::test
