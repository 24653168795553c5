#include "client/runtime/memcached_sessions.h"

#include <algorithm>
#include <utility>

#include "protocol/memcached/binary_session.h"
#include "protocol/memcached/meta_session.h"
#include "protocol/session_wrapper.h"

namespace sheaf::client::runtime {
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
  options.max_in_flight = config.max_in_flight;
  return options;
}

std::unique_ptr<MemcachedSession> make_session(bool binary, const SessionOptions& options) {
  if (binary) return std::make_unique<BinarySession>(options);
  return std::make_unique<MetaSession>(options);
}

// A session whose end is looked at before it is told.
class LookedAt : public protocol::SessionWrapper<MemcachedSession> {
 public:
  LookedAt(std::unique_ptr<MemcachedSession> session, Choice& choice)
      : SessionWrapper(std::move(session)), choice_(choice) {}

  const CloseReason& close_reason() const final {
    return judged_ ? reason_ : session().close_reason();
  }

 protected:
  // The end as it will be told.
  CloseReason& judge() {
    reason_ = session().close_reason();
    judged_ = true;
    return reason_;
  }
  Choice& choice() { return choice_; }

 private:
  Choice& choice_;
  bool judged_ = false;
  CloseReason reason_;
};

// A session that may turn out to speak the wrong protocol: it then ends with the advice to try the
// other way, once for both ways.
class ChoosingSession final : public LookedAt {
 public:
  ChoosingSession(bool binary, const SessionOptions& options, Choice& choice)
      : LookedAt(make_session(binary, options), choice), binary_(binary) {}

  bool poll_event(Event& event) override {
    if (!session().poll_event(event)) return false;
    if (event.kind == Event::Kind::ready) choice().proven = was_ready_ = true;
    if (event.kind == Event::Kind::closed && !was_ready_) choose();
    return true;
  }

 private:
  // Closed without having been ready. A server that has told its version understood us, and what it
  // said then stands; unless it is too old for meta.
  void choose() {
    CloseReason& reason = judge();
    if (reason.reason == Reason::closed || reason.reason == Reason::timed_out) return;
    if (reason.permanent && reason.reason == Reason::authentication) return;
    const auto& version = session().server_version();
    const bool too_old = !binary_ && version && *version < meta_since;
    if (version && !too_old) return;
    choice().log_in = Choice::LogIn::unknown;
    const bool first = !choice().other;
    choice().other = first;  // behind the second way comes the first again
    reason.other_way = first || choice().proven;
    choice().proven = false;
  }

  bool binary_;
  bool was_ready_ = false;
};

// Finds out by a question that every server answers in its own way how it takes a log-in, and ends.
class FindingSession final : public LookedAt {
 public:
  FindingSession(SessionOptions options, Choice& choice)
      : LookedAt(make_session(true, only_version(std::move(options))), choice) {}

  bool poll_event(Event& event) override {
    if (!session().poll_event(event)) return false;
    if (event.kind == Event::Kind::ready) {
      // The session has no more to say: what ends it is our own wish.
      found(Choice::LogIn::sasl);
      event = Event{};
      event.kind = Event::Kind::closed;
      return true;
    }
    using protocol::memcached::Dialect;
    const Dialect dialect = session().dialect();
    if (event.kind == Event::Kind::closed && !over_ &&
        (dialect == Dialect::text || dialect == Dialect::text_and_log_in)) {
      found(Choice::LogIn::text);
    }
    return true;
  }
  bool closed() const override { return over_ || LookedAt::closed(); }
  bool ready() const override { return false; }

 private:
  static SessionOptions only_version(SessionOptions options) {
    options.only_version = true;
    return options;
  }
  void found(Choice::LogIn log_in) {
    over_ = true;
    choice().log_in = log_in;
    CloseReason& reason = judge();
    reason.reason = Reason::connect_failed;
    reason.text = "it was found out which log-in the server takes";
    reason.permanent = false;
    reason.other_way = true;
  }
  bool over_ = false;
};

}  // namespace

MemcachedSessions::MemcachedSessions(const ClusterConfig& config) : config_(config) {
  for (std::size_t i = 0; i < config.nodes.size(); ++i) {
    choices_.push_back(std::make_unique<Choice>());
  }
}

MemcachedSessions::~MemcachedSessions() = default;

std::unique_ptr<node::SessionFactory> MemcachedSessions::another() const {
  return std::make_unique<MemcachedSessions>(config_);
}

bool MemcachedSessions::lists(std::string_view key) const noexcept {
  return protocol::memcached::is_listable_key(key);
}

std::unique_ptr<protocol::Session> MemcachedSessions::make(unsigned node, Now) {
  SessionOptions options = session_options(config_);
  if (config_.protocol != MemcachedProtocol::automatic) {
    return make_session(config_.protocol == MemcachedProtocol::binary, options);
  }
  Choice& choice = *choices_[node];
  // To the wrong protocol a server may say nothing at all: then there is time for the other way.
  if (!choice.proven) options.handshake_limit = config_.connect_timeout * 3 / 4;
  if (config_.user.empty()) {
    return std::make_unique<ChoosingSession>(choice.other, options, choice);
  }
  if (choice.log_in == Choice::LogIn::unknown) {
    return std::make_unique<FindingSession>(options, choice);
  }
  const bool binary = choice.log_in == Choice::LogIn::sasl;
  return std::make_unique<ChoosingSession>(binary, options, choice);
}

}  // namespace sheaf::client::runtime
