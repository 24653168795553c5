// MetaSession: get_many.
//
// A server reads a line of many keys at half the cost of as many lines of one, and writes as soon
// as it has answered one. So the keys go as two lines that are answered in one go:
//
//   mg KEY v f c O<opaque>       the first key
//   gets KEY KEY ...             all others, in one line
//
// The server answers the list with the values of the keys that it has, in the order asked, each
// under its key, then END. A value of any other key ends the connection. A key that is passed over
// is a miss, but END says nothing about whose end it is. It is taken for the end of this list
// because it stands behind the reply to mg, which is known by its opaque, and in front of the reply
// to the next request, if there is one: before that has begun, no miss is told. No other reply
// begins with END: in front of `stats`, whose answer may be empty, goes a no-op.
//
// Pure: no socket, clock, entropy, thread or callback.

#include "base/text.h"
#include "protocol/memcached/meta_session.h"

namespace sheaf::protocol::memcached {
namespace {

using protocol::Reply;
using Code = ReplyLine::Code;

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
  reserve(1, bytes + list_command.size() + line_end.size());
  Pending& request = queue_.add(Question::many, true);
  request.keys = keys;
  ByteWriter out(output_.buffer());
  MetaGet{.key = keys.front(), .opaque = request.opaque}.encode(out);
  if (keys.size() > 1) {
    out.bytes(list_command);
    for (const std::string_view key : keys.subspan(1)) {
      out.u8(' ');
      out.bytes(key);
    }
    out.bytes(line_end);
  }
  put_frame(request);
  return request.ticket;
}

// ---- from lines to replies

// The reply to mg, for the first of the keys. It may come while the list is being sent.
MetaSession::Step MetaSession::on_first_of_many(Pending& request, const ReplyLine& line,
                                                std::size_t size, Event& event) {
  const bool listed = request.keys.size() > 1;
  if (!may_answer(request, listed)) return Step::again;
  if (line.code != Code::value && line.code != Code::miss) {
    return broken("a reply of another kind than was asked for");
  }
  if (!has_its_opaque(request, line)) return broken("a reply with the opaque of another request");
  Reply reply;
  if (line.code == Code::miss) {
    input_.consumed(size);
  } else {
    const auto value = take_value(line.size, size);
    if (!value) return value.error();
    if (!*value) {
      reply = too_large_reply();
    } else if (!read_get(line, **value, reply)) {
      return broken("a value without what was asked for");
    }
  }
  request.at = 1;
  if (line.code != Code::miss) return tell(request, 0, reply, event);
  return Step::again;
}

// A line of the list: the head of a value, or END. `size` is the whole line's.
MetaSession::Step MetaSession::on_list(Pending& request, std::string_view line, std::size_t size,
                                       Event& event) {
  if (!may_answer(request, false)) return Step::again;
  if (line == "END") return on_list_end(request, size, event);
  constexpr std::string_view value = "VALUE ";
  const auto head = line.starts_with(value) ? ListedHead::parse(line.substr(value.size()))
                                            : std::optional<ListedHead>();
  if (!head) return broken("the line \"" + printable(line) + "\" in a list of gets");
  return on_listed(request, *head, size, event);
}

MetaSession::Step MetaSession::on_list_end(Pending& request, std::size_t size, Event& event) {
  const bool misses = request.missed || request.at < request.keys.size();
  const bool told = misses && request.state == Pending::State::waiting;
  const Pending* const next = told ? queue_.behind(request) : nullptr;
  if (next != nullptr && output_.progress(next->frame) == OutputQueue::Progress::written) {
    const auto text = first_line(input_.data().substr(size));
    if (!text) return text.error();
    const auto line = ReplyLine::parse(*text);
    if (!line || !begins_reply(*next, *line)) return broken("an END that may be another list's");
  }
  input_.consumed(size);
  return answer(request, {}, event);
}

// Whether the line may begin the reply to this request, or is an error.
bool MetaSession::begins_reply(const Pending& request, const ReplyLine& line) const {
  if (line.is_error()) return true;
  switch (request.question) {
    case Question::probe:
    case Question::stats:
      return line.code == Code::no_op;
    case Question::version:
      return line.code == Code::version;
    default:
      return has_its_opaque(request, line);
  }
}

MetaSession::Step MetaSession::on_listed(Pending& request, const ListedHead& head, std::size_t size,
                                         Event& event) {
  std::uint32_t index = request.at;
  const bool asked = request.state == Pending::State::waiting;  // else nobody takes the value
  if (asked) {
    const auto keys = request.keys;
    while (index < keys.size() && keys[index] != head.key) ++index;
    if (index >= keys.size()) return broken("the value of a key that was not asked for");
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
  if (asked) {
    request.missed = request.missed || index > request.at;
    request.at = index + 1;
  }
  return tell(request, index, reply, event);
}

}  // namespace sheaf::protocol::memcached
