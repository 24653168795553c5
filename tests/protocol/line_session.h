#pragma once

// A minimal protocol, to test what all sessions share. The client greets with HELLO and is accepted
// with OK. A request is a line with a key, and a value if it has one. A reply is a line and belongs
// to the oldest request. PING is answered with PONG.

#include <string>
#include <string_view>
#include <utility>

#include "protocol/ordered_requests.h"
#include "protocol/session_base.h"

namespace sheaf::protocol {

class LineSession final : public SessionBase<OrderedRequests<>> {
 public:
  explicit LineSession(const LifeOptions& options) : SessionBase(options) {}

  Deadline chore = never;  // when its own work is due
  unsigned chores_done = 0;
  std::size_t slots = 100;

 private:
  void greet() override { put("HELLO\n"); }
  std::expected<Ticket, LocalError> write(const Operation& operation, Now) override {
    if (operation.key.empty()) return std::unexpected(invalid("the key is empty"));
    requests().reserve(1);
    life().output().reserve(operation.key.size() + 2, operation.value.size());
    OpenRequest& request = requests().add(true);
    life().output().buffer().append(operation.key).append(1, ' ');
    life().output().put_value(operation.value);
    life().output().buffer().append(1, '\n');
    request.frame = life().output().end();
    return request.ticket;
  }
  OutputQueue::FrameId write_no_op() override { return put("PING\n"); }
  std::size_t free_slots() const override { return slots; }
  std::string farewell() const override { return "BYE\n"; }
  Deadline own_deadline() const override { return chore; }
  void on_own_deadline(Now) override {
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
    auto* const request = requests().due();
    if (request == nullptr || !life().has_left(request->frame)) return life().broken("a reply");
    event = {Event::Kind::reply, request->ticket, {}, Sent::maybe};
    event.reply.value = line;
    const bool wanted = request->state == OrderedRequest::State::waiting;
    requests().finish(*request);
    if (line == "LAST") life().end_after_event({Reason::protocol_error, "the server gave up"});
    return wanted ? Step::event : Step::again;
  }
  OutputQueue::FrameId put(std::string_view text) {
    life().output().buffer().append(text);
    return life().output().end();
  }
};

}  // namespace sheaf::protocol
