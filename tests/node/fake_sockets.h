#pragma once

// Connections whose every step a test decides: a loop that turns when the test says so, dials that
// succeed or fail, and sessions that answer or end. A dial and an answer take test::latency unless
// the test lets time pass.
//
// Thread rule: one thread.

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "node/node_options.h"
#include "protocol/session_factory.h"
#include "socket/seam.h"
#include "socket/timer_heap.h"
#include "tests/support/latency.h"

namespace sheaf::node {

class FakeLoop final : public socket::Loop {
 public:
  Now now() const override { return now_; }
  // Lets time pass, then runs deferred work, fires timers, and runs deferred work again.
  void turn(Deadline until) override {
    const Deadline before = std::exchange(now_.mono, std::max(now_.mono, until));
    now_.wall += std::chrono::floor<std::chrono::milliseconds>(now_.mono - before);
    run_deferred();
    timers_.fire(now_);
    run_deferred();
  }
  void pass(std::chrono::nanoseconds time) {
    const Deadline end = now_.mono + time;
    while (timers_.earliest() <= end) turn(timers_.earliest());
    turn(end);
  }
  void settle() { turn(now_.mono); }
  void wake() noexcept override {}
  std::unique_ptr<socket::Timer> timer(socket::TimerSink& sink) override {
    return timers_.make(sink);
  }
  void defer(socket::Deferred& work) override {
    if (std::ranges::find(deferred_, &work) == deferred_.end()) deferred_.push_back(&work);
  }
  void forget(socket::Deferred& work) noexcept override { std::erase(deferred_, &work); }
  std::chrono::nanoseconds lateness() const override { return std::chrono::nanoseconds(0); }

 private:
  void run_deferred() {
    while (!deferred_.empty()) {
      socket::Deferred* const work = deferred_.front();
      deferred_.pop_front();
      work->run_deferred(now_);
    }
  }

  Now now_{std::chrono::seconds(100), std::chrono::milliseconds(0)};
  socket::TimerHeap timers_;
  std::deque<socket::Deferred*> deferred_;
};

// The client's end of a connection: its session, which is in `all` while it lives.
struct FakeSession final : protocol::Session {
  FakeSession(std::vector<FakeSession*>& all, unsigned its_node, protocol::SessionUse its_use)
      : node(its_node), use(its_use), all_(all) {
    all_.push_back(this);
  }
  ~FakeSession() override { std::erase(all_, this); }

  const unsigned node;
  const protocol::SessionUse use;
  // The test decides these.
  std::size_t capacity = 10;
  bool dirty = false;
  bool refuses = false;  // refuses every submit
  bool renews = true;    // continues with another login
  std::string id;        // the server's, in its cluster
  std::string name;      // own_name()
  unsigned renewals = 0;
  void become_ready() {
    ready_ = true;
    push(protocol::Event::Kind::ready, {});
  }
  // Answers the oldest request.
  void answer(protocol::Status status = protocol::Status::done) {
    protocol::Reply reply;
    reply.status = status;
    answer(reply);
  }
  // The reply's views must live until it is delivered.
  void answer(const protocol::Reply& reply) {
    push(protocol::Event::Kind::reply, tickets_.front()).reply = reply;
    tickets_.pop_front();
    waiting_.pop_front();
  }
  void end_taken_over() {
    end(Reason::connection_lost, "the server ended the connection: session taken over");
    reason_.taken_over = true;
  }
  void end(Reason reason, std::string text, bool permanent = false) {
    waiting_.clear();
    for (const protocol::Ticket ticket : std::exchange(tickets_, {})) {
      push(protocol::Event::Kind::failed, ticket).sent = protocol::Sent::maybe;
    }
    reason_.reason = reason;
    reason_.text = std::move(text);
    reason_.permanent = permanent;
    closed_ = true;
  }
  // The server is no longer what it was.
  void outdate() { push(protocol::Event::Kind::outdated, {}); }
  // The server refuses the login, and another login is available by now.
  void end_for_another_login() {
    end(Reason::authentication, "WRONGPASS");
    reason_.renegotiates = true;
  }
  socket::StreamSink* stream = nullptr;
  test::AnswerTime time;

