#pragma once

// MetaSession: the client's end of one connection in memcached's meta protocol, which is text. See
// session.h for what all sessions of memcached do.
//
// greeting: `version`. A server that answers it requires no log-in, and does not get the password,
// which it would store as a value. A server that answers "unauthenticated" gets the log-in, a
// classic `set` whose value is user and password, and is asked again.
//
// Replies come in order and contain the opaque of their request; both are checked. Errors have no
// opaque: SERVER_ERROR belongs to the oldest request; every other error line, except the one for a
// value that is not a number, means that client and server are out of step, and ends the
// connection. Requests for many keys are sent as lists, whose replies contain the keys: see
// meta_list_reader.h.
//
// Thread rule: one thread at a time; nothing here blocks, calls back or reads a clock.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstddef>
#include <expected>
#include <string_view>
#include <utility>

#include "protocol/memcached/meta_input.h"
#include "protocol/memcached/meta_lines.h"
#include "protocol/memcached/meta_list_reader.h"
#include "protocol/memcached/meta_writer.h"
#include "protocol/memcached/session.h"

namespace sheaf::protocol::memcached {

class MetaSession final : public MemcachedSession {
 public:
  explicit MetaSession(SessionOptions options)
      : MemcachedSession(std::move(options)),
        writer_(this->options(), requests(), life().output()),
        input_(this->options().value_limit, life()),
        list_reader_(server(), life(), requests(), answers(), input_) {}

 private:
  void greet() override;
  std::expected<Ticket, LocalError> write_request(const Operation& operation, Now now) override {
    return writer_.write(operation, now);
  }
  OutputQueue::FrameId write_no_op() override { return writer_.write_no_op(); }
  Step next_reply(Event& event) override;
  // Handles a line, with or without a request that is due; `size` is the size of the whole line.
  Step on_line(Pending* request, const ReplyLine& line, std::size_t size, Event& event);

  // ---- greeting
  Step on_greeting(const ReplyLine& line, Event& event);
  Step on_version(std::string_view text, Event& event);
  Step on_refused_greeting(Question question, const ReplyLine& line);

  // ---- replies
  Step on_error(Pending* request, const ReplyLine& line, Event& event);
  Step on_value(Pending& request, const ReplyLine& line, std::size_t size, Event& event);
  Step on_number(Pending& request, const ReplyLine& line, std::string_view value, Event& event);
  Step on_result(Pending& request, const ReplyLine& line, Event& event);
  Step on_text(Pending& request, const ReplyLine& line, Event& event);
  Step on_stats(Pending& request, const ReplyLine& line, Event& event);

  Step broken(std::string_view what) { return life().broken(what); }

  MetaWriter writer_;
  MetaInput input_;
  MetaListReader list_reader_;
  bool logged_in_ = false;
};

}  // namespace sheaf::protocol::memcached
