// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/statestore/session.h"

#include <algorithm>
#include <new>
#include <utility>

#include "base/checks.h"
#include "protocol/mqtt5/wire.h"
#include "protocol/statestore/topics.h"

namespace sheaf::protocol::statestore {
namespace {

using namespace std::chrono_literals;
using mqtt5::PropertyId;
using mqtt5::PropertyWriter;

// The most that section 2.1.4 lets a packet have. Announced in full: a broker drops what is above
// the announced limit without a word, which would look like a time-out.
constexpr std::uint32_t kMaxPacket = mqtt5::kMaxVarint + 5;

// How long PUBACKs wait for a request to travel with, while no reply is outstanding.
constexpr Deadline kAckDelay = 20ms;
constexpr std::size_t kAckSize = 4;                 // of DISCONNECT too
constexpr const char* kNoMemory = "out of memory";  // short enough to need none

constexpr std::uint16_t kReceiveMaximum = 65'535;

std::uint16_t whole_seconds(std::chrono::milliseconds duration) noexcept {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(duration).count();
  return static_cast<std::uint16_t>(std::clamp<std::int64_t>(seconds, 1, 65'535));
}

}  // namespace

StoreSession::StoreSession(StoreSessionOptions options, HybridClock& clock)
    : options_(std::move(options)),
      clock_(clock),
      random_(options_.seed),
      server_packet_limit_(kMaxPacket),
      input_(static_cast<std::size_t>(options_.value_limit) + kMaxHead),
      requests_(options_.max_in_flight),
      ping_interval_(options_.keep_alive) {
  SHEAF_CHECK(!options_.client_id.empty());
}

void StoreSession::start(Now now) {
  SHEAF_CHECK(state_ == State::idle);
  state_ = State::connecting;
  handshake_due_ = now.mono + options_.handshake_limit;
  last_sent_ = last_received_ = now.mono;
  now_ = now;
  if (options_.client_id.size() > kMaxClientId || options_.user.size() > mqtt5::kMaxString ||
      options_.password.size() > mqtt5::kMaxString || !mqtt5::is_mqtt_string(options_.client_id) ||
      !mqtt5::is_mqtt_string(options_.user)) {
    return end(
        {Reason::bad_configuration,
         "user name, password or client ID is no MQTT string (UTF-8, at most 65535 bytes)", true},
        std::nullopt);
  }
  guarded([this] { send_connect(); });
}

template <class Action>
void StoreSession::guarded(const Action& action) {
  try {
    action();
  } catch (const std::bad_alloc&) {
    end({Reason::out_of_memory, kNoMemory, false}, std::nullopt);
  }
}

void StoreSession::send_connect() {
  std::string raw;
  ByteWriter to_raw(raw);
  PropertyWriter properties(to_raw);
  properties.u16(PropertyId::receive_maximum, kReceiveMaximum);
  properties.u32(PropertyId::maximum_packet_size, kMaxPacket);

  mqtt5::Connect connect;
  connect.clean_start = true;  // and no session expiry: the session ends with the connection
  connect.keep_alive = whole_seconds(options_.keep_alive);
  connect.properties.raw = raw;
  connect.client_id = options_.client_id;
  if (!options_.user.empty()) connect.user = options_.user;
  if (!options_.password.empty()) connect.password = options_.password;
  ByteWriter out(output_.buffer());
  connect.encode(out);
  output_.end();
}

// After CONNACK, because the server may have assigned another client ID.
void StoreSession::send_subscribe() {
  const std::string& id = options_.client_id;
  response_topic_ = response_topic(ResponseTopicForm::rust, id);
  max_key_size_ = max_watched_key_size(id.size());
  clock_key_ = "sheaf/clock/" + id;

  fixed_properties_.clear();
  ByteWriter to_fixed(fixed_properties_);
  PropertyWriter fixed(to_fixed);
  fixed.byte(PropertyId::payload_format, 0);
  fixed.text(PropertyId::content_type, content_type);
  fixed.text(PropertyId::response_topic, response_topic_);
  fixed.user(property::protocol_version, protocol_version);
  fixed.user(property::source_id, id);
  fixed.user(property::partition, id);
  fixed.user(property::high_priority, {});

  std::string entries;
  ByteWriter to_entries(entries);
  mqtt5::Subscription{response_topic_, 1, false, false, 0}.encode(to_entries);
  const std::string notifications = notification_filter(id);
  mqtt5::Subscription{notifications, 1, false, false, 0}.encode(to_entries);
  mqtt5::Subscribe subscribe;
  subscribe.packet_id = kSubscribeId;
  subscribe.entries = mqtt5::EntryList<mqtt5::Subscription>(entries);
  ByteWriter out(output_.buffer());
  subscribe.encode(out);
  output_.end();
}

void StoreSession::send_pingreq(Now now) {
  ByteWriter out(output_.buffer());
  mqtt5::Pingreq{}.encode(out);
  ping_ = output_.end();
  ping_due_ = now.mono + options_.answer_limit;
}

std::span<std::byte> StoreSession::input_space() {
  if (closed()) return {};
  const std::span<std::byte> space = input_.space();
  if (space.empty() && input_.capacity() < input_.limit()) {
    end({Reason::out_of_memory, kNoMemory, false}, std::nullopt);
  }
  return space;
}

void StoreSession::on_input(std::size_t size, Now now) {
  if (closed()) return;
  input_.added(size);
  now_ = now;
  last_received_ = now.mono;
  ping_.reset();  // any byte shows that the server lives
}

void StoreSession::on_output(std::size_t size, Now now) {
  // The answer is owed from when the PINGREQ has left.
  if (ping_ && output_.progress(*ping_) != OutputQueue::Progress::written) {
    ping_due_ = now.mono + options_.answer_limit;
  }
  output_.taken(size);
  forget_written_acks();
  last_sent_ = now.mono;
}

void StoreSession::on_eof(Now) {
  const bool known = state_ == State::subscribing || state_ == State::ready;
  guarded([&] {
    end({known ? Reason::connection_lost : Reason::connect_failed,
         known ? "the server ended the connection"
               : "the server ended the connection before it answered the log-in",
         false},
        std::nullopt);
  });
  output_.clear();
}

void StoreSession::close(Now) {
  guarded([this] {
    end({Reason::closed, "closed by this client", false}, mqtt5::ReasonCode::success);
  });
}

Deadline StoreSession::next_ping() const noexcept {
  return ping_ ? ping_due_ : std::min(last_sent_, last_received_) + ping_interval_;
}

std::optional<Deadline> StoreSession::poll_deadline() const {
  switch (state_) {
    case State::idle:
    case State::closed:
      return std::nullopt;
    case State::connecting:
    case State::subscribing:
      return handshake_due_;
    case State::ready:
      break;
  }
  return acks_.empty() ? next_ping() : std::min(next_ping(), acks_due_);
}

void StoreSession::on_deadline(Now now) {
  const auto due = poll_deadline();
  if (due && now.mono >= *due) guarded([&] { on_due(now); });
}

void StoreSession::on_due(Now now) {
  if (state_ != State::ready) {
    return end({Reason::connect_failed, "the server did not answer the log-in in time", false},
               std::nullopt);
  }
  if (!acks_.empty() && now.mono >= acks_due_) flush_acks();
  if (now.mono < next_ping()) return;
  if (ping_) {
    return end({Reason::connection_lost, "the server did not answer a PINGREQ in time", false},
               std::nullopt);
  }
  send_pingreq(now);
}

std::size_t StoreSession::room() const {
  if (state_ != State::ready) return 0;
  const std::size_t window =
      server_window_ > requests_.unacked() ? server_window_ - requests_.unacked() : 0;
  return std::min(requests_.room(), window);
}

Sent StoreSession::cancel(Ticket ticket, Now) {
  PendingRequest* const request = requests_.find(ticket);
  if (request == nullptr) return Sent::maybe;
  const OutputQueue::FrameId frame = request->frame;
  const Sent sent = request->sent;
  requests_.answered(*request);
  if (closed()) return sent;
  const auto progress = output_.progress(frame);
  if (progress == OutputQueue::Progress::waiting) {
    output_.erase(frame);
    requests_.acknowledged(*request);  // its packet identifier was never seen
    return Sent::no;
  }
  if (output_.needs_borrowed(frame)) {
    guarded([this] {
      end({Reason::connection_lost, "a request was given up while its value was being sent", false},
          std::nullopt);
    });
    return Sent::no;
  }
  return Sent::maybe;
}

bool StoreSession::holds_acks() const noexcept {
  return state_ == State::ready && requests_.waiting() == 0 && output_.empty() &&
         acks_.size() < options_.held_acks * kAckSize;
}

// Without memory they wait for the next time.
void StoreSession::flush_acks() {
  if (acks_.empty()) return;
  try {
    output_.reserve(acks_.size());
  } catch (const std::bad_alloc&) {
    return;
  }
  output_.buffer().append(acks_);
  AckMark& mark = ack_marks_[ack_marks_[0].count > 0 ? 1 : 0];
  mark = {output_.end(), mark.count + acks_.size() / kAckSize};
  acks_.clear();
}

void StoreSession::forget_written_acks() noexcept {
  for (std::size_t i = 0; i < ack_marks_.size(); ++i) {
    if (ack_marks_[0].count == 0) return;
    if (output_.progress(ack_marks_[0].frame) != OutputQueue::Progress::written) return;
    ack_marks_[0] = std::exchange(ack_marks_[1], {});
  }
}

std::span<const Bytes> StoreSession::poll_output() {
  if (!acks_.empty() && !holds_acks()) flush_acks();
  return output_.parts();
}

// Every request that is still waiting fails from here on. A frame that is half written cannot be
// followed by a DISCONNECT; what has not begun never leaves.
void StoreSession::end(CloseReason reason, std::optional<mqtt5::ReasonCode> disconnect) {
  if (closed()) return;
  const bool greeted = state_ == State::subscribing || state_ == State::ready;
  state_ = State::closed;
  close_reason_ = std::move(reason);
  for (auto* request = requests_.next_waiting(0); request != nullptr;
       request = requests_.next_waiting(request->slot + 1)) {
    const bool whole = output_.progress(request->frame) == OutputQueue::Progress::written;
    request->sent = whole ? Sent::maybe : Sent::no;
  }
  const bool can_speak = greeted && disconnect && !output_.half_written();
  output_.clear();
  acks_.clear();
  if (!can_speak) return;
  try {
    output_.reserve(kAckSize);
  } catch (const std::bad_alloc&) {
    return;
  }
  ByteWriter out(output_.buffer());
  mqtt5::Disconnect{*disconnect, {}}.encode(out);
  output_.end();
}

bool StoreSession::next_failure(Event& event) {
  if (PendingRequest* const request = requests_.next_waiting(next_failed_)) {
    next_failed_ = request->slot + 1;
    event = {Event::Kind::failed, request->ticket(), {}, request->sent};
    requests_.answered(*request);
    return true;
  }
  if (closed_told_) return false;
  closed_told_ = true;
  event = {Event::Kind::closed, {}, {}, Sent::no};
  return true;
}

bool StoreSession::poll_event(Event& event) {
  while (!closed()) {
    Step step = Step::again;
    guarded([&] { step = next_packet(event); });
    switch (step) {
      case Step::need_input:
        return false;
      case Step::event:
        return true;
      case Step::again:
        break;
    }
  }
  return next_failure(event);
}

void StoreSession::acknowledge(std::uint16_t packet_id) {
  if (acks_.empty()) acks_due_ = now_.mono + kAckDelay;
  ByteWriter out(acks_);
  mqtt5::Puback{packet_id, mqtt5::ReasonCode::success, {}}.encode(out);
  // Section 4.9. The marks count up to twice what is there, hence the factor.
  const std::size_t unsent = ack_marks_[0].count + ack_marks_[1].count + acks_.size() / kAckSize;
  if (unsent > 2 * kReceiveMaximum) {
    broken("more messages than Receive Maximum allows",
           mqtt5::ReasonCode::receive_maximum_exceeded);
  }
}

}  // namespace sheaf::protocol::statestore
