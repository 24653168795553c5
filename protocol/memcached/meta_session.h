#pragma once

// The client's end of one connection in memcached's meta protocol, which is text. See session.h for
// what it does as every session of memcached.
//
// greeting: `version`. A server that answers it wants no log-in, and the password is not sent to it
// (it would be stored as a value). One that answers "unauthenticated" gets the log-in, a classic
// `set` whose value is user and password, and is asked again.
//
// Replies come in order and carry the opaque of their request; both are checked. Errors carry
// none: SERVER_ERROR belongs to the oldest request, every other error line says that client and
// server have lost each other and ends the connection, but for one: a number that is none. Many
// keys at once go as lists, whose replies carry their keys: see meta_list.cpp.
//
// Pure: no socket, clock, entropy, thread or callback.

#include <expected>
#include <optional>
#include <span>
#include <string_view>

#include "protocol/memcached/meta_lines.h"
#include "protocol/memcached/session.h"

namespace sheaf::protocol::memcached {

class MetaSession final : public MemcachedSession {
 public:
  explicit MetaSession(SessionOptions options) : MemcachedSession(std::move(options)) {}

 private:
  std::optional<std::string> bad_credentials() const override;
  void greet() override;
  std::expected<Ticket, LocalError> write(const Operation& operation, Now now) override;
  void write_probe() override;
  Step next_step(Event& event) override;

  // meta_submit.cpp: from an operation to its line
  Pending& write_line(std::string_view line, Question question, bool with_ticket);
  Ticket write_stats(std::string_view group);
  Ticket write_get(const Operation& operation, std::uint32_t expiry);
  Ticket write_set(const Operation& operation, std::uint32_t expiry);
  Ticket write_remove(const Operation& operation);
  Ticket write_arithmetic(const Operation& operation, std::uint32_t expiry);
  void write_login();

  // meta_session.cpp: from received bytes to replies
  std::expected<std::string_view, Step> first_line(std::string_view data);
  Step on_line(Pending* request, const ReplyLine& line, std::size_t size, Event& event);
  Step on_greeting(const ReplyLine& line, Event& event);
  Step on_version(std::string_view text, Event& event);
  Step on_refused_greeting(Question question, const ReplyLine& line);
  Step on_error(Pending* request, const ReplyLine& line, Event& event);
  Step on_value(Pending& request, const ReplyLine& line, std::size_t size, Event& event);
  Step on_number(Pending& request, const ReplyLine& line, std::string_view value, Event& event);
  Step on_result(Pending& request, const ReplyLine& line, Event& event);
  Step on_text(Pending& request, const ReplyLine& line, Event& event);
  bool has_its_opaque(const Pending& request, const ReplyLine& line) const;
  std::expected<std::optional<std::string_view>, Step> take_value(std::size_t value,
                                                                  std::size_t line);
  bool read_get(const ReplyLine& line, std::string_view value, Reply& reply);
  Step skip_line_end();

  // meta_list.cpp: get_many
  std::expected<Ticket, LocalError> write_many(std::span<const std::string_view> keys);
  Step on_first_of_many(Pending& request, const ReplyLine& line, std::size_t size, Event& event);
  Step on_list(Pending& request, std::string_view line, std::size_t size, Event& event);
  Step on_list_end(Pending& request, std::size_t size, Event& event);
  bool begins_reply(const Pending& request, const ReplyLine& line) const;
  Step on_listed(Pending& request, const ListedHead& head, std::size_t size, Event& event);

  bool logged_in_ = false;
  bool skip_line_end_ = false;  // behind a value that was skipped
};

}  // namespace sheaf::protocol::memcached
