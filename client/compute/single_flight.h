#pragma once

// SingleFlight: the single-flight pattern in one client. Of the callers that miss the same key the
// leader goes on, while the others wait for its value, each until its own deadline. If a leader
// leaves without a value, the next in line becomes the leader.
//
// A value goes only to those who had joined before the leader finished, and each of them has found
// the key absent by itself: nobody gets a value that was out of date when it asked.
//
// A leader whose function computes elsewhere may have the right to compute long before its function
// begins: the dispatcher may be busy, or be the very thread that waits. So it offers the right, and
// a member that computes where it waits (on the stack of a blocking caller) takes it.
//
// | a flight            | event                                  | then                           |
// |---------------------|----------------------------------------|--------------------------------|
// | none                | join()                                 | led by who joined              |
// | led                 | join()                                 | who joined waits, at the end   |
// | led                 | end() with a value                     | none; on_value() of who waits  |
// | led, others wait    | end() without                          | led by the next; its on_lead() |
// | led, nobody waits   | end() without                          | none                           |
// | led                 | offer(), or take() of what was offered | led by who takes the right     |
//
// Thread rule: under the baton.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <sheaf/value.h>

#include "base/clock.h"
#include "base/intrusive_list.h"
#include "client/compute/claim.h"
#include "client/compute/compute_controls.h"

namespace sheaf::client::compute {

class SingleFlight {
 public:
  // Who waits in a flight. It waits no more when one of these is called, which must not destroy
  // another member.
  class Member : public ListHook<Member> {
   public:
    virtual void on_lead(Now now) = 0;
    virtual void on_value(const SharedValue& value, Now now) = 0;
    // It leads from now on, and need not claim the right. Only of one that computes where it waits.
    virtual void on_right(Right right, Now now) = 0;
    virtual bool computes_here() const = 0;

   protected:
    ~Member() = default;
  };

  // A leader that may give its right away.
  class Offer {
   public:
    // Its right, which it then no longer has and does not end(); nothing: its function has begun.
    virtual std::optional<Right> give(Now now) = 0;

   protected:
    ~Offer() = default;
  };

  SingleFlight() = default;
  SingleFlight(const SingleFlight&) = delete;
  SingleFlight& operator=(const SingleFlight&) = delete;
  void set_controls(const ComputeControls& controls) noexcept { controls_ = controls; }

  // True: who joined leads, and calls end() once. Else it waits.
  bool join(std::string_view key, Member& member);
  // It does not wait any more.
  void leave(std::string_view key, Member& member) noexcept;
  // The leader leaves: with its value, or without. Whoever joins from now on begins anew if there
  // is a value.
  void end(std::string_view key, const Value* value, Now now);

  // The leader's right may be had until end(). True: somebody who waits has taken it.
  bool offer(std::string_view key, Offer& offer, Now now);
  // By a member that waits and computes where it does: what was offered. It waits no more, and
  // leads, if there is a right.
  std::optional<Right> take(std::string_view key, Member& member, Now now);

  bool empty() const noexcept { return flights_.empty(); }

 private:
  struct Flight {
    IntrusiveList<Member> waiting;  // the next in line first
    unsigned here = 0;              // of them: compute where they wait
    Offer* offer = nullptr;
  };
  using Table = std::map<std::string, Flight, std::less<>>;
  static void remove(Flight& flight, Member& member) noexcept;
  static Member* next_in_line(Flight& flight) noexcept;
  void tell_all(Flight& flight, const Value& value, Now now);

  Table flights_;  // those that are led
  ComputeControls controls_;
};

}  // namespace sheaf::client::compute
