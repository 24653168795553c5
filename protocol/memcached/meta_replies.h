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

// True if the line has the request's opaque. Only misses of older servers have none.
bool has_its_opaque(const Pending& request, const ReplyLine& line,
                    const ServerFacts& server) noexcept;

// Reads the reply to mg; false if it lacks something that was asked for.
bool read_get(const ReplyLine& line, std::string_view value, Answers& answers, Reply& reply);

// What a code without a value means for the question; nothing if it cannot answer it.
std::optional<Status> result_of(const Pending& request, ReplyLine::Code code) noexcept;

Reason reason_of_server_error(std::string_view text) noexcept;
// "the server refused the log-in (CLIENT_ERROR authentication failure)"
std::string sentence(std::string_view start, const ReplyLine& line);

}  // namespace sheaf::protocol::memcached
