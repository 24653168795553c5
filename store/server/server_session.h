#pragma once

// The server's side of one MQTT 5 connection: bytes in, bytes out. It knows packets, limits and
// subscriptions; its host (store/server/host.h) knows what a publish means.
//
// The caller repeats: call inputs; call poll_event until it returns false, and answer each event;
// call poll_output, write the bytes and call on_output. It sets its timer to poll_deadline. The
// session makes no callbacks.
//
//   state       ends by                                          next
//   greeting    CONNECT                                          deciding
//               anything else, end of stream, connect_timeout    ended
//   deciding    accept()                                         open
//               refuse()                                         leaving
//   open        DISCONNECT of the client, end of stream          ended
//               disconnect(), a broken rule, keep-alive timeout  leaving
//   leaving     all output taken, end of stream, linger_timeout  ended
//
// Buffered input, output not taken yet, deliveries that wait for the client's Receive Maximum, and
// subscriptions are bounded. While more than `pause_above` bytes of output wait, the session takes
// no input and returns no event: a client that does not read is not served.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "protocol/input_buffer.h"
#include "protocol/mqtt5/packets.h"
#include "store/server/outgoing_window.h"
#include "store/server/output_buffer.h"

namespace sheaf::store::server {

struct SessionLimits {
  std::uint32_t max_packet = 64u << 20;  // announced as Maximum Packet Size
  std::uint32_t max_connect = 512u
                              << 10;   // for a CONNECT, which comes before the password is checked
  std::size_t pause_above = 1u << 20;  // bytes of output
  std::size_t max_output = 64u << 20;  // bytes of output; a client that exceeds it is cut off
  std::size_t max_waiting = 10'000;    // deliveries above the client's Receive Maximum
  std::size_t max_waiting_bytes = 64u << 20;  // of those
  std::size_t max_subscriptions = 1'000;
  bool hold_results = false;  // publishes wait until they are released
  std::chrono::nanoseconds connect_timeout = std::chrono::seconds(10);
  std::chrono::nanoseconds linger_timeout = std::chrono::seconds(5);
};

struct ServerEvent {
  enum class Kind : std::uint8_t {
    connect,       // answer with accept() or refuse()
    authenticate,  // with another token: answer with authenticated() or disconnect()
    publish,       // answer with acknowledge(), if QoS 1
    ended          // the last event, once; output may still have to be sent
  };
  Kind kind = Kind::ended;
  // The views live until the next call of an input or of poll_event.
  protocol::mqtt5::Connect connect;
  protocol::mqtt5::Auth authenticate;
  protocol::mqtt5::Publish publish;
};

class ServerSession {
 public:
  using ReasonCode = protocol::mqtt5::ReasonCode;

  ServerSession(const SessionLimits& limits, Now now);

  // Inputs. An empty space means: read again after output was taken.
  std::span<std::byte> input_space();
  void on_input(std::size_t size, Now now);
  void on_output(std::size_t size, Now now);
  void on_eof(Now now);
  void on_deadline(Now now);

  // Answers to events.
  void accept(std::string_view assigned_client_id);  // empty: the client chose its own
  void refuse(ReasonCode code, std::string_view text);
  void authenticated();
  void acknowledge(std::uint16_t packet_id, ReasonCode code);

  enum class Delivery : std::uint8_t {
    queued,     // sent now, or when the client has acknowledged others
    discarded,  // exceeds the client's Maximum Packet Size (section 3.1.2.11.4), or not connected
    cut_off     // exceeds the limits of the session, which ends
  };
  // A message for this client, QoS 0 or 1. The session chooses its packet identifier.
  Delivery publish(protocol::mqtt5::Publish& message);
  void disconnect(ReasonCode code, std::string_view text);
  // Ends the connection, and drops the output that was not taken yet. A session that is ending
  // anyway drops what it holds.
  void abandon(std::string_view text);
  // With hold_results, publishes and everything behind them wait in it for a release.
  OutputBuffer& output() { return output_; }

  // Outputs.
  bool poll_event(ServerEvent& event);
  std::span<const Bytes> poll_output() { return output_.poll(); }
  std::optional<Deadline> poll_deadline() const;

  // Queries.
  bool open() const { return state_ == State::open; }
  bool closed() const { return state_ == State::ended; }  // the stream may be closed
  const std::string& client_id() const { return client_id_; }
  ReasonCode end_code() const { return end_code_; }
  const std::string& end_text() const { return end_text_; }  // one sentence; empty = orderly
  // The granted QoS of the best matching subscription.
  std::optional<std::uint8_t> subscription(std::string_view topic) const;

 private:
  static constexpr std::uint32_t largest_packet =
      268'435'460;  // section 1.5.5 allows no larger one
  enum class State : std::uint8_t { greeting, deciding, open, leaving, ended };
  struct Granted {
    std::string filter;
    std::uint8_t qos = 0;
  };

  bool on_packet(const protocol::mqtt5::Frame& frame, std::string_view packet, ServerEvent& event);
  bool on_connect(const protocol::mqtt5::Frame& frame, std::string_view packet, ServerEvent& event);
  bool on_auth(const protocol::mqtt5::Frame& frame, std::string_view packet, ServerEvent& event);
  bool on_publish(const protocol::mqtt5::Frame& frame, std::string_view packet, ServerEvent& event);
  void on_puback(const protocol::mqtt5::Frame& frame, std::string_view packet);
  void on_subscribe(const protocol::mqtt5::Frame& frame, std::string_view packet);
  void on_unsubscribe(const protocol::mqtt5::Frame& frame, std::string_view packet);
  ReasonCode subscribe(const protocol::mqtt5::Subscription& entry);
  void fail(const protocol::mqtt5::ParseError& error);
  void end(ReasonCode code, std::string_view text);
  void leave();
  // Returns false, and sends nothing, if the packet exceeds the client's Maximum Packet Size.
  template <class Packet>
  bool send(const Packet& packet) {
    std::string& out = output_.sink();
    const std::size_t before = out.size();
    ByteWriter writer(out);
    packet.encode(writer);
    if (out.size() - before <= client_max_packet_) return true;
    out.resize(before);
    return false;
  }

  SessionLimits limits_;
  State state_ = State::greeting;
  Now now_;
  Deadline deadline_ = never;               // of the state, including keep-alive
  std::chrono::nanoseconds keep_alive_{0};  // one and a half times the client's; 0 = none
  std::uint32_t client_max_packet_ = largest_packet;
  bool lower_expiry_ = false;  // the client asked for a session that outlives its connection
  bool end_reported_ = true;   // no `ended` event is due
  ReasonCode end_code_ = ReasonCode::success;
  std::string end_text_;
  std::string client_id_;
  std::string method_;  // the client's authentication method; empty: it named none
  protocol::InputBuffer input_;
  std::size_t parsed_ = 0;  // the size of the packet that the last event has views of
  OutputBuffer output_;
  OutgoingWindow window_;
  std::vector<Granted> subscriptions_;
  std::string scratch_;  // properties and lists of codes
};

}  // namespace sheaf::store::server
