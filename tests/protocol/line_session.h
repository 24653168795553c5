#pragma once

// A protocol as small as one can be, to test what every session shares: the client greets with
// HELLO, and is let in with OK; a request is a line with a key, and its value if it has one; a
// reply is a line, and belongs to the oldest request. PING is answered with PONG.

#include <deque>
#include <string>
#include <string_view>
#include <utility>

#include "protocol/session_base.h"

namespace sheaf::protocol {

class LineRequests final : public OpenRequests {
 public:
  struct Line : OpenRequest {
    bool waiting = true;
    bool over = false;
  };

  Line& add() {
    Line line;
    line.ticket = {static_cast<std::uint32_t>(lines_.size()), 1};
    return lines_.emplace_back(line);
  }
  Line* oldest() {
    for (Line& line : lines_) {
      if (!line.over) return &line;
    }
    return nullptr;
  }

  std::size_t waiting() const noexcept override {
    std::size_t count = 0;
    for (const Line& line : lines_) count += line.waiting ? 1 : 0;
    return count;
  }
  OpenRequest* find(Ticket ticket) noexcept override {
    if (ticket.slot >= lines_.size() || !lines_[ticket.slot].waiting) return nullptr;
    return &lines_[ticket.slot];
  }
  OpenRequest* next(std::size_t& position) noexcept override {
    while (position < lines_.size() && !lines_[position].waiting) ++position;
    return position < lines_.size() ? &lines_[position] : nullptr;
  }
  void abandon(OpenRequest& request) noexcept override {
    static_cast<Line&>(request).waiting = false;
  }
  void drop(OpenRequest& request) noexcept override {
    abandon(request);
    static_cast<Line&>(request).over = true;
  }

 private:
  std::deque<Line> lines_;
};

class LineSession final : public SessionBase<LineRequests> {
 public:
  explicit LineSession(const LifeOptions& options) : SessionBase(options) {}

  Deadline chore = never;  // work of its own that is due then
  unsigned chores_done = 0;
  std::size_t slots = 100;

 private:
  void greet() override { put("HELLO\n"); }
  std::expected<Ticket, LocalError> write(const Operation& operation, Now) override {
    if (operation.key.empty()) return std::unexpected(invalid("the key is empty"));
    life().output().reserve(operation.key.size() + 2, operation.value.size());
    LineRequests::Line& line = requests().add();
    life().output().buffer().append(operation.key).append(1, ' ');
    life().output().put_value(operation.value);
    life().output().buffer().append(1, '\n');
    line.frame = life().output().end();
    return line.ticket;
  }
  OutputQueue::FrameId write_no_op() override { return put("PING\n"); }
  std::size_t free_slots() const override { return slots; }
  std::string farewell() const override { return "BYE\n"; }
  Deadline own_deadline() const override { return chore; }
  void on_own_deadline() override {
    ++chores_done;
    chore = never;
  }

  Step next_step(Event& event) override {
    const std::string_view data = life().input().data();
    const std::size_t end = data.find('\n');
    if (end == std::string_view::npos) return Step::need_input;
    life().input().consumed(end + 1);
    const std::string_view line = data.substr(0, end);
    if (line == "HALF") {
      life().accept();
      return Step::again;
    }
    if (!ready()) return line == "OK" ? life().become_ready(event) : life().broken("no OK");
    if (line == "PONG") return Step::again;
    LineRequests::Line* const request = requests().oldest();
    if (request == nullptr || !life().has_left(request->frame)) return life().broken("a reply");
    request->over = true;
    if (line == "LAST") life().end_after_event({Reason::protocol_error, "the server gave up"});
    if (!request->waiting) return Step::again;
    event = {Event::Kind::reply, request->ticket, {}, Sent::maybe};
    event.reply.value = line;
    requests().abandon(*request);
    return Step::event;
  }
  OutputQueue::FrameId put(std::string_view text) {
    life().output().buffer().append(text);
    return life().output().end();
  }
};

}  // namespace sheaf::protocol
