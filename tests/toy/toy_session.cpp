// Pure: no socket, clock, entropy, thread or callback.

#include "tests/toy/toy_session.h"

#include <algorithm>
#include <string>

#include "protocol/ordered_requests.h"
#include "protocol/session_base.h"

namespace sheaf::toy {
namespace {

using protocol::Condition;
using protocol::Event;
using protocol::LocalError;
using protocol::Operation;
using protocol::OrderedRequest;
using protocol::OrderedRequests;
using protocol::OutputQueue;
using protocol::Reply;
using protocol::Status;
using protocol::Step;
using protocol::Ticket;
using protocol::Verb;

constexpr std::size_t most_requests = 256;
constexpr std::size_t longest_key = 100;

class ToySession final : public protocol::SessionBase<OrderedRequests<>> {
 public:
  explicit ToySession(const protocol::LifeOptions& options) : SessionBase(options) {}

 private:
  void greet() override { put("hello", {}); }
  OutputQueue::FrameId write_no_op() override {
    requests().reserve(1);
    return requests().add(false).frame = put("ping", {});
  }
  std::size_t free_slots() const override {
    return most_requests - std::min(most_requests, requests().size());
  }

  std::expected<Ticket, LocalError> write(const Operation& operation, Now) override {
    const bool only_if = operation.condition != Condition::none;
    if (only_if || !operation.fence.empty() || operation.flags != 0 || operation.ttl.count() != 0) {
      return std::unexpected(protocol::unsupported("toy:// has keys and values only"));
    }
    const bool blank = operation.key.find_first_of(" \n") != operation.key.npos;
    if (blank || operation.value.find('\n') != operation.value.npos) {
      return std::unexpected(protocol::invalid("toy:// takes no blank in keys and no line end"));
    }
    if (operation.key.size() > longest_key) {
      return std::unexpected(
          protocol::too_large("the key", operation.key.size(), "the limit", longest_key));
    }
    switch (operation.verb) {
      case Verb::get:
        return add("get", operation.key);
      case Verb::set:
        return add("set", operation.key, operation.value);
      case Verb::remove:
        return add("remove", operation.key);
      case Verb::probe:
        return add("ping", {});
      default:
        return std::unexpected(protocol::unsupported(
            "toy:// does not know " + std::string(protocol::to_string(operation.verb))));
    }
  }

  Ticket add(std::string_view verb, std::string_view key,
             std::optional<std::string_view> value = {}) {
    requests().reserve(1);
    const OutputQueue::FrameId frame = put(verb, key, value);
    OrderedRequest& request = requests().add(true);
    request.frame = frame;
    return request.ticket;
  }
  OutputQueue::FrameId put(std::string_view verb, std::string_view key,
                           std::optional<std::string_view> value = {}) {
    const std::size_t value_size = value ? value->size() : 0;
    life().output().reserve(verb.size() + key.size() + 3, value_size);
    std::string& out = life().output().buffer();
    out.append(verb);
    if (!key.empty()) out.append(" ").append(key);
    if (value) {
      out.append(" ");
      life().output().put_value(*value);
    }
    life().output().buffer().append("\n");
    return life().output().end();
  }

  Step next_step(Event& event) override {
    const std::string_view data = life().input().data();
    const std::size_t end = data.find('\n');
    if (end == data.npos) return Step::need_input;
    life().input().consumed(end + 1);
    const std::string_view line = data.substr(0, end);
    if (!ready()) {
      return line == "welcome" ? life().become_ready(event) : life().broken("no welcome");
    }
    OrderedRequest* const request = requests().due();
    if (request == nullptr || !life().has_left(request->frame)) {
      return life().broken("a reply to nothing");
    }
    event = Event{};
    event.kind = Event::Kind::reply;
    event.ticket = request->ticket;
    const bool wanted = request->state == OrderedRequest::State::waiting;
    requests().finish(*request);
    if (!read_reply(line, event.reply)) return life().broken("no reply of toy://");
    return wanted ? Step::event : Step::again;
  }

  static bool read_reply(std::string_view line, Reply& reply) {
    if (line == "absent") reply.status = Status::absent;
    if (line.starts_with("value ")) {
      reply.value = line.substr(std::string_view("value ").size());
      return true;
    }
    return line == "absent" || line == "stored" || line == "removed" || line == "pong";
  }
};

class ToySessions final : public protocol::SessionFactory {
 public:
  explicit ToySessions(const ClusterConfig& config) {
    options_.input_limit = config.value_limit + 100;
    options_.handshake_limit = std::max(config.connect_timeout, config.timeout);
    options_.keep_alive = config.keep_alive;
    options_.answer_limit = config.keep_alive;
    options_.greeting = "hello";
    options_.no_op = "ping";
  }
  std::unique_ptr<protocol::Session> make(unsigned, protocol::SessionUse, Now) override {
    return std::make_unique<ToySession>(options_);
  }

 private:
  protocol::LifeOptions options_;
};

}  // namespace

std::unique_ptr<protocol::SessionFactory> make_sessions(const ClusterConfig& config, const Seed&) {
  return std::make_unique<ToySessions>(config);
}

}  // namespace sheaf::toy
