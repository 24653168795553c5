// The whole store as a server: bytes from four clients, requests in well-formed packets, time.
//
//   input   flags u8, steps to the end
//   step    action u8 (low bits: which client), then what the action reads

#include <algorithm>
#include <array>

#include "protocol/statestore/properties.h"
#include "protocol/statestore/topics.h"
#include "store/server/host.h"
#include "tests/fuzz/fuzz.h"

namespace sheaf::fuzz {
namespace {

using namespace store::server;
namespace mqtt5 = protocol::mqtt5;
namespace statestore = protocol::statestore;

constexpr std::size_t max_keys = 4;
constexpr std::size_t max_bytes = 200;
constexpr std::size_t max_watches = 5;

HostOptions options_of(std::uint8_t flags) {
  HostOptions options;
  options.engine.max_keys = max_keys;
  options.engine.max_bytes = max_bytes;
  options.engine.max_watches = max_watches;
  options.engine.max_duplicates = 3;
  if ((flags & 1) != 0) options.engine.notify = store::NotifyMode::subscribed;
  if ((flags & 2) != 0) options.engine.spelling = store::Spelling::page;
  if ((flags & 4) != 0) options.engine.fence_retention = std::chrono::seconds(1);
  if ((flags & 8) != 0) options.logins.user = "ann";
  if ((flags & 16) != 0) options.logins.method = "m";
  options.session.max_packet = 2'000;
  options.session.pause_above = 1'000;
  options.session.max_output = 3'000;
  options.max_connections = 3;
  return options;
}

class HostDrive {
 public:
  enum Action : std::uint8_t { connect, bytes, request, take, end, pass_time };
  static constexpr std::uint8_t of(Action action, unsigned client = 0) {
    return static_cast<std::uint8_t>(action * 4 + client);
  }

  explicit HostDrive(std::uint8_t flags) : host_(options_of(flags)) { host_.allow("t"); }

  void play(Input input) {
    while (!input.done()) {
      const std::uint8_t step = input.u8();
      Client& client = clients_[step % 4];
      switch (static_cast<Action>(step / 4 % 6)) {
        case connect:
          hello(client, input.u8());
          break;
        case bytes:
          send(client, input.short_text());
          break;
        case request:
          ask(client, input);
          break;
        case take:
          read(client, input.u8());
          break;
        case end:
          leave(client);
          break;
        case pass_time:
          pass(std::chrono::milliseconds(1 << input.u8() % 16));
          break;
      }
      collect();
    }
    for (Client& client : clients_) leave(client);
    expect(host_.connections() == 0 && host_.engine().watches() == 0, "nothing of clients is left");
  }

 private:
  struct Client {
    Host::Connection* connection = nullptr;
    std::string sent;  // the start of a packet to the client
  };

