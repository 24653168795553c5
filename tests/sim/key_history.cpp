#include "tests/sim/key_history.h"

namespace sheaf::sim {

const std::string& KeyHistory::begin_set(std::size_t size) {
  std::string value = name_ + "=" + std::to_string(writes_.size()) + ".";
  value.append(size, '.');
  writes_.push_back({std::move(value), State::open});
  ++open_;
  return *writes_.back().value;
}

std::string KeyHistory::end_write(std::size_t number, const Error* error) {
  Write& write = writes_[number];
  if (write.state != State::open) return "a write of " + name_ + " ended twice";
  --open_;
  if (error == nullptr) {
    write.state = State::acknowledged;
  } else if (error->outcome == Outcome::unknown) {
    write.state = State::unknown;
  } else {
    write.state = State::not_done;
    if (write.seen) return *write.value + " was read, but " + error->message();
  }
  return {};
}

std::size_t KeyHistory::last_acknowledged() const {
  std::size_t last = writes_.size() - 1;
  while (writes_[last].state != State::acknowledged) --last;
  return last;
}

std::string KeyHistory::check(std::size_t since, const GetResult& got) {
  for (std::size_t i = writes_.size(); i-- > 0;) {
    Write& write = writes_[i];
    if (write.value.has_value() != got.has_value()) continue;
    if (got.has_value() && *write.value != got->data) continue;
    if (write.state == State::not_done) continue;
    if (i < since && write.state == State::acknowledged) continue;
    write.seen = got.has_value();
    return {};
  }
  return name_ + " holds " + (got.has_value() ? got->data.substr(0, 60) : "nothing") + ", but " +
         writes_[since].value.value_or("its removal") + " was acknowledged";
}

}  // namespace sheaf::sim
