#pragma once

// SingleFlight: the single-flight pattern in one client. If several callers miss the same key, the
// leader computes while the others wait for its value, each until its own deadline. If a leader
// leaves without a value, the next in line leads.
//
// A value goes only to members that joined before the leader finished, and each of them has found
// the key absent itself. So no caller gets a value that was already out of date when it asked.
//
// A leader whose function computes elsewhere may hold the right long before the function begins:
// the dispatcher may be busy, or be the very thread that waits. So it offers the right, and a
// member that computes where it waits (on the stack of a blocking caller) takes it.
//
// | a flight            | event                                  | then                           |
// |---------------------|----------------------------------------|--------------------------------|
// | none                | join()                                 | led by the new member          |
// | led                 | join()                                 | it waits, last in line         |
// | led                 | end() with a value                     | none; on_value() of all others |
// | led, others wait    | end() without                          | led by the next; its on_lead() |
// | led, no others wait | end() without                          | none                           |
// | led                 | offer(), or take() of what was offered | led by the one that takes it;  |
// |                     |                                        | the other waits, last in line  |
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
#include "client/compute/compute_controls.h"
#include "client/compute/compute_plan.h"

namespace sheaf::client::compute {

class SingleFlight {
 public:
  // A caller in a flight. One that waits no longer does so once one of these is called, which must
  // not destroy another member.
  class Member : public ListHook<Member> {
   public:
    virtual void on_lead(Now now) = 0;
    virtual void on_value(const SharedValue& value, Now now) = 0;
    // It leads from now on, without claiming the right. Only if computes_here().
    virtual void on_right(Right right, Now now) = 0;
    virtual bool computes_here() const = 0;
    // Only if it leads and has offered its right: gives it away, and waits from now on. Nothing:
    // its function has begun.
    virtual std::optional<Right> give() = 0;

   protected:
    ~Member() = default;
  };

  SingleFlight() = default;
  SingleFlight(const SingleFlight&) = delete;
  SingleFlight& operator=(const SingleFlight&) = delete;
  void set_controls(const ComputeControls& controls) noexcept { controls_ = controls; }

  // True: the member leads, and calls end() once, unless it gives its right away. Otherwise it
  // waits.
  bool join(std::string_view key, Member& member);
  // The member no longer waits.
  void leave(std::string_view key, Member& member) noexcept;
  // The leader leaves, with its value or without. With a value, a later caller starts a new flight.
  void end(std::string_view key, const Value* value, Now now);

  // Offers the leader's right until end(). True: a waiting member has taken it.
  bool offer(std::string_view key, Member& leader, Now now);
  // For a member that computes where it waits: takes what was offered. If there is a right, the
  // member leads and no longer waits.
  std::optional<Right> take(std::string_view key, Member& member);

  bool empty() const noexcept { return flights_.empty(); }

 private:
  struct Flight {
    IntrusiveList<Member> waiting;  // the next in line first
    unsigned here = 0;              // how many of them compute where they wait
    Member* offers = nullptr;       // the leader, if it does
  };
  using Table = std::map<std::string, Flight, std::less<>>;
  static void remove(Flight& flight, Member& member) noexcept;
  static Member* next_in_line(Flight& flight) noexcept;
  void tell_all(Flight& flight, const Value& value, Now now);

  Table flights_;  // those with a leader
  ComputeControls controls_;
};

}  // namespace sheaf::client::compute