  void hello(Client& client, std::uint8_t id) {
    if (client.connection != nullptr) return;
    client = {host_.connect(now_), {}};
    mqtt5::Connect packet;
    const std::string name = id == 0 ? "" : "c" + std::to_string(id % 3);
    packet.client_id = name;
    packet.keep_alive = id / 3 % 3;
    if (id > 30) packet.user = "ann";
    if (id > 30) packet.password = "";
    std::string raw;
    ByteWriter out(raw);
    mqtt5::PropertyWriter writer(out);
    if (id % 4 == 1) writer.text(mqtt5::PropertyId::authentication_method, "m");
    if (id % 8 == 1) writer.text(mqtt5::PropertyId::authentication_data, "t");
    packet.properties.raw = raw;
    send(client, encoded(packet));
  }
  void ask(Client& client, Input& input) {
    const std::uint8_t kind = input.u8();
    const std::string correlation(1, static_cast<char>(kind % 4));
    std::string raw;
    ByteWriter out(raw);
    mqtt5::PropertyWriter writer(out);
    if (kind % 16 != 15) writer.text(mqtt5::PropertyId::response_topic, "clients/c1/answers");
    writer.text(mqtt5::PropertyId::correlation_data, correlation);
    writer.user("__ts", std::to_string(now_.wall.count()) + ":" + std::to_string(kind / 64) + ":c");
    if (kind % 8 == 7) writer.user("__ft", std::to_string(now_.wall.count() - kind) + ":0:f");
    mqtt5::Publish packet;
    packet.qos = 1;
    packet.packet_id = 9;
    packet.topic = kind % 32 == 30 ? statestore::inspection_topic : statestore::request_topic;
    packet.properties.raw = raw;
    packet.payload = input.short_text();
    send(client, encoded(packet));
  }
  void send(Client& client, std::string_view bytes) {
    while (!bytes.empty() && client.connection != nullptr && !client.connection->closed()) {
      const std::span<std::byte> space = client.connection->input_space();
      const std::size_t size = std::min(bytes.size(), space.size());
      if (size == 0) return;
      std::copy_n(as_bytes(bytes).begin(), size, space.begin());
      bytes.remove_prefix(size);
      client.connection->on_input(size, now_);
    }
  }
  void read(Client& client, std::size_t most) {
    if (client.connection == nullptr) return;
    std::string written;
    for (const Bytes part : client.connection->poll_output()) written += as_text(part);
    written.resize(std::min(written.size(), most));
    if (!written.empty()) client.connection->on_output(written.size(), now_);
    client.sent += written;
    for (;;) {
      const auto found = mqtt5::read_frame(client.sent);
      expect(found.state != mqtt5::FrameResult::State::malformed, "a server writes packets");
      if (found.state != mqtt5::FrameResult::State::frame) return;
      client.sent.erase(0, found.frame.total_size);
    }
  }
  void leave(Client& client) {
    if (client.connection == nullptr) return;
    client.connection->on_eof(now_);
    host_.release(*client.connection);
    client.connection = nullptr;
  }
  void pass(std::chrono::milliseconds time) {
    now_.mono += time;
    now_.wall += time;
    host_.tick(now_);
    const auto next = host_.next_deadline();
    expect(!next || *next > now_.mono, "what was due is done");
  }
  // Every connection that the host reports as having output is one of the clients.
  void collect() {
    while (Host::Connection* ready = host_.poll_ready()) {
      const auto known = std::ranges::find(clients_, ready, &Client::connection);
      expect(known != clients_.end(), "a connection that is ready is a client's");
      if (ready->closed()) leave(*known);
    }
    const store::Engine& engine = host_.engine();
    expect(engine.keys() <= max_keys && engine.bytes() <= max_bytes &&
               engine.watches() <= max_watches && engine.remembered_answers() <= 3 &&
               engine.remembered_fences() <= max_keys,
           "the store keeps to its limits");
  }

  Now now_{std::chrono::hours(1), std::chrono::milliseconds(1'700'000'000'000)};
  Host host_;
  std::array<Client, 4> clients_;
};

}  // namespace

void run(std::string_view bytes) {
  Input input(bytes);
  HostDrive drive(input.u8());
  drive.play(input);
}

std::vector<std::string> seeds() {
  using Drive = HostDrive;
  const auto step = [](Drive::Action action, unsigned client, std::uint8_t argument) {
    return std::string{static_cast<char>(Drive::of(action, client)), static_cast<char>(argument)};
  };
  const auto ask = [](unsigned client, std::uint8_t kind, const auto& packet) {
    return std::string{static_cast<char>(Drive::of(Drive::request, client)),
                       static_cast<char>(kind)} +
           short_text(encoded(packet));
  };
  using namespace statestore;
  using std::chrono::milliseconds;
  const std::string two = step(Drive::connect, 0, 1) + step(Drive::connect, 1, 2);
  const std::string set = ask(0, 1, SetRequest{"key", "value", SetCondition::none, {}});
  return {
      std::string("\0", 1) + two + ask(1, 0, KeyNotifyRequest{"key", false}) + set +
          ask(0, 2, DelRequest{"key"}) + step(Drive::take, 0, 255) + step(Drive::take, 1, 255),
      "\4" + two +
          ask(0, 7, SetRequest{"lock", "me", SetCondition::if_absent_or_equal, milliseconds(100)}) +
          step(Drive::pass_time, 0, 8) +
          ask(1, 23, SetRequest{"lock", "you", SetCondition::if_absent, {}}) +
          step(Drive::take, 1, 255),
      "\2" + two + set + ask(1, 2, GetRequest{"key"}) + ask(1, 3, VdelRequest{"key", "x"}) +
          step(Drive::take, 1, 30) + step(Drive::connect, 2, 1) + step(Drive::end, 1, 0),
      "\1" + two + ask(0, 15, GetRequest{"key"}) + step(Drive::connect, 3, 0) +
          step(Drive::pass_time, 0, 15),
      "\x08" + step(Drive::connect, 0, 40) + step(Drive::connect, 1, 4) + set};
}

}  // namespace sheaf::fuzz
