// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/memcached/meta_replies.h"

#include "base/text.h"

namespace sheaf::protocol::memcached {

using protocol::Reply;
namespace {

using Code = ReplyLine::Code;

std::string_view name_of(Code code) noexcept {
  if (code == Code::client_error) return "CLIENT_ERROR ";
  return code == Code::server_error ? "SERVER_ERROR " : "ERROR ";
}

}  // namespace

bool has_its_opaque(const Pending& request, const ReplyLine& line,
                    const ServerFacts& server) noexcept {
  if (line.opaque) return *line.opaque == request.opaque;
  return line.code == Code::miss && !server.at_least(misses_have_opaque_since);
}

bool read_get(const ReplyLine& line, std::string_view value, Answers& answers, Reply& reply) {
  if (!line.flags || !line.cas || (line.won && line.taken)) return false;
  reply.lease = line.won ? Lease::won : line.taken ? Lease::taken : Lease::none;
  reply.version = answers.version_text(*line.cas);
  if (value.empty() && reply.lease != Lease::none) {  // the stub that holds the lease
    reply.status = Status::absent;
  } else {
    reply.value = value;
    reply.flags = *line.flags;
    if (line.ttl) reply.ttl_left = std::chrono::seconds(*line.ttl);
    reply.stale = line.stale;
  }
  return true;
}

// memcached writes "out of memory storing object", but "Out of memory during read" for an item of
// several chunks, and has more wordings of both errors.
Reason reason_of_server_error(std::string_view text) noexcept {
  if (contains_ignoring_case(text, "too large")) return Reason::too_large;
  if (contains_ignoring_case(text, "out of memory")) return Reason::quota;
  return Reason::other;
}

std::string sentence(std::string_view start, const ReplyLine& line) {
  std::string all(start);
  return all.append(" (").append(name_of(line.code)).append(printable(line.text, 128)).append(")");
}

std::optional<Status> result_of(const Pending& request, Code code) noexcept {
  const bool conditional =
      request.question == Question::store || request.question == Question::remove;
  switch (code) {
    case Code::ok:
      if (request.question == Question::touch || request.question == Question::append) {
        return Status::done;
      }
      if (conditional) return Status::done;
      break;
    case Code::miss:
      if (request.question == Question::get || request.question == Question::touch) {
        return Status::absent;
      }
      break;
    case Code::not_found:
      if (request.question == Question::store || request.question == Question::append) {
        return request.by_version ? Status::absent : Status::not_stored;
      }
      if (conditional || request.question == Question::arithmetic) return Status::absent;
      break;
    case Code::not_stored:
      if (request.question == Question::store || request.question == Question::append) {
        return Status::not_stored;
      }
      break;
    case Code::exists:
      if (conditional) return Status::not_stored;
      break;
    default:
      break;
  }
  return std::nullopt;
}

}  // namespace sheaf::protocol::memcached
