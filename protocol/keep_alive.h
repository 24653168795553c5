#pragma once

// KeepAlive: when a silent connection is asked for a sign of life, and when the answer is overdue.
// The question is a no-op of the protocol; any byte that arrives answers it.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "protocol/output_queue.h"

namespace sheaf::protocol {

class KeepAlive {
 public:
  // Whose silence counts: the server's, or that of either side, if the server also expects to hear
  // from us in time.
  enum class Silence : std::uint8_t { of_server, of_either };

  // After `interval` of silence a no-op is due. Its answer is due `answer_limit` after the no-op
  // has left. An interval of 0 means never.
  KeepAlive(Silence silence, Deadline interval, Deadline answer_limit) noexcept
      : silence_(silence), interval_(interval), answer_limit_(answer_limit) {}

  void start(Deadline now) noexcept { last_sent_ = last_received_ = now; }
  // The server wants to hear from us more often than planned.
  void shorten(Deadline interval) noexcept { interval_ = std::min(interval_, interval); }

  void on_input(Deadline now) noexcept {
    last_received_ = now;
    question_.reset();
  }
  // Bytes are about to be taken from `output`: an answer is owed only from then on.
  void on_output(const OutputQueue& output, Deadline now) noexcept {
    last_sent_ = now;
    if (question_ && output.progress(*question_) != OutputQueue::Progress::written) {
      answer_due_ = now + answer_limit_;
    }
  }
  // The no-op was queued as this frame.
  void asked(OutputQueue::FrameId frame, Deadline now) noexcept {
    question_ = frame;
    answer_due_ = now + answer_limit_;
  }

  // True while a no-op is unanswered.
  bool asking() const noexcept { return question_.has_value(); }
  // When the next no-op is due, or the answer to the last one.
  Deadline due() const noexcept {
    if (question_) return answer_due_;
    if (interval_ == Deadline{0}) return never;
    const bool either = silence_ == Silence::of_either;
    return (either ? std::min(last_sent_, last_received_) : last_received_) + interval_;
  }

 private:
  Silence silence_;
  Deadline interval_;
  Deadline answer_limit_;
  Deadline last_sent_{0};
  Deadline last_received_{0};
  std::optional<OutputQueue::FrameId> question_;  // unanswered
  Deadline answer_due_{0};
};

}  // namespace sheaf::protocol
