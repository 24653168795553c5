#include "client/memcached_sessions.h"

#include <algorithm>

#include "protocol/memcached/binary_session.h"
#include "protocol/memcached/meta_session.h"

namespace sheaf::client {
namespace {

using protocol::CloseReason;
using protocol::Event;
using protocol::memcached::BinarySession;
using protocol::memcached::MemcachedSession;
using protocol::memcached::meta_since;
using protocol::memcached::MetaSession;
using protocol::memcached::SessionOptions;
using Choice = MemcachedSessions::Choice;

SessionOptions session_options(const ClusterConfig& config) {
  SessionOptions options;
  options.user = config.user;
  options.password = config.password;
  options.keep_alive = config.keep_alive;
  options.handshake_limit =
      std::max(config.connect_timeout, config.timeout);  // sockets are stricter
  options.value_limit = config.value_limit;
  options.item_size = config.item_size;
  return options;
}

std::unique_ptr<MemcachedSession> make_session(bool binary, const ClusterConfig& config) {
  if (binary) return std::make_unique<BinarySession>(session_options(config));
  return std::make_unique<MetaSession>(session_options(config));
}

// A session that may turn out to speak the wrong protocol: it then ends with the advice to try the
// other way, once for both ways.
class ChoosingSession final : public protocol::Session {
 public:
  ChoosingSession(std::unique_ptr<MemcachedSession> session, bool binary, Choice& choice)
      : session_(std::move(session)), binary_(binary), choice_(choice) {}

  bool poll_event(Event& event) override {
    if (!session_->poll_event(event)) return false;
    if (event.kind == Event::Kind::ready) choice_.proven = was_ready_ = true;
    if (event.kind == Event::Kind::closed && !was_ready_) judge();
    return true;
  }
  const CloseReason& close_reason() const override {
    return judged_ ? reason_ : session_->close_reason();
  }

  std::span<std::byte> input_space() override { return session_->input_space(); }
  void on_input(std::size_t size, Now now) override { session_->on_input(size, now); }
  void on_output(std::size_t size, Now now) override { session_->on_output(size, now); }
  void on_eof(Now now) override { session_->on_eof(now); }
  void on_deadline(Now now) override { session_->on_deadline(now); }
  void start(Now now) override { session_->start(now); }
  std::expected<protocol::Ticket, protocol::LocalError> submit(const protocol::Operation& operation,
                                                               Now now) override {
    return session_->submit(operation, now);
  }
  protocol::Sent cancel(protocol::Ticket ticket, Now now) override {
    return session_->cancel(ticket, now);
  }
  void close(Now now) override { session_->close(now); }
  std::span<const Bytes> poll_output() override { return session_->poll_output(); }
  std::optional<Deadline> poll_deadline() const override { return session_->poll_deadline(); }
  std::size_t room() const override { return session_->room(); }
  std::size_t in_flight() const override { return session_->in_flight(); }
  bool ready() const override { return session_->ready(); }
  bool clean() const override { return session_->clean(); }
  bool closed() const override { return session_->closed(); }
  const protocol::Counters& counters() const override { return session_->counters(); }

 private:
  // Closed without having been ready. A server that has told its version understood us, and what it
  // said then stands; unless it is too old for meta.
  void judge() {
    reason_ = session_->close_reason();
    judged_ = true;
    if (reason_.reason == Reason::closed || reason_.reason == Reason::timed_out) return;
    const auto& version = session_->server_version();
    const bool too_old = !binary_ && version && *version < meta_since;
    if (version && !too_old) return;
    const bool first = !choice_.other;
    choice_.other = first;  // behind the second way comes the first again
    reason_.other_way = first || choice_.proven;
    choice_.proven = false;
  }

  std::unique_ptr<MemcachedSession> session_;
  bool binary_;
  Choice& choice_;
  bool was_ready_ = false;
  bool judged_ = false;
  CloseReason reason_;
};

}  // namespace

MemcachedSessions::MemcachedSessions(const ClusterConfig& config) : config_(config) {
  for (std::size_t i = 0; i < config.nodes.size(); ++i) {
    choices_.push_back(std::make_unique<Choice>());
  }
}

MemcachedSessions::~MemcachedSessions() = default;

std::unique_ptr<protocol::Session> MemcachedSessions::make(unsigned node, Now) {
  if (config_.protocol != MemcachedProtocol::automatic) {
    return make_session(config_.protocol == MemcachedProtocol::binary, config_);
  }
  Choice& choice = *choices_[node];
  const bool binary_first = !config_.user.empty();
  const bool binary = binary_first != choice.other;
  return std::make_unique<ChoosingSession>(make_session(binary, config_), binary, choice);
}

}  // namespace sheaf::client
