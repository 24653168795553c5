#pragma once

// Answers that wait until the store's file has what they say.
//
// Thread rule: the broker's one thread.

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <utility>

namespace sheaf::store::plugin {

struct HeldAnswer {
  std::string client_id;
  std::string topic;
  std::optional<std::string> correlation;
  std::string payload;
  std::string timestamp;

  std::size_t bytes() const noexcept {
    return sizeof(HeldAnswer) + client_id.size() + topic.size() + payload.size() +
           timestamp.size() + correlation.value_or("").size();
  }
};

class HeldAnswers {
 public:
  void add(HeldAnswer answer) {
    bytes_ += answer.bytes();
    answers_.push_back(std::move(answer));
  }
  bool empty() const noexcept { return answers_.empty(); }
  // True if there are so many that they must not wait for the broker's next turn.
  bool full() const noexcept { return answers_.size() >= most || bytes_ >= most_bytes; }
  HeldAnswer take() {
    HeldAnswer first = std::move(answers_.front());
    answers_.pop_front();
    bytes_ -= first.bytes();
    return first;
  }

 private:
  static constexpr std::size_t most = 10'000;
  static constexpr std::size_t most_bytes = 16u << 20;

  std::deque<HeldAnswer> answers_;
  std::size_t bytes_ = 0;
};

}  // namespace sheaf::store::plugin
