#include "node/node_records.h"

#include <utility>

#include "base/reason_words.h"
#include "node/tallies.h"

namespace sheaf::node {

LogRecord record_of(const Request& request, const socket::Completion& completion,
                    const EventLog& log) {
  LogRecord record;
  const bool lost = completion.outcome == Outcome::unknown;
  record.level = lost ? LogLevel::error : LogLevel::warning;
  record.node = completion.node;
  record.operation = protocol::to_string(request.operation.verb);
  const auto& keys = request.operation.keys;
  record.key = log.show_key(keys.empty() ? request.operation.key : keys.front());
  record.outcome = completion.outcome;
  record.text = reason_words(completion.reason, completion.text);
  if (!record.text.empty() && !completion.text.empty()) record.text += ": ";
  record.text += completion.text;
  if (keys.size() > 1) {
    record.text.append(" (and ").append(std::to_string(keys.size() - 1)).append(" other keys)");
  }
  record.elapsed = completion.now.mono - request.started_at;
  return record;
}

RequestEvent event_of(const Request& request, const socket::Completion& completion,
                      const socket::Endpoint& server) {
  RequestEvent event;
  event.operation = operation_name(request.operation.verb);
  event.keys = request.width();
  event.address = server.host;
  event.port = server.port;
  event.elapsed = completion.now.mono - request.started_at;
  if (!completion.answered) {
    event.outcome = completion.outcome;
    event.reason = completion.reason;
    event.text = completion.text;
  }
  event.parent = request.parent;
  return event;
}

LogRecord record_of(std::string_view node, NodeHealth health, std::string_view failure) {
  LogRecord record;
  const bool down = health == NodeHealth::down;
  record.level = down ? LogLevel::error : LogLevel::info;
  record.node = node;
  record.operation = "health";
  record.text = to_string(health);
  if (down && !failure.empty()) record.text.append(": ").append(failure);
  return record;
}

LogRecord record_of_certificate(std::string_view node, std::string text) {
  LogRecord record;
  record.level = LogLevel::warning;
  record.node = node;
  record.operation = "certificate";
  record.text = std::move(text);
  return record;
}

}  // namespace sheaf::node
