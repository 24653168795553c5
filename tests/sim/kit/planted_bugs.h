#pragma once

// Bugs planted on purpose: a suite that passes with one of them proves nothing.

#include <memory>
#include <string>
#include <utility>

#include "protocol/session_wrapper.h"

namespace sheaf::sim {

enum class Bug : std::uint8_t {
  none,
  one_behind,           // after a time-out each request gets the reply before its own
  denies_what_it_sent,  // a cancelled request is always reported as not sent
  takes_no_for_yes,     // "not stored, the condition did not hold" counts as stored
  stale_notification    // a notification carries the value of the one before it
};

// Bugs of the functions with which threads synchronise: see sim_threads.h.
struct PrimitiveBugs {
  bool lost_notification = false;  // one of four notifications wakes no thread
  bool lost_stop = false;          // one of four callbacks of stop tokens is not called
};

class BuggySession final : public protocol::SessionWrapper<> {
 public:
  BuggySession(std::unique_ptr<protocol::Session> real, Bug bug)
      : SessionWrapper(std::move(real)), bug_(bug) {}

  protocol::Sent cancel(protocol::Ticket ticket, Now now) override {
    timed_out_ = true;
    const protocol::Sent sent = session().cancel(ticket, now);
    return bug_ == Bug::denies_what_it_sent ? protocol::Sent::no : sent;
  }
  bool poll_event(protocol::Event& event) override {
    if (!session().poll_event(event)) return false;
    if (event.kind == protocol::Event::Kind::reply && bug_ == Bug::takes_no_for_yes &&
        event.reply.status == protocol::Status::not_stored) {
      event.reply.status = protocol::Status::done;
    }
    if (event.kind == protocol::Event::Kind::notification && bug_ == Bug::stale_notification &&
        event.notification.value) {
      stale_ = std::exchange(newest_, std::string(*event.notification.value));
      if (!stale_.empty()) event.notification.value = stale_;
    }
    if (event.kind == protocol::Event::Kind::reply && bug_ == Bug::one_behind && timed_out_) {
      given_ = std::exchange(kept_, Kept{event.reply, std::string(event.reply.value),
                                         std::string(event.reply.version)});
      event.reply = given_.reply;
      event.reply.value = given_.value;
      event.reply.version = given_.version;
      event.reply.text = {};
    }
    return true;
  }

 private:
  Bug bug_;
  struct Kept {
    protocol::Reply reply;
    std::string value;
    std::string version;
  };
  bool timed_out_ = false;
  Kept kept_;
  Kept given_;
  std::string newest_;
  std::string stale_;
};

}  // namespace sheaf::sim
