#pragma once

// Replies that report a refusal, by the server or because of what it sent.
//
// Thread rule: plain functions.
// Pure: no socket, clock, entropy, thread or callback.

#include <string_view>

#include "protocol/operation.h"
#include "protocol/resp/wire/server_error.h"

namespace sheaf::protocol::resp {

// Both borrow the text.
protocol::Reply refusal(Reason reason, std::string_view text) noexcept;
// Has a Redirect if the server says that it has not executed the request.
protocol::Reply refusal(const ServerError& error) noexcept;

}  // namespace sheaf::protocol::resp
