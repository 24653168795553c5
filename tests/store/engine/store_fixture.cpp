#include "tests/store/engine/store_fixture.h"

#include "protocol/statestore/clock.h"

namespace sheaf::store {

std::string payload_of(const std::vector<std::string>& items) {
  std::string out = "*" + std::to_string(items.size()) + "\r\n";
  for (const std::string& item : items) {
    out += "$" + std::to_string(item.size()) + "\r\n" + item + "\r\n";
  }
  return out;
}

template <class Execute>
Got Store::send(const Ask& ask, Execute execute) {
  const std::string correlation =
      ask.correlation.value_or("correlation " + std::to_string(++requests_));
  const std::string timestamp =
      ask.timestamp.value_or(std::to_string(now.wall.count()) + ":0:CLIENT");
  Request request;
  request.client = ask.client;
  request.client_id = ask.client_id;
  request.qos = ask.qos;
  request.response_topic = ask.response_topic;
  if (!ask.without_correlation) request.correlation = correlation;
  if (!ask.without_timestamp) request.timestamp = timestamp;
  request.fencing_token = ask.fence;
  request.persist = ask.persist;
  request.payload = ask.payload;
  request.gate = ask.gate;
  request.account = ask.account;
  request.quota = ask.quota;
  const Answer answer = execute(request);
  return {answer.verdict, std::string(answer.payload), std::string(answer.timestamp)};
}

Got Store::send(const Ask& ask) {
  return send(ask, [this](const Request& request) { return engine.execute(request, now); });
}

Got Store::inspect(const Ask& ask) {
  return send(ask, [this](const Request& request) { return engine.inspect(request, {}, now); });
}

Got Store::ask_as(ClientHandle client, const std::vector<std::string>& items) {
  Ask request{.payload = payload_of(items)};
  request.client = client;
  request.client_id = "client-id" + std::to_string(client);
  return send(request);
}

void Store::pass(milliseconds time) {
  now.mono += time;
  now.wall += time;
}

std::vector<Notification> Store::notifications() {
  std::vector<Notification> all;
  Notification notification;
  while (engine.poll_notification(notification)) all.push_back(notification);
  return all;
}

std::string stamp(milliseconds wall, std::uint64_t counter, std::string_view node) {
  const protocol::statestore::Timestamp timestamp{static_cast<std::uint64_t>(wall.count()), counter,
                                                  node};
  return std::string(protocol::statestore::TimestampText(timestamp).view());
}

std::string error_line(std::string_view text) { return "-ERR " + std::string(text) + "\r\n"; }

}  // namespace sheaf::store
