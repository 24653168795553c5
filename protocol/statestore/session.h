#pragma once

// StoreSession: the client's end of one MQTT 5 connection to a state store. Its life is that of
// every session (session_base.h, connection_life.h); its beginning is Handshake (handshake.h).
//
// | state    | input               | then                                      | next     |
// |----------|---------------------|-------------------------------------------|----------|
// | accepted | SUBACK < 0x80       | PUBLISH of a question to the store        | accepted |
// | accepted | an answer to it     | event ready                               | ready    |
// | accepted | PUBACK 0x10 to it,  | DISCONNECT: no store is behind the broker | closed   |
// |          | no answer in 500 ms |                                           |          |
// | accepted | any other PUBLISH   | PUBACK, dropped (section 3.8.4 allows it) | accepted |
// | ready    | submit()            | PUBLISH QoS 1                             | ready    |
// | ready    | PUBLISH, paired     | PUBACK, event reply                       | ready    |
// | ready    | PUBLISH, a change   | PUBACK, event notification                | ready    |
// | ready    | PUBLISH, not paired | PUBACK, dropped, counted                  | ready    |
// | ready    | PUBACK < 0x80       | its packet identifier is free             | ready    |
// | ready    | PUBACK >= 0x80      | event reply, refused                      | ready    |
// | ready    | PUBACK 0x10 to an   | event reply, refused: the store does not  | ready    |
// |          | inspection, then no | know inspections                          |          |
// |          | answer in 500 ms    |                                           |          |
// | ready    | PUBACK, unknown     | dropped, counted                          | ready    |
// | ready    | PINGRESP            |                                           | ready    |
// | any      | AUTH                | see authentication.h                      |          |
// | any      | DISCONNECT          | events failed, closed                     | closed   |
// | any      | anything else       | DISCONNECT, events failed, closed         | closed   |
// | any      | close()             | DISCONNECT, events failed, closed         | closed   |
//
// PUBACK 0x10 means that no client is subscribed to requests. That alone proves nothing: a store
// inside the broker may need no subscription. A refusal by the broker is an answer: requests will
// report it.
//
// The topic distinguishes replies from notifications, whatever is subscribed: stores push.
//
// A reply belongs to a request if it comes on our response topic and carries all 16 bytes of the
// request's correlation data; nothing else pairs them. A contradiction (a reply or PUBACK for a
// request that has not left completely, a payload that is no answer) ends the connection.
//
// Thread rule: one thread at a time; nothing here blocks, calls back or reads a clock.
// Pure: no socket, clock, entropy, thread or callback.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/mqtt5/packets.h"
#include "protocol/session_base.h"
#include "protocol/statestore/acknowledgements.h"
#include "protocol/statestore/authentication.h"
#include "protocol/statestore/clock.h"
#include "protocol/statestore/handshake.h"
#include "protocol/statestore/notification_reader.h"
#include "protocol/statestore/reply_reader.h"
#include "protocol/statestore/request_table.h"
#include "protocol/statestore/request_writer.h"
#include "protocol/statestore/session_options.h"

namespace sheaf::protocol::statestore {

class StoreSession final : public SessionBase<RequestTable> {
 public:
  // `clock` is the node's, shared by its sessions; it outlives them.
  StoreSession(StoreSessionOptions options, HybridClock& clock);

  bool renew_login(Now now) override {
    return authentication_.renew(handshake_.agreement().packet_limit, now);
  }
  std::string_view own_name() const override {
    return options_.exact_ids == nullptr ? std::string_view() : handshake_.agreement().client_id;
  }

 private:
  void greet() override { handshake_.begin(); }
  std::expected<Ticket, LocalError> write(const Operation& operation, Now now) override {
    return writer_.write(operation, now);
  }
  OutputQueue::FrameId write_no_op() override;
  Step next_step(Event& event) override;
  std::size_t free_slots() const override;
  std::string farewell() const override;
  Deadline own_deadline() const override {
    return std::min({acknowledgements_.due(), authentication_.due(),
                     unheard_.empty() ? never : unheard_.front().due});
  }
  void on_own_deadline(Now now) override;
  void before_output() override;

  Step on_packet(const mqtt5::Frame& frame, std::string_view packet, Event& event);
  Step on_handshake(const mqtt5::Frame& frame, std::string_view packet, Event& event);
  Step ask_store(Event& event);
  Step become_ready(Event& event);
  Step on_publish(const mqtt5::Frame& frame, std::string_view packet, Event& event);
  Step on_oversized(const mqtt5::Frame& frame, std::string_view buffered, Event& event);
  Step on_puback(const mqtt5::Frame& frame, std::string_view packet, Event& event);
  Step on_disconnect(const mqtt5::Frame& frame, std::string_view packet);
  Step on_notification(const mqtt5::Publish& publish, bool whole, Event& event);
  Step on_reply(PendingRequest& request, const mqtt5::Publish& publish, Event& event);
  PendingRequest* pair(const mqtt5::Publish& publish);
  void acknowledge(std::uint16_t packet_id);
  // Ends the next inspection whose time is over; nothing if there is none.
  std::optional<Step> refuse_unheard(Event& event);
  Step answer(PendingRequest& request, const Reply& reply, Event& event);
  Step refuse(PendingRequest& request, Reason reason, std::string_view text, Event& event);

  const StoreSessionOptions options_;
  Authentication authentication_;
  Handshake handshake_;
  RequestWriter writer_;
  ReplyReader replies_;
  NotificationReader notifications_;
  Acknowledgements acknowledgements_;
  std::optional<Ticket> hello_;  // the question to the store, until it is answered
  // Inspections that no client is subscribed to: sheaf's store may still answer, until `due`.
  struct Unheard {
    Ticket ticket;
    Deadline due{};
  };
  std::vector<Unheard> unheard_;
  std::size_t overdue_ = 0;           // the first ones in `unheard_`
  std::uint16_t skipped_packet_ = 0;  // whose payload is being skipped; 0 = none
};

}  // namespace sheaf::protocol::statestore
