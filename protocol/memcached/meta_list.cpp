// MetaSession: get_many.
//
// A server answers at most twenty commands (its `-R`) before it writes, and reads a line of many
// keys at half the cost of as many lines of one. So the keys go as
//
//   gets KEY KEY ...             in as many lines as they need
//   mg KEY v f c O<opaque>       the last key
//
// The server answers a list with the values of the keys that it has, in the order asked, each under
// its key, then END. A value of any other key ends the connection. A key that is passed over is a
// miss, but END says nothing about whose end it is: only the reply to mg, by its opaque, proves
// that every list has been answered. So misses are told by the end of the whole.

#include "base/text.h"
#include "protocol/memcached/meta_session.h"

namespace sheaf::protocol::memcached {
namespace {

using protocol::Reply;
using Code = ReplyLine::Code;

// Of one line. The server takes a line above 2 KiB by a way of its own, which costs it an
// allocation.
constexpr std::size_t longest_list = 2'000;
constexpr std::string_view list_command = "gets";

}  // namespace

// ---- from keys to lines

std::expected<Ticket, LocalError> MetaSession::write_many(std::span<const std::string_view> keys) {
  std::size_t bytes = max_request_line;
  for (const std::string_view key : keys) {
    if (!is_listable_key(key)) {
      return std::unexpected(unsupported("a key with blanks or control characters in a list"));
    }
    bytes += key.size() + 1;
  }
  const std::size_t around = list_command.size() + line_end.size();
  reserve(1, bytes + around * (1 + bytes / (longest_list / 2)));
  Pending& request = queue_.add(Question::many, true);
  request.keys = keys;
  ByteWriter out(output_.buffer());
  std::size_t room = 0;
  for (const std::string_view key : keys.first(keys.size() - 1)) {
    if (key.size() + 1 > room) {
      if (request.lists++ > 0) out.bytes(line_end);
      out.bytes(list_command);
      room = longest_list - list_command.size();
    }
    out.u8(' ');
    out.bytes(key);
    room -= key.size() + 1;
  }
  if (request.lists > 0) out.bytes(line_end);
  MetaGet{.key = keys.back(), .opaque = request.opaque}.encode(out);
  put_frame(request);
  return request.ticket;
}

// ---- from lines to replies

// The end of a line of a list: the text between VALUE and its line end, or END. `size` is the whole
// line's.
MetaSession::Step MetaSession::on_list(Pending& request, std::string_view line, std::size_t size,
                                       Event& event) {
  if (!may_answer(request, true)) return Step::again;
  if (line == "END") {
    input_.consumed(size);
    --request.lists;
    return Step::again;
  }
  constexpr std::string_view value = "VALUE ";
  const auto head = line.starts_with(value) ? ListedHead::parse(line.substr(value.size()))
                                            : std::optional<ListedHead>();
  if (!head) return broken("the line \"" + printable(line) + "\" in a list of gets");
  return on_listed(request, *head, size, event);
}

MetaSession::Step MetaSession::on_listed(Pending& request, const ListedHead& head, std::size_t size,
                                         Event& event) {
  std::uint32_t index = request.at;
  const bool asked = request.state == Pending::State::waiting;  // else nobody takes the value
  if (asked) {
    const auto listed = request.keys.first(request.keys.size() - 1);
    while (index < listed.size() && listed[index] != head.key) ++index;
    if (index >= listed.size()) return broken("the value of a key that was not asked for");
  }
  const auto value = take_value(head.size, size);
  if (!value) return value.error();
  Reply reply;
  if (*value) {
    reply.value = **value;
    reply.flags = head.flags;
    reply.version = version_text(head.cas);
    // It may be the stub that holds somebody's lease: only mg tells.
    reply.unsure = reply.value.empty();
  } else {
    reply = too_large_reply();
  }
  if (asked) request.at = index + 1;
  return tell(request, index, reply, event);
}

// The reply to mg, for the last of the keys, once all lists are answered.
MetaSession::Step MetaSession::on_last_of_many(Pending& request, const ReplyLine& line,
                                               std::size_t size, Event& event) {
  if (!may_answer(request, false)) return Step::again;
  if (line.code != Code::value && line.code != Code::miss) {
    return broken("a reply of another kind than was asked for");
  }
  if (!has_its_opaque(request, line)) return broken("a reply with the opaque of another request");
  if (line.code == Code::miss) {
    input_.consumed(size);
    return answer(request, {}, event);
  }
  const auto value = take_value(line.size, size);
  if (!value) return value.error();
  Reply reply = *value ? Reply{} : too_large_reply();
  if (*value && !read_get(line, **value, reply)) {
    return broken("a value without what was asked for");
  }
  request.over = true;
  const bool asked = request.state == Pending::State::waiting;
  const auto last = static_cast<std::uint32_t>(asked ? request.keys.size() - 1 : 0);
  return tell(request, last, reply, event);
}

}  // namespace sheaf::protocol::memcached
