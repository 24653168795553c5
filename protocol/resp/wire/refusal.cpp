// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/resp/wire/refusal.h"

#include <optional>

namespace sheaf::protocol::resp {

using protocol::Reply;

Reply refusal(Reason reason, std::string_view text) noexcept {
  Reply reply;
  reply.status = Status::refused;
  reply.reason = reason;
  reply.text = text;
  return reply;
}

namespace {

// The redirect in an error, in the terms of all protocols.
std::optional<protocol::Redirect> redirect_of(const ServerError& error) noexcept {
  using Kind = protocol::Redirect::Kind;
  using enum ErrorKind;
  switch (error.kind) {
    case moved:
    case ask: {
      const resp::Redirect& to = *error.redirect;
      return protocol::Redirect{error.kind == moved ? Kind::moved : Kind::ask,
                                to.target == resp::Redirect::Target::unknown_host, to.slot, to.port,
                                to.host};
    }
    case try_again:
    case cluster_down:
    case migrating:
    case loading:
    case read_only:
    case master_down:
    case busy:
    case unblocked:
      return protocol::Redirect{.kind = Kind::later};
    default:
      return std::nullopt;
  }
}

}  // namespace

Reply refusal(const ServerError& error) noexcept {
  Reply reply = refusal(error.reason(), error.text);
  reply.redirect = redirect_of(error);
  return reply;
}

}  // namespace sheaf::protocol::resp