  std::string_view own_name() const override { return name; }
  std::span<std::byte> input_space() override { return {}; }
  void on_input(std::size_t, Now) override {}
  void on_output(std::size_t size, Now) override { output_.erase(0, size); }
  void on_eof(Now) override {
    if (!closed_) end(Reason::connection_lost, "the stream ended");
  }
  void on_deadline(Now) override {}
  void start(Now) override {}
  std::expected<protocol::Ticket, protocol::LocalError> submit(const protocol::Operation& operation,
                                                               Now now) override {
    if (refuses) {
      return std::unexpected(
          protocol::LocalError{Outcome::unsupported, Reason::bad_argument, "no such thing"});
    }
    time.on_request(now.mono);
    verbs.push_back(operation.verb);
    keys.emplace_back(operation.key);
    values.emplace_back(operation.value);
    asking.push_back(operation.asking);
    output_ += 'x';
    tickets_.push_back({slot_++, 1});
    waiting_.push_back({std::string(operation.key), std::string(operation.value)});
    return tickets_.back();
  }
  protocol::Sent cancel(protocol::Ticket ticket, Now) override {
    const auto at = std::ranges::find(tickets_, ticket);
    if (at == tickets_.end()) return protocol::Sent::maybe;  // its answer is not delivered yet
    waiting_.erase(waiting_.begin() + (at - tickets_.begin()));
    tickets_.erase(at);
    return protocol::Sent::maybe;
  }
  bool renew_login(Now) override {
    ++renewals;
    return renews;
  }
  void close(Now) override {
    if (!closed_) end(Reason::closed, "closed");
  }
  std::span<const Bytes> poll_output() override {
    piece_ = as_bytes(output_);
    return {&piece_, output_.empty() ? 0u : 1u};
  }
  bool poll_event(protocol::Event& event) override {
    if (events_.empty()) return false;
    event = events_.front();
    events_.pop_front();
    return true;
  }
  std::optional<Deadline> poll_deadline() const override { return std::nullopt; }
  std::size_t room() const override {
    return ready_ && !closed_ ? capacity - std::min(capacity, tickets_.size()) : 0;
  }
  std::size_t in_flight() const override { return tickets_.size(); }
  bool ready() const override { return ready_ && !closed_; }
  bool clean() const override { return Session::clean() && !dirty; }
  bool closed() const override { return closed_; }
  const protocol::CloseReason& close_reason() const override { return reason_; }
  const protocol::Counters& counters() const override { return counters_; }
  protocol::Peer peer() const override { return {.id = id}; }

  struct Asked {
    std::string key;
    std::string value;
  };
  // The oldest request that has no answer.
  const Asked& oldest() const { return waiting_.front(); }

  // For each submitted request.
  std::vector<protocol::Verb> verbs;
  std::vector<std::string> keys;
  std::vector<std::string> values;
  std::vector<bool> asking;

 private:
  protocol::Event& push(protocol::Event::Kind kind, protocol::Ticket ticket) {
    protocol::Event& event = events_.emplace_back();
    event.kind = kind;
    event.ticket = ticket;
    return event;
  }

  std::vector<FakeSession*>& all_;
  std::deque<protocol::Event> events_;
  std::deque<protocol::Ticket> tickets_;
  std::deque<Asked> waiting_;  // as tickets_
  std::uint32_t slot_ = 0;
  std::string output_;  // not yet written, a byte for each request
  Bytes piece_;
  bool ready_ = false;
  bool closed_ = false;
  protocol::CloseReason reason_;
  protocol::Counters counters_;
};

class FakeNetwork final : public socket::Dialer, public protocol::SessionFactory {
 public:
  explicit FakeNetwork(FakeLoop& loop) : loop_(loop) {}

