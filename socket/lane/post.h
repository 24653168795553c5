#pragma once

// Functions that run once under a lane's baton, without a waiting caller.
//
// Thread rule: any thread.

#include <memory>
#include <type_traits>
#include <utility>

#include "socket/lane/lane.h"

namespace sheaf::socket {

// A member function, as a task that its owner contains: posting it allocates nothing.
template <class Owner>
class MemberTask final : public Lane::Task {
 public:
  using Function = void (Owner::*)(Now);
  MemberTask(Owner& owner, Function function) noexcept : owner_(owner), function_(function) {}
  void run(Now now) override { (owner_.*function_)(now); }

 private:
  Owner& owner_;
  const Function function_;
};

// Owns itself until it has run.
template <class Function>
class Posted final : private Lane::Task {
 public:
  static void post(Lane& lane, Function function) { lane.post(*new Posted(std::move(function))); }

 private:
  explicit Posted(Function function) : function_(std::move(function)) {}
  void run(Now now) override {
    const std::unique_ptr<Posted> self(this);
    function_(now);
  }
  Function function_;
};

template <class Function>
void post(Lane& lane, Function&& function) {
  Posted<std::decay_t<Function>>::post(lane, std::forward<Function>(function));
}

}  // namespace sheaf::socket
