#pragma once

// The client's end of one MQTT 5 connection to a state store.
//
// | state       | input               | then                                      | next        |
// |-------------|---------------------|-------------------------------------------|-------------|
// | idle        | start()             | CONNECT                                   | connecting  |
// | connecting  | CONNACK < 0x80      | SUBSCRIBE to replies and notifications    | subscribing |
// | connecting  | CONNACK >= 0x80     |                                           | closed      |
// | subscribing | SUBACK < 0x80       | event ready                               | ready       |
// | subscribing | SUBACK >= 0x80      | DISCONNECT                                | closed      |
// | subscribing | PUBLISH             | PUBACK, dropped (section 3.8.4 allows it) | subscribing |
// | ready       | submit()            | PUBLISH QoS 1                             | ready       |
// | ready       | PUBLISH, paired     | PUBACK, event reply                       | ready       |
// | ready       | PUBLISH, a change   | PUBACK, event notification                | ready       |
// | ready       | PUBLISH, not paired | PUBACK, dropped, counted                  | ready       |
// | ready       | PUBACK < 0x80       | its packet identifier is free             | ready       |
// | ready       | PUBACK >= 0x80      | event reply, refused                      | ready       |
// | ready       | PUBACK, unknown     | dropped, counted                          | ready       |
// | ready       | PINGRESP            |                                           | ready       |
// | any         | DISCONNECT          | events failed, closed                     | closed      |
// | any         | anything else       | DISCONNECT, events failed, closed         | closed      |
// | any         | end, silence        | events failed, closed                     | closed      |
// | any         | close()             | DISCONNECT, events failed, closed         | closed      |
//
// Replies are told from notifications by their topic, whatever is subscribed: stores push. SUBACK
// may refuse the notifications, then watches are refused and the rest goes on.
//
// A reply belongs to a request if it comes on our response topic and carries all 16 bytes of the
// request's correlation data; nothing else pairs them. What contradicts that (a reply or PUBACK for
// a request that has not left whole, a payload that is no answer) ends the connection.
//
// Input is parsed when events are polled: one packet gives at most one event, and views in it stay
// valid until the next input.
//
// Without memory a submit is refused, and everything else ends the connection; nothing is thrown.
//
// Thread rule: one thread at a time; nothing here blocks, calls back or reads a clock.
// Pure: no socket, clock, entropy, thread or callback.

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/random.h"
#include "protocol/input_buffer.h"
#include "protocol/mqtt5/packets.h"
#include "protocol/output_queue.h"
#include "protocol/session.h"
#include "protocol/statestore/client_requests.h"
#include "protocol/statestore/clock.h"
#include "protocol/statestore/packets.h"
#include "protocol/statestore/properties.h"

