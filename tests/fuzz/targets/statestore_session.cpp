// A session of the state store with a broker that may say anything, or that answers requests.

#include <algorithm>
#include <iterator>

#include "protocol/mqtt5/packets.h"
#include "protocol/statestore/session.h"
#include "protocol/statestore/topics.h"
#include "tests/fuzz/session_drive.h"
#include "tests/support/logins.h"

namespace sheaf::fuzz {
namespace {

using namespace protocol::statestore;
using protocol::Verb;
namespace mqtt5 = protocol::mqtt5;

constexpr std::string_view client_id = "sheaf-1";
constexpr std::string_view token_method = "K8S-SAT";

std::string publish(std::string_view topic, std::string_view correlation, std::string_view payload,
                    std::string_view timestamp = "001700000000000:00001:StateStore") {
  std::string properties;
  ByteWriter out(properties);
  mqtt5::PropertyWriter writer(out);
  if (!correlation.empty()) writer.text(mqtt5::PropertyId::correlation_data, correlation);
  writer.user(property::status, status_ok);
  writer.user(property::timestamp, timestamp);
  mqtt5::Publish message;
  message.qos = 1;
  message.topic = topic;
  message.packet_id = 7;
  message.properties.raw = properties;
  message.payload = payload;
  return encoded(message);
}

// Remembers the requests, so that an answer can belong to one of them.
class StoreDrive final : public SessionDrive {
 public:
  enum Kind : std::uint8_t {
    whole,
    late_puback,
    only_puback,
    refused,
    ahead,
    notification,
    huge,
    unheard
  };
  // The argument of an answer.
  static constexpr std::uint8_t of(Kind kind, unsigned request = 0) {
    return static_cast<std::uint8_t>(kind * 32 + request);
  }

  using SessionDrive::SessionDrive;

 private:
  struct Asked {
    std::uint16_t packet_id = 0;
    std::string correlation;
  };

  void on_written(std::string_view bytes) override {
    written_ += bytes;
    for (;;) {
      const auto found = mqtt5::read_frame(written_);
      expect(found.state != mqtt5::FrameResult::State::malformed, "a client writes packets");
      if (found.state != mqtt5::FrameResult::State::frame) return;
      const std::string_view packet(written_.data(), found.frame.total_size);
      if (found.frame.type == mqtt5::PacketType::publish) {
        const auto request = mqtt5::Publish::parse(found.frame, packet);
        expect(request && (request->topic == request_topic || request->topic == inspection_topic),
               "a client publishes requests and inspections");
        asked_.push_back(
            {request->packet_id, std::string(request->properties.correlation_data.value_or(""))});
      }
      written_.erase(0, found.frame.total_size);
    }
  }

