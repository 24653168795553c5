// The server's end of an MQTT connection with a client that may say anything.
//
//   input   flags u8, number of steps u8, steps, bytes of the client
//   step    action u8, argument u8

#include "store/server/server_session.h"

#include <algorithm>

#include "tests/fuzz/fuzz.h"

namespace sheaf::fuzz {
namespace {

using namespace store::server;
namespace mqtt5 = protocol::mqtt5;

// A host that accepts every client whose name does not begin with `R`.
class ServerDrive {
 public:
  enum Action : std::uint8_t { feed, take_output, deliver, pass_time, disconnect };

  ServerDrive(const SessionLimits& limits, std::size_t piece)
      : session_(limits, now_), piece_(piece) {}

  void play(Input script, Input client) {
    while (!script.done()) {
      const auto action = static_cast<Action>(script.u8() % 5);
      const std::uint8_t argument = script.u8();
      if (action == feed) waiting_ += client.text(argument == 255 ? 10'000 : argument);
      if (action == take_output) take(argument);
      if (action == deliver) publish(argument);
      if (action == pass_time) pass(std::chrono::milliseconds(1 << argument % 18));
      if (action == disconnect) session_.disconnect(mqtt5::ReasonCode::server_busy, "go");
      pump();
    }
    waiting_ += client.rest();
    for (std::size_t before = 1; before > 0 && !session_.closed();) {
      pump();
      before = take(255);
    }
    session_.on_eof(now_);
    drain();
    expect(session_.closed() && over_ == accepted_, "a client that was let in ends once");
  }
  const std::string& transcript() const { return transcript_; }

 private:
  // Gives the session as much as it has room for.
  void pump() {
    std::string_view bytes = waiting_;
    while (!bytes.empty() && !session_.closed()) {
      const std::span<std::byte> space = session_.input_space();
      const std::size_t size = std::min({bytes.size(), space.size(), piece_});
      if (size == 0) break;
      std::copy_n(as_bytes(bytes).begin(), size, space.begin());
      bytes.remove_prefix(size);
      session_.on_input(size, now_);
      drain();
    }
    waiting_.erase(0, waiting_.size() - bytes.size());
    drain();
  }
  void drain() {
    ServerEvent event;
    while (session_.poll_event(event)) {
      expect(!over_, "nothing comes after the end");
      if (event.kind == ServerEvent::Kind::ended) {
        over_ = true;
        transcript_ += "ended\n";
      } else if (event.kind == ServerEvent::Kind::connect) {
        expect(!accepted_, "a client connects once");
        transcript_.append("connect ").append(event.connect.client_id).append("\n");
        decide(event.connect.client_id);
      } else {
        expect(accepted_, "only who was let in publishes");
        const auto& message = event.publish;
        transcript_.append(message.topic).append("=").append(message.payload).append("\n");
        if (message.qos == 1) {
          session_.acknowledge(message.packet_id, mqtt5::ReasonCode::success);
        }
      }
    }
  }
  void decide(std::string_view client_id) {
    if (client_id.starts_with('R')) return session_.refuse(mqtt5::ReasonCode::banned, "no");
    session_.accept(client_id.empty() ? "assigned" : "");
    accepted_ = session_.open();
  }
  void publish(std::uint8_t argument) {
    const std::string payload(argument, 'p');
    mqtt5::Publish message;
    message.qos = argument % 2;
    message.topic = "a/b";
    message.payload = payload;
    transcript_ += std::to_string(static_cast<unsigned>(session_.publish(message))) + ' ' +
                   std::to_string(session_.subscription("a/b").value_or(9)) + '\n';
  }
  std::size_t take(std::size_t most) {
    for (const Bytes part : session_.poll_output())
      written_ += as_text(part.first(std::min(most, part.size())));
    const std::size_t size = written_.size();
    if (size > 0) session_.on_output(size, now_);
    check_packets();
    return size;
  }
  void check_packets() {
    sent_ += written_;
    written_.clear();
    for (;;) {
      const auto found = mqtt5::read_frame(sent_);
      expect(found.state != mqtt5::FrameResult::State::malformed, "a server writes packets");
      if (found.state != mqtt5::FrameResult::State::frame) return;
      transcript_.append(to_string(found.frame.type)).append("\n");
      sent_.erase(0, found.frame.total_size);
    }
  }
  void pass(std::chrono::milliseconds time) {
    now_.mono += time;
    now_.wall += time;
    const auto deadline = session_.poll_deadline();
    if (!deadline || *deadline > now_.mono) return;
    session_.on_deadline(now_);
    drain();
    const auto next = session_.poll_deadline();
    expect(!next || *next > now_.mono, "a deadline that was handled is over");
  }

  Now now_{std::chrono::hours(1), std::chrono::milliseconds(1'700'000'000'000)};
  ServerSession session_;
  std::size_t piece_;
  std::string waiting_;  // client bytes that had no room yet
  std::string written_;
  std::string sent_;  // the start of a packet
  std::string transcript_;
  bool accepted_ = false;
  bool over_ = false;
};

std::string play(Input input, const SessionLimits& limits, std::size_t piece) {
  const Input script(input.text(2 * std::size_t{input.u8()}));
  ServerDrive drive(limits, piece);
  drive.play(script, input);
  return drive.transcript();
}

}  // namespace

void run(std::string_view bytes) {
  Input input(bytes);
  SessionLimits limits;
  limits.max_packet = 2'000;
  limits.max_connect = 500;
  limits.max_subscriptions = 3;
  limits.max_waiting = 3;
  if (input.flag()) {  // when it pauses or cuts off depends on how much is read at once
    limits.pause_above = 50;
    limits.max_output = 400;
    play(input, limits, 1);
    play(input, limits, static_cast<std::size_t>(-1));
    return;
  }
  expect(play(input, limits, 1) == play(input, limits, static_cast<std::size_t>(-1)),
         "single bytes make the same events as all at once");
}

std::vector<std::string> seeds() {
  using Drive = ServerDrive;
  const auto seed = [](char flags, std::vector<std::pair<Drive::Action, int>> steps,
                       const std::string& client) {
    std::string all{flags, static_cast<char>(steps.size())};
    for (const auto& [action, argument] : steps) {
      all.push_back(static_cast<char>(action));
      all.push_back(static_cast<char>(argument));
    }
    return all + client;
  };
  mqtt5::Connect hello;
  hello.client_id = "client-id1";
  hello.keep_alive = 1;
  std::string raw;
  ByteWriter out(raw);
  mqtt5::PropertyWriter(out).u16(mqtt5::PropertyId::receive_maximum, 1);
  hello.properties.raw = raw;
  const std::string connect = encoded(hello);
  std::string filter;
  ByteWriter entries(filter);
  mqtt5::Subscription{"a/+", 1, false, false, 0}.encode(entries);
  const std::string subscribe =
      encoded(mqtt5::Subscribe{1, {}, mqtt5::EntryList<mqtt5::Subscription>(filter)});
  mqtt5::Publish message;
  message.qos = 1;
  message.packet_id = 9;
  message.topic = "x/y";
  message.payload = "hello";
  const std::string publish = encoded(message);
  mqtt5::Puback puback;
  puback.packet_id = 1;
  const int all = 255;
  return {
      seed(
          0,
          {{Drive::feed, 100}, {Drive::take_output, all}, {Drive::deliver, 5}, {Drive::deliver, 7}},
          connect + subscribe + publish + encoded(mqtt5::Pingreq{}) + encoded(puback)),
      seed(1,
           {{Drive::feed, all},
            {Drive::deliver, 100},
            {Drive::take_output, 20},
            {Drive::deliver, 101}},
           connect + subscribe + publish + publish + encoded(mqtt5::Pingreq{})),
      seed(0, {{Drive::pass_time, 14}, {Drive::feed, all}}, connect),
      seed(0, {{Drive::feed, all}, {Drive::pass_time, 12}, {Drive::take_output, all}}, connect),
      seed(0, {{Drive::feed, all}, {Drive::disconnect, 0}, {Drive::take_output, 3}},
           connect + publish),
      seed(0, {}, connect + encoded(mqtt5::Disconnect{mqtt5::ReasonCode::success, {}}))};
}

}  // namespace sheaf::fuzz