namespace sheaf::protocol::statestore {

struct StoreSessionOptions {
  std::string client_id;  // whole and unique; a topic level: no `/`, `+`, `#`
  std::string user;       // empty = none
  std::string password;
  std::chrono::milliseconds keep_alive{10'000};      // longest silence before a PINGREQ
  std::chrono::milliseconds answer_limit{5'000};     // for its answer
  std::chrono::milliseconds handshake_limit{5'000};  // from start() to ready
  std::uint64_t value_limit = 16u << 20;
  std::uint32_t max_in_flight = 512;  // 1 .. 65,534
  // So many PUBACKs may wait for the next request to travel with, 20 ms at most: one system call
  // less here and one packet less in the broker's way.
  std::uint32_t held_acks = 8;
  Seed seed{};
};

class StoreSession final : public Session {
 public:
  // `clock` is the node's, shared by its sessions; it outlives them.
  StoreSession(StoreSessionOptions options, HybridClock& clock);

  std::span<std::byte> input_space() override;
  void on_input(std::size_t size, Now now) override;
  void on_output(std::size_t size, Now now) override;
  void on_eof(Now now) override;
  void on_deadline(Now now) override;

  void start(Now now) override;
  std::expected<Ticket, LocalError> submit(const Operation& operation, Now now) override;
  Sent cancel(Ticket ticket, Now now) override;
  void close(Now now) override;

  std::span<const Bytes> poll_output() override;
  bool poll_event(Event& event) override;
  std::optional<Deadline> poll_deadline() const override;

  std::size_t room() const override;
  std::size_t in_flight() const override { return closed() ? 0 : requests_.waiting(); }
  bool ready() const override { return state_ == State::ready; }
  bool closed() const override { return state_ == State::closed; }
  const CloseReason& close_reason() const override { return close_reason_; }
  const Counters& counters() const override { return counters_; }

  // Memory held for input and output, for tests of bounds.
  std::size_t input_capacity() const noexcept { return input_.capacity(); }
  std::size_t output_capacity() const noexcept { return output_.capacity(); }

 private:
  enum class State : std::uint8_t { idle, connecting, subscribing, ready, closed };
  enum class Step : std::uint8_t {
    need_input,  // no whole packet is buffered
    again,       // a packet is done, without an event
    event
  };
  // Room for the head of a PUBLISH around a value: topic, correlation data and some properties.
  static constexpr std::size_t kMaxHead = 192 * 1024;
  static constexpr std::uint16_t kSubscribeId = 65'535;  // never that of a request
  static constexpr std::size_t kMaxClientId = 4096;      // so that topics built of it are topics
  // An operation, checked and spelled, but for what only sending decides.
  struct Message {
    Question question = Question::get;
    std::string_view value;  // goes between head and tail of `payload_`
    std::size_t head_size = 0;
    std::string_view fence;
    std::uint32_t expiry_seconds = 0;
    TimestampText timestamp;
    std::size_t properties_size = 0;
    std::size_t payload_size = 0;
  };

  // session.cpp: the life of the connection
  void send_connect();
  void send_subscribe();
  void send_pingreq(Now now);
  void flush_acks();
  void forget_written_acks() noexcept;
  bool holds_acks() const noexcept;
  Deadline next_ping() const noexcept;
  void on_due(Now now);
  template <class Action>
  void guarded(const Action& action);
  void end(CloseReason reason, std::optional<mqtt5::ReasonCode> disconnect);
  bool next_failure(Event& event);

  // session_submit.cpp
  std::expected<Message, LocalError> compose(const Operation& operation, Now now);
  std::optional<LocalError> spell(const Operation& operation, Message& message);
  std::optional<LocalError> stamp(const Operation& operation, Message& message, Now now);
  PendingRequest& prepare(const Message& message);
  void write(const Message& message, PendingRequest& request);

  // session_input.cpp
  Step next_packet(Event& event);
  Step on_packet(const mqtt5::Frame& frame, std::string_view packet, Event& event);
  Step on_handshake(const mqtt5::Frame& frame, std::string_view packet, Event& event);
  Step on_connack(const mqtt5::Frame& frame, std::string_view packet);
  Step on_suback(const mqtt5::Frame& frame, std::string_view packet, Event& event);
  Step on_publish(const mqtt5::Frame& frame, std::string_view packet, Event& event);
  Step on_oversized(const mqtt5::Frame& frame, std::string_view buffered, Event& event);
  Step skip_payload();
  Step on_puback(const mqtt5::Frame& frame, std::string_view packet, Event& event);
  Step on_disconnect(const mqtt5::Frame& frame, std::string_view packet);
  std::optional<mqtt5::ParseError> refusal_of(const mqtt5::Publish& publish) const;
  PendingRequest* pair(const mqtt5::Publish& publish);
  void acknowledge(std::uint16_t packet_id);
  Step broken(std::string_view what, mqtt5::ReasonCode code);
  Step broken(const mqtt5::ParseError& error) { return broken(error.text, error.code); }
  Step out_of_place(mqtt5::PacketType type);

  // session_reply.cpp
  Step on_notification(const mqtt5::Publish& publish, bool whole, Event& event);
  Step on_reply(PendingRequest& request, const mqtt5::Publish& publish, Event& event);
  std::optional<Fault> read_answer(const PendingRequest& request, std::string_view payload,
                                   Reply& reply) const;
  void read_timestamp(const PendingRequest& request, const ReplyProperties& properties,
                      Reply& reply);
  Step finish(PendingRequest& request, const Reply& reply, Event& event);
  Step refuse(PendingRequest& request, Reason reason, std::string_view text, Event& event);

  StoreSessionOptions options_;
  HybridClock& clock_;
  Random random_;
  State state_ = State::idle;
  CloseReason close_reason_;
  Counters counters_;
  Now now_;  // of the last input

  std::string response_topic_;
  bool notified_ = false;     // the subscription to notifications was granted
  std::string notified_key_;  // of the notification that was polled last
  std::string clock_key_;
  std::string fixed_properties_;  // of every request
  std::string payload_;           // of the request being written: head and tail
  std::size_t max_key_size_ = 0;
  std::size_t server_packet_limit_;
  std::size_t server_window_ = 65'535;

  InputBuffer input_;
  std::size_t skip_ = 0;  // bytes of an oversized payload that are still to come
  std::uint16_t skip_packet_id_ = 0;
  OutputQueue output_;
  std::string acks_;  // PUBACKs that wait for company
  Deadline acks_due_{0};
  // PUBACKs in output_: those up to one frame, and those behind it up to another.
  struct AckMark {
    OutputQueue::FrameId frame = 0;
    std::size_t count = 0;
  };
  std::array<AckMark, 2> ack_marks_;
  RequestTable requests_;

  Deadline handshake_due_{0};
  Deadline last_sent_{0};
  Deadline last_received_{0};
  Deadline ping_interval_{0};
  std::optional<OutputQueue::FrameId> ping_;  // unanswered
  Deadline ping_due_{0};
  std::uint32_t next_failed_ = 0;  // slot, once closed
  bool closed_told_ = false;
};

}  // namespace sheaf::protocol::statestore
