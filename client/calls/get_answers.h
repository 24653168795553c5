#pragma once

// GetAnswers: the answers for the keys of a batch of gets, and finally its results.
//
// Making a string of every key and value is a third of the work of a large batch. The user of this
// class decides which thread does it, and when: until make_entries(), small values are only
// appended to one buffer; after that each value becomes a string when it comes. A caller that
// drives the lane itself makes the entries once its requests are sent, while the servers work. A
// driver that works for other callers leaves it to them, after the end.
//
// Pure: no socket, clock, entropy, thread or callback.
// Thread rule: one thread at a time.

#include <cstdint>
#include <memory_resource>
#include <string>
#include <vector>

#include <sheaf/options.h>

#include "cluster/placement/batch_plan.h"
#include "protocol/operation.h"

namespace sheaf::client::calls {

class GetAnswers {
 public:
  using Entry = KeyResult<GetResult>;

  // Keys are identified by their places in the plan, which outlives this object. The entries reuse
  // the memory of `used`, the results of an earlier batch.
  explicit GetAnswers(const cluster::BatchPlan& plan, std::vector<Entry> used = {})
      : plan_(plan),
        known_(plan.size(), plan.memory()),
        bytes_(plan.memory()),
        entries_(std::move(used)) {}

  // Takes a reply that is not a refusal: the value, or that the key is absent.
  void answer(std::uint32_t place, const protocol::Reply& reply);
  void miss(std::uint32_t place) { known_[place].state = State::absent; }
  void fail(std::uint32_t place, Error error);
  // Only another request can give the answer: for this key alone, or, if the key seems absent,
  // together with others.
  void doubt(std::uint32_t place, bool seems_absent) {
    known_[place].state = seems_absent ? State::seems_absent : State::unsure;
  }
  // The key is requested once more.
  void forget(std::uint32_t place) { known_[place].state = State::nothing; }

  bool is_known(std::uint32_t place) const { return known_[place].state > State::unsure; }
  bool unsure(std::uint32_t place) const { return known_[place].state == State::unsure; }
  bool seems_absent(std::uint32_t place) const {
    return known_[place].state == State::seems_absent;
  }

  // Makes strings of the keys now, and of every value from now on.
  void make_entries();
  // Call once, when every key is known or has failed. The results are in the order of the plan's
  // indices.
  std::vector<Entry> take();

 private:
  enum class State : std::uint8_t { nothing, seems_absent, unsure, absent, put_aside, in_entry };
  // A value in State::put_aside is in bytes_, followed by its version.
  struct Known {
    State state = State::nothing;
    std::uint8_t version_size = 0;
    std::uint32_t size = 0;
    std::uint32_t flags = 0;
    std::size_t at = 0;
  };

  const cluster::BatchPlan& plan_;
  std::pmr::vector<Known> known_;  // by place
  std::pmr::string bytes_;
  bool made_ = false;           // the entries have their keys
  std::vector<Entry> entries_;  // by index; old contents until made and answered
};

}  // namespace sheaf::client::calls
