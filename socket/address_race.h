#pragma once

// AddressRace: in which order and when the addresses of a name are tried (RFC 8305, "Happy
// Eyeballs"). The first that connects wins. An address that stays silent costs a pause, not the
// whole attempt.
//
// | input                     | then                                                   |
// |---------------------------|--------------------------------------------------------|
// | it begins                 | the first address is tried                             |
// | the pause is over         | the next one is tried, too; the others go on           |
// | an attempt fails          | the next one is tried at once                          |
// | all have been tried       | nothing more begins; it is lost once all have failed   |
//
// The order is the system's (RFC 6724), but families take turns: a path that is broken for one
// family costs a single pause. Addresses that have been useless lately come after all others. The
// pause is a quarter of the time that there is, or less if that would leave too little for the last
// address, and 250 ms at most.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "base/clock.h"

namespace sheaf::socket {

class AddressRace {
 public:
  struct Racer {
    int family = 0;        // equal for addresses that share their fate
    bool useless = false;  // tried lately, in vain
  };

  AddressRace(std::span<const Racer> addresses, Deadline now, Deadline deadline);

  // The address to try now, as its place in the list given. Call it until it returns nothing: after
  // the beginning, after on_failed() and at poll_deadline().
  std::optional<std::size_t> next(Deadline now) noexcept;
  // An attempt has failed.
  void on_failed() noexcept;

  // When another attempt begins; `never` if none is left.
  Deadline poll_deadline() const noexcept { return begun_ < order_.size() ? next_at_ : never; }
  // True if every address was tried and has failed.
  bool lost() const noexcept { return failed_ == order_.size(); }
  std::size_t begun() const noexcept { return begun_; }

 private:
  std::vector<std::size_t> order_;
  std::chrono::nanoseconds pause_;
  Deadline next_at_{0};
  std::size_t begun_ = 0;
  std::size_t failed_ = 0;
};

}  // namespace sheaf::socket
