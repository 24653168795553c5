// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/statestore/session.h"

#include <algorithm>
#include <utility>

#include "base/checks.h"
#include "protocol/statestore/reason_codes.h"
#include "protocol/statestore/topics.h"

namespace sheaf::protocol::statestore {
namespace {

using mqtt5::Frame;
using mqtt5::FrameResult;
using mqtt5::PacketType;
using mqtt5::ReasonCode;
using State = ConnectionLife::State;

// A store that needs no subscription answers before PUBACK, or right after it.
constexpr std::chrono::milliseconds patience_with_store{500};
// Room for the head of a PUBLISH around a value: topic, correlation data and some properties.
constexpr std::size_t longest_head = 192 * 1024;

LifeOptions life_options(const StoreSessionOptions& options) {
  LifeOptions life;
  life.input_limit = static_cast<std::size_t>(options.value_limit) + longest_head;
  life.handshake_limit = options.handshake_limit;
  life.keep_alive = options.keep_alive;
  life.answer_limit = options.answer_limit;
  life.silence = KeepAlive::Silence::of_either;
  life.over_tls = options.over_tls;
  life.peer = "an MQTT broker";
  life.greeting = "the log-in";
  life.no_op = "a PINGREQ";
  return life;
}

// Refuses what we did not ask for: QoS 2 (we subscribe with 1), topic aliases (we announce none).
std::optional<mqtt5::ParseError> refusal_of(const mqtt5::Publish& publish) {
  if (publish.qos > 1) {
    return mqtt5::ParseError{ReasonCode::qos_not_supported, "PUBLISH with QoS 2"};
  }
  if (publish.properties.topic_alias) {
    return mqtt5::ParseError{ReasonCode::topic_alias_invalid,
                             "topic alias, though none was allowed"};
  }
  return std::nullopt;
}

}  // namespace

StoreSession::StoreSession(StoreSessionOptions options, HybridClock& clock)
    : SessionBase(life_options(options), options.max_in_flight),
      options_(std::move(options)),
      authentication_(options_, life()),
      handshake_(options_, authentication_, life()),
      writer_(options_, handshake_.agreement(), clock, requests(), life().output()),
      replies_(options_.value_limit, clock, life().counters()),
      notifications_(options_.value_limit, clock, life().counters()),
      acknowledgements_(options_.held_acks, life().output()) {
  SHEAF_CHECK(options_.exact_ids != nullptr || !options_.client_id.empty());
}

// ---- output

OutputQueue::FrameId StoreSession::write_no_op() {
  ByteWriter out(life().output().buffer());
  mqtt5::Pingreq{}.encode(out);
  return life().output().end();
}

std::size_t StoreSession::free_slots() const {
  const std::size_t window = handshake_.agreement().window;
  const std::size_t unacked = requests().unacked();
  return std::min(requests().room(), window > unacked ? window - unacked : 0);
}

std::string StoreSession::farewell() const { return disconnect_packet(ReasonCode::success); }

// Waiting PUBACKs go after the queued requests: a broker takes one packet at a time, and no caller
// waits for a PUBACK. While a reply is outstanding the connection is busy anyway.
void StoreSession::before_output() {
  const bool idle = ready() && requests().waiting() == 0;
  if (!idle || !acknowledgements_.may_wait()) acknowledgements_.flush();
}

// ---- packets

Step StoreSession::next_step(Event& event) {
  if (const auto step = refuse_unheard(event)) return *step;
  InputBuffer& input = life().input();
  if (input.skipping()) return Step::need_input;
  if (skipped_packet_ != 0) {
    acknowledge(std::exchange(skipped_packet_, 0));
    return Step::again;
  }
  const std::string_view data = input.data();
  const FrameResult result = mqtt5::read_frame(data);
  switch (result.state) {
    case FrameResult::State::malformed:
      return broken(life(), result.error);
    case FrameResult::State::need_more:
      if (result.frame.total_size > input.limit()) return on_oversized(result.frame, data, event);
      return Step::need_input;
    case FrameResult::State::frame:
      break;
  }
  input.consumed(result.frame.total_size);
  return on_packet(result.frame, data.substr(0, result.frame.total_size), event);
}

Step StoreSession::on_packet(const Frame& frame, std::string_view packet, Event& event) {
  if (!ready()) return on_handshake(frame, packet, event);
  switch (frame.type) {
    case PacketType::publish:
      return on_publish(frame, packet, event);
    case PacketType::puback:
      return on_puback(frame, packet, event);
    case PacketType::disconnect:
      return on_disconnect(frame, packet);
    case PacketType::auth:
      return authentication_.on_auth(frame, packet, life().last_input());
    case PacketType::pingresp: {
      const auto pingresp = mqtt5::Pingresp::parse(frame, packet);
      return pingresp ? Step::again : broken(life(), pingresp.error());
    }
    default:
      return out_of_place(life(), frame.type);
  }
}

Step StoreSession::on_handshake(const Frame& frame, std::string_view packet, Event& event) {
  if (frame.type == PacketType::disconnect) return on_disconnect(frame, packet);
  if (life().state() == State::greeting) {
    if (frame.type == PacketType::connack) return handshake_.on_connack(frame, packet);
    if (frame.type == PacketType::auth) {
      return authentication_.on_auth(frame, packet, life().last_input());
    }
    return out_of_place(life(), frame.type);
  }
  if (frame.type == PacketType::publish) return on_publish(frame, packet, event);
  if (frame.type == PacketType::puback && hello_) return on_puback(frame, packet, event);
  if (frame.type != PacketType::suback || handshake_.subscribed()) {
    return out_of_place(life(), frame.type);
  }
  const Step step = handshake_.on_suback(frame, packet);
  return handshake_.subscribed() ? ask_store(event) : step;
}

Step StoreSession::ask_store(Event& event) {
  writer_.start();
  if (!options_.asks_store) return become_ready(event);
  Operation question;
  question.verb = Verb::probe;
  const auto ticket = writer_.write(question, life().last_input());
  if (!ticket) return become_ready(event);  // requests will be refused, too
  hello_ = *ticket;
  return Step::again;
}

Step StoreSession::become_ready(Event& event) {
  authentication_.become_ready(life().last_input());
  return life().become_ready(event);
}

Step StoreSession::on_disconnect(const Frame& frame, std::string_view packet) {
  const auto disconnect = mqtt5::Disconnect::parse(frame, packet);
  if (!disconnect) return broken(life(), disconnect.error());
  CloseReason reason{reason_of_disconnect(disconnect->code),
                     sentence("the server ended the connection", disconnect->code,
                              disconnect->properties, authentication_.login().get()),
                     is_permanent(disconnect->code)};
  reason.taken_over = disconnect->code == ReasonCode::session_taken_over;
  if (authentication_.is_refused_by(disconnect->code)) {
    reason.reason = Reason::authentication;
    reason.permanent = true;
  }
  life().end(excused_if_stale(std::move(reason), authentication_.login()));
  return Step::again;
}

// ---- PUBLISH: replies and notifications

Step StoreSession::on_publish(const Frame& frame, std::string_view packet, Event& event) {
  const auto publish = mqtt5::Publish::parse(frame, packet);
  if (!publish) return broken(life(), publish.error());
  if (const auto refusal = refusal_of(*publish)) return broken(life(), *refusal);
  if (publish->qos == 1) acknowledge(publish->packet_id);
  if (closed()) return Step::again;
  if (in_notification_tree(publish->topic)) return on_notification(*publish, true, event);
  PendingRequest* const request = pair(*publish);
  if (request == nullptr) return Step::again;
  return on_reply(*request, *publish, event);
}

// A PUBLISH that is too large to buffer. Its head is enough to pair it; its payload is skipped, and
// it is acknowledged afterwards.
Step StoreSession::on_oversized(const Frame& frame, std::string_view buffered, Event& event) {
  const bool expected = life().state() == State::ready || life().state() == State::accepted;
  if (frame.type != PacketType::publish || !expected) {
    return broken(life(), "the packet is larger than any expected one",
                  ReasonCode::packet_too_large);
  }
  const auto head = mqtt5::Publish::parse_head(frame, buffered);
  if (!head) return broken(life(), head.error());
  const std::size_t head_size = buffered.size() - (*head ? (*head)->payload.size() : 0);
  if (head_size > longest_head) {
    return broken(life(), "the head of a PUBLISH is larger than 192 KiB",
                  ReasonCode::packet_too_large);
  }
  if (!*head) return Step::need_input;
  const mqtt5::Publish& publish = **head;
  if (const auto refusal = refusal_of(publish)) return broken(life(), *refusal);
  life().input().skip(frame.total_size);
  skipped_packet_ = publish.packet_id;
  if (in_notification_tree(publish.topic)) return on_notification(publish, false, event);
  PendingRequest* const request = pair(publish);
  if (request == nullptr) return Step::again;
  return refuse(*request, Reason::too_large, "the value is above value_limit", event);
}

// The request that this reply belongs to. Null if no caller waits for it, or if it cannot be a
// reply and the connection has ended.
PendingRequest* StoreSession::pair(const mqtt5::Publish& publish) {
  PendingRequest* const request =
      publish.topic == handshake_.agreement().response_topic
          ? requests().find(publish.properties.correlation_data.value_or(std::string_view{}))
          : nullptr;
  if (request == nullptr) {
    ++life().counters().late_replies;
    return nullptr;
  }
  if (!life().has_left(request->frame)) {
    broken(life(), "reply to a request that has not been sent", ReasonCode::protocol_error);
    return nullptr;
  }
  return request;
}

Step StoreSession::on_reply(PendingRequest& request, const mqtt5::Publish& publish, Event& event) {
  const auto reply = replies_.read(request.question, publish, life().last_input().wall);
  if (reply) return answer(request, *reply, event);
  const Fault& fault = reply.error();
  if (fault.malformed()) return broken(life(), fault.text, ReasonCode::payload_format_invalid);
  return refuse(request, fault.reason, fault.text, event);
}

Step StoreSession::on_notification(const mqtt5::Publish& publish, bool whole, Event& event) {
  const std::string& client_id = handshake_.agreement().client_id;
  if (ready() && notifications_.read(publish, whole, client_id, life().last_input().wall, event)) {
    return Step::event;
  }
  ++life().counters().bad_notifications;
  return Step::again;
}

void StoreSession::acknowledge(std::uint16_t packet_id) {
  if (acknowledgements_.add(packet_id, life().last_input().mono)) return;
  broken(life(), "more messages than Receive Maximum allows", ReasonCode::receive_maximum_exceeded);
}

// ---- PUBACK

Step StoreSession::on_puback(const Frame& frame, std::string_view packet, Event& event) {
  const auto puback = mqtt5::Puback::parse(frame, packet);
  if (!puback) return broken(life(), puback.error());
  PendingRequest* const request = requests().find_packet(puback->packet_id);
  if (request == nullptr) {  // duplicated on its way: it frees nothing and carries no news
    ++life().counters().late_replies;
    return Step::again;
  }
  if (!life().has_left(request->frame)) {
    return broken(life(), "PUBACK for a message that was not sent", ReasonCode::protocol_error);
  }
  const bool refused = request->waiting && is_error(puback->code);
  if (refused) {
    const std::string_view text = puback->properties.reason_string.value_or(std::string_view{});
    refuse(*request, reason_of_puback(puback->code), text.empty() ? to_string(puback->code) : text,
           event);
  }
  if (hello_ && request->ticket == *hello_ && puback->code == ReasonCode::no_matching_subscribers) {
    life().expect_by(life().last_input().mono + patience_with_store,
                     "no state store answers at this broker: nothing is subscribed to requests");
  } else if (request->waiting && request->question == Question::inspection &&
             puback->code == ReasonCode::no_matching_subscribers) {
    unheard_.push_back({request->ticket, life().last_input().mono + patience_with_store});
  }
  requests().acknowledged(*request);
  return refused ? Step::event : Step::again;
}

void StoreSession::on_own_deadline(Now now) {
  acknowledgements_.flush();
  authentication_.on_deadline(now);
  while (overdue_ < unheard_.size() && unheard_[overdue_].due <= now.mono) ++overdue_;
}

std::optional<Step> StoreSession::refuse_unheard(Event& event) {
  while (overdue_ > 0) {
    PendingRequest* const request = requests().find(unheard_.front().ticket);
    unheard_.erase(unheard_.begin());
    --overdue_;
    if (request == nullptr) continue;  // answered or cancelled
    return refuse(*request, Reason::unknown_command,
                  "the store does not answer questions about itself: only sheaf's own stores do, "
                  "from 0.1.0 on",
                  event);
  }
  return std::nullopt;
}

// ---- the end of a request

Step StoreSession::answer(PendingRequest& request, const Reply& reply, Event& event) {
  if (hello_ && request.ticket == *hello_) {
    hello_.reset();
    requests().answered(request);
    return become_ready(event);
  }
  event = {Event::Kind::reply, request.ticket, reply, Sent::maybe};
  requests().answered(request);
  return Step::event;
}

Step StoreSession::refuse(PendingRequest& request, Reason reason, std::string_view text,
                          Event& event) {
  Reply reply;
  reply.status = Status::refused;
  reply.reason = reason;
  reply.text = text;
  return answer(request, reply, event);
}

}  // namespace sheaf::protocol::statestore