  std::size_t dials = 0;            // since the start
  std::size_t useless = 0;          // connections whose streams were reported as that
  std::vector<std::size_t> writes;  // the number of requests in each
  // For connections made from now on; on the wall clock.
  std::optional<std::chrono::milliseconds> server_certificate_end{};
  std::optional<std::chrono::milliseconds> own_certificate_end{};
  std::size_t dialing() const { return dials_.size(); }
  // The living sessions, oldest first: one for each connection.
  std::size_t sessions() const { return sessions_.size(); }
  FakeSession& session(std::size_t index = 0) { return *sessions_.at(index); }

  // The oldest dial succeeds and its session is ready at once.
  void accept() {
    connect([](FakeSession& session) { session.become_ready(); });
  }
  // The dial succeeds, and the server refuses the password.
  void refuse_log_in() {
    connect([](FakeSession& session) { session.end(Reason::authentication, "WRONGPASS", true); });
  }
  void refuse_for_another_login() {
    connect([](FakeSession& session) { session.end_for_another_login(); });
  }
  void refuse() { fail({"connection refused"}); }
  // The dial reaches the peer, which ends the connection.
  void cut_handshake() {
    fail({.text = "TLS: the server ended the connection", .not_understood = true});
  }
  // Call after changing a session.
  void deliver(FakeSession& session) {
    pass(session.time);
    session.stream->on_writable(loop_.now());
    loop_.settle();
  }

  std::unique_ptr<socket::Dial> dial(const socket::Endpoint&, Deadline, socket::DialSink& dial_sink,
                                     socket::StreamSink& stream_sink) override {
    ++dials;
    return std::make_unique<FakeDial>(*this, dial_sink, stream_sink);
  }
  std::optional<std::chrono::milliseconds> certificate_end() override {
    return own_certificate_end;
  }
  std::unique_ptr<protocol::Session> make(unsigned node, protocol::SessionUse use, Now) override {
    return std::make_unique<FakeSession>(sessions_, node, use);
  }

 private:
  void pass(const test::AnswerTime& time) {
    const Deadline now = loop_.now().mono;
    if (time.of_answer(now) > now) loop_.pass(time.of_answer(now) - now);
  }
  void fail(socket::DialFailure why) {
    pass(dials_.front()->time);
    FakeDial& dial = *dials_.front();
    dials_.erase(dials_.begin());
    dial.dial_sink.on_dial_failed(std::move(why), loop_.now());
    loop_.settle();
  }
  template <class Then>
  void connect(const Then& then) {
    pass(dials_.front()->time);
    FakeDial& dial = *dials_.front();
    FakeSession& session = *std::ranges::find_if(
        sessions_, [](const FakeSession* s) { return s->stream == nullptr; })[0];
    session.stream = &dial.stream_sink;
    then(session);
    dials_.erase(dials_.begin());
    dial.dial_sink.on_connected(std::make_unique<FakeStream>(*this), loop_.now());
    loop_.settle();
  }
  struct FakeStream final : socket::Stream {
    explicit FakeStream(FakeNetwork& its_network)
        : network(its_network), end(its_network.server_certificate_end) {}
    void found_useless() override { ++network.useless; }
    socket::Encryption encryption() const override { return {.name = {}, .certificate_end = end}; }
    std::size_t write(std::span<const Bytes> parts) override {
      std::size_t size = 0;
      for (const Bytes part : parts) size += part.size();
      network.writes.push_back(size);
      return size;
    }
    FakeNetwork& network;
    const std::optional<std::chrono::milliseconds> end;
  };
  struct FakeDial final : socket::Dial {
    FakeDial(FakeNetwork& its_network, socket::DialSink& its_dial_sink,
             socket::StreamSink& its_stream_sink)
        : network(its_network), dial_sink(its_dial_sink), stream_sink(its_stream_sink) {
      network.dials_.push_back(this);
      time.on_request(network.loop_.now().mono);
    }
    ~FakeDial() override { std::erase(network.dials_, this); }
    FakeNetwork& network;
    socket::DialSink& dial_sink;
    socket::StreamSink& stream_sink;
    test::AnswerTime time;
  };

  FakeLoop& loop_;
  std::vector<FakeSession*> sessions_;
  std::vector<FakeDial*> dials_;
};

}  // namespace sheaf::node
