// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/memcached/meta_list_reader.h"

#include "base/text.h"

namespace sheaf::protocol::memcached {

namespace {

using Code = ReplyLine::Code;

}  // namespace

// It may come while the list is being sent.
Step MetaListReader::on_first(Pending& request, const ReplyLine& line, std::size_t size,
                              Event& event) {
  const bool listed = request.keys.size() > 1;
  if (!answers_.may_come(request, listed)) return Step::again;
  if (line.code != Code::value && line.code != Code::miss) {
    return life_.broken("a reply of an unexpected kind");
  }
  if (!has_its_opaque(request, line, server_)) {
    return life_.broken("a reply with the opaque of another request");
  }
  Reply reply;
  if (line.code == Code::miss) {
    input_.consumed(size);
  } else {
    const auto value = input_.value(line.size, size);
    if (!value) return value.error();
    if (!*value) {
      reply = Answers::above_value_limit();
    } else if (!read_get(line, **value, answers_, reply)) {
      return life_.broken("a value that lacks a requested field");
    }
  }
  request.at = 1;
  if (line.code != Code::miss) return answers_.item(request, 0, reply, event);
  return Step::again;
}

Step MetaListReader::next(Pending& request, Event& event) {
  if (request.keys.size() == 1) return answers_.answer(request, {}, event);
  const auto line = input_.line();
  if (!line) return line.error();
  if (!answers_.may_come(request, false)) return Step::again;
  const std::size_t size = line->size() + line_end.size();
  if (*line == "END") return on_end(request, size, event);
  constexpr std::string_view value = "VALUE ";
  const auto head = line->starts_with(value) ? ListedHead::parse(line->substr(value.size()))
                                             : std::optional<ListedHead>();
  if (!head) return life_.broken("the line \"" + printable(*line) + "\" in a list of gets");
  return on_value(request, *head, size, event);
}

Step MetaListReader::on_value(Pending& request, const ListedHead& head, std::size_t size,
                              Event& event) {
  std::uint32_t index = request.at;
  const bool asked = request.state == Pending::State::waiting;  // else the value is not needed
  if (asked) {
    const auto keys = request.keys;
    while (index < keys.size() && keys[index] != head.key) ++index;
    if (index >= keys.size()) return life_.broken("the value of a key that was not requested");
  }
  const auto value = input_.value(head.size, size);
  if (!value) return value.error();
  Reply reply;
  if (*value) {
    reply.value = **value;
    reply.flags = head.flags;
    reply.version = answers_.version_text(head.cas);
    // It may be the stub that holds another client's lease: only mg shows that.
    reply.unsure = reply.value.empty();
  } else {
    reply = Answers::above_value_limit();
  }
  if (asked) {
    request.missed = request.missed || index > request.at;
    request.at = index + 1;
  }
  return answers_.item(request, index, reply, event);
}

// If END makes misses and another request has left, its reply must begin right after it.
Step MetaListReader::on_end(Pending& request, std::size_t size, Event& event) {
  const bool misses = request.missed || request.at < request.keys.size();
  const bool reported = misses && request.state == Pending::State::waiting;
  const Pending* const next = reported ? queue_.after(request) : nullptr;
  if (next != nullptr && life_.has_left(next->frame)) {
    const auto text = input_.line(size);
    if (!text) return text.error();
    const auto line = ReplyLine::parse(*text);
    if (!line || !begins_reply(*next, *line)) {
      return life_.broken("an END that may belong to another list");
    }
  }
  input_.consumed(size);
  return answers_.answer(request, {}, event);
}

// True if the line may begin the reply to this request, or is an error.
bool MetaListReader::begins_reply(const Pending& request, const ReplyLine& line) const {
  if (line.is_error()) return true;
  switch (request.question) {
    case Question::probe:
    case Question::stats:
      return line.code == Code::no_op;
    case Question::version:
      return line.code == Code::version;
    default:
      return has_its_opaque(request, line, server_);
  }
}

}  // namespace sheaf::protocol::memcached