  std::string answer(std::uint8_t argument, std::string_view text) override {
    if (asked_.empty()) return std::string(text);
    const Asked& asked = asked_[argument % 32 % asked_.size()];
    const std::string topic = response_topic(ResponseTopicForm::rust, client_id);
    const std::string reply = publish(topic, asked.correlation, text);
    mqtt5::Puback puback;
    puback.packet_id = asked.packet_id;
    switch (argument / 32) {
      case whole:
        return encoded(puback) + reply;
      case late_puback:
        return reply + encoded(puback);
      case only_puback:
        return encoded(puback);
      case refused:
        puback.code = mqtt5::ReasonCode::not_authorized;
        return encoded(puback);
      case ahead:
        return publish(topic, asked.correlation, text, "001800000000000:00001:X");
      case notification:
        return publish(notification_topic(client_id, "k1"), {}, text);
      case huge:  // more than is buffered
        return publish(topic, asked.correlation,
                       "$250000\r\n" + std::string(250'000, 'x') + "\r\n");
      case unheard:
        puback.code = mqtt5::ReasonCode::no_matching_subscribers;
        return encoded(puback);
      default:
        return reply;
    }
  }

  std::string written_;
  std::vector<Asked> asked_;
};

std::string connack() { return encoded(mqtt5::Connack{false, mqtt5::ReasonCode::success, {}}); }
std::string suback() { return encoded(mqtt5::Suback{65'535, {}, "\1\1"}); }

std::uint8_t size(std::string_view text) { return static_cast<std::uint8_t>(text.size()); }

// A session that is ready.
Script ready() {
  return Script().take_output().feed(size(connack())).take_output().feed(size(suback()));
}

// The steps that follow, and the server's bytes for them.
std::string talk(const Script& script, std::string_view answers) {
  return script.with(connack() + suback() + std::string(answers));
}

std::string auth(mqtt5::ReasonCode code) {
  std::string method;
  ByteWriter to_method(method);
  mqtt5::PropertyWriter(to_method).text(mqtt5::PropertyId::authentication_method, token_method);
  mqtt5::Auth packet{code, {}};
  packet.properties.raw = method;
  return encoded(packet);
}

std::vector<std::string> seeds_of_logins() {
  const std::string granted = auth(mqtt5::ReasonCode::success);
  const std::string more = auth(mqtt5::ReasonCode::continue_authentication);
  return {talk(ready()
                   .submit(Verb::get)
                   .renew(0)
                   .renew(1)
                   .take_output()
                   .feed(size(granted))
                   .take_output()
                   .feed(size(more))
                   .take_output(),
               granted + more + granted),
          talk(ready().renew(0).take_output().pass_time(13).take_output(), ""),
          talk(ready().renew(2).renew(4).take_output(), granted),
          Script().take_output().feed(size(more)).take_output().with(more + connack() + suback())};
}

std::vector<std::string> seeds_of_requests() {
  const std::string change =
      short_text(encoded(Notification{Notification::Operation::set, "abc"}, Spelling::sdk));
  return {talk(ready()
                   .submit(Verb::get)
                   .submit(Verb::set, 2)
                   .submit(Verb::remove)
                   .take_output()
                   .answer(StoreDrive::of(StoreDrive::whole))
                   .answer(StoreDrive::of(StoreDrive::late_puback, 1))
                   .answer(StoreDrive::of(StoreDrive::whole, 2))
                   .take_output(),
               short_text("$1\r\nA\r\n") + short_text("+OK\r\n") + short_text(":1\r\n")),
          talk(ready()
                   .submit(Verb::watch, 1)
                   .take_output()
                   .answer(StoreDrive::of(StoreDrive::whole))
                   .answer(StoreDrive::of(StoreDrive::notification))
                   .submit(Verb::unwatch, 1)
                   .take_output(),
               short_text("+OK\r\n") + change),
          talk(ready().submit(Verb::set, 3).take_output(200).cancel(0).take_output(), ""),
          talk(ready()
                   .submit(Verb::set, 5)
                   .submit(Verb::clock)
                   .submit(Verb::probe)
                   .take_output()
                   .answer(StoreDrive::of(StoreDrive::refused))
                   .answer(StoreDrive::of(StoreDrive::ahead, 1))
                   .cancel(0)
                   .answer(StoreDrive::of(StoreDrive::whole, 2)),
               short_text("") + short_text("+OK\r\n") + short_text("$-1\r\n")),
          talk(ready()
                   .pass_time(13)
                   .pass_time(13)
                   .take_output()
                   .feed()
                   .pass_time(12)
                   .pass_time(13)
                   .take_output(),
               encoded(mqtt5::Pingresp{})),
          talk(ready().submit(Verb::get).take_output().end().take_output(), ""),
          Script().take_output().with(
              encoded(mqtt5::Connack{false, mqtt5::ReasonCode::not_authorized, {}})),
          talk(ready().submit(Verb::get).take_output(),
               encoded(mqtt5::Disconnect{mqtt5::ReasonCode::server_shutting_down, {}})),
          talk(ready()
                   .submit(Verb::get)
                   .submit(Verb::get, 1)
                   .take_output()
                   .answer(StoreDrive::of(StoreDrive::huge))
                   .answer(StoreDrive::of(StoreDrive::whole, 1)),
               short_text("") + short_text("$-1\r\n"))};
}

}  // namespace

void run(std::string_view bytes) {
  StoreSessionOptions options;
  options.client_id = client_id;
  options.seed = {1, 2, 3, 4, 5, 6, 7, 8};
  options.asks_store = false;  // one more answer before everything else
  options.value_limit = 20'000;
  options.max_in_flight = 20;
  play_twice([&](std::size_t piece) {
    const auto slot = std::make_shared<protocol::LoginSlot>(
        protocol::LoginSlot{test::token_login(token_method, "zero")});
    options.login = slot;
    HybridClock clock("client-node");
    StoreSession session(options, clock);
    StoreDrive drive(session, piece, slot);
    drive.play(bytes);
    expect(session.input_capacity() < 500'000, "the input buffer is bounded");
    return drive.transcript();
  });
}

std::vector<std::string> seeds() {
  std::vector<std::string> all = seeds_of_logins();
  std::ranges::move(seeds_of_requests(), std::back_inserter(all));
  return all;
}

}  // namespace sheaf::fuzz
