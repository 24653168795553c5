#pragma once

// What the reply lines of the meta protocol mean for the requests that they answer.
//
// Thread rule: free functions.
// Pure: no socket, clock, entropy, thread or callback.

#include <optional>
#include <string>
#include <string_view>

#include "protocol/memcached/answers.h"
#include "protocol/memcached/meta_lines.h"
#include "protocol/memcached/request_queue.h"
#include "protocol/memcached/server_facts.h"

namespace sheaf::protocol::memcached {

// True if the line has the request's opaque. Every reply has one, except misses of older servers.
bool has_its_opaque(const Pending& request, const ReplyLine& line,
                    const ServerFacts& server) noexcept;

// What mg asks for, from its reply; false if the server did not say all of it.
bool read_get(const ReplyLine& line, std::string_view value, Answers& answers, Reply& reply);

// What a code without a value means for what was asked; nothing if it cannot be the answer.
std::optional<Status> result_of(const Pending& request, ReplyLine::Code code) noexcept;

Reason reason_of_server_error(std::string_view text) noexcept;
// "the server refused the log-in (CLIENT_ERROR authentication failure)"
std::string sentence(std::string_view start, const ReplyLine& line);

}  // namespace sheaf::protocol::memcached
