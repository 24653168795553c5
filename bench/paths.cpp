// paths: instructions of pure paths, for valgrind --tool=callgrind, which writes a file for each.
// There is no server and no clock, so the counts repeat. bench/instructions.py compares them with
// the stored ones.
//
// A session is given an operation and the bytes of its answer, and is asked for what it sends and
// for its events. A path of the engine is a request to the store.

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>
#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_ZERO_STATS
#define CALLGRIND_DUMP_STATS_AT(name) static_cast<void>(name)
#endif

#include "cluster/placement/locator.h"
#include "store/engine/engine.h"
#include "tests/protocol/memcached/session_harness.h"
#include "tests/protocol/resp/session_harness.h"
#include "tests/protocol/statestore/session_harness.h"

namespace {

using namespace std::chrono_literals;
using namespace sheaf;
using protocol::Event;
using protocol::Operation;
using protocol::Session;
using protocol::Verb;

constexpr std::size_t warm_up = 200;
constexpr std::size_t rounds = 1'000;
constexpr std::size_t batch = 100;

const std::string key = "a-key-with-25-bytes-00001";
const std::string value(100, 'v');

std::vector<std::string> make_keys() {
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < batch; ++i) {
    keys.push_back("a-key-with-25-bytes-" + std::to_string(10'000 + i));
  }
  return keys;
}

template <class Step>
void measure(const char* name, const Step& step) {
  for (std::size_t i = 0; i < warm_up; ++i) step(i);
  CALLGRIND_ZERO_STATS;
  for (std::size_t i = warm_up; i < warm_up + rounds; ++i) step(i);
  CALLGRIND_DUMP_STATS_AT(name);
}

// One operation with its answer. Counts the values that came.
void exchange(Session& session, Now now, const Operation& operation, std::string_view answer,
              std::size_t values) {
  if (!session.submit(operation, now)) throw std::runtime_error("an operation was refused");
  for (std::span<const Bytes> parts; !(parts = session.poll_output()).empty();) {
    std::size_t size = 0;
    for (const Bytes part : parts) size += part.size();
    session.on_output(size, now);
  }
  std::size_t found = 0;
  while (!answer.empty()) {
    const std::span<std::byte> space = session.input_space();
    const std::size_t size = std::min(answer.size(), space.size());
    std::copy_n(reinterpret_cast<const std::byte*>(answer.data()), size, space.begin());
    answer.remove_prefix(size);
    session.on_input(size, now);
    Event event;
    while (session.poll_event(event)) {
      const bool good = event.kind == Event::Kind::item || event.kind == Event::Kind::reply;
      if (!good) throw std::runtime_error("a session failed: " + session.close_reason().text);
      if (event.reply.status == protocol::Status::done && !event.reply.value.empty()) ++found;
    }
  }
  if (found != values) throw std::runtime_error("an answer has another number of values");
}

Operation with_keys(const std::vector<std::string_view>& keys) {
  Operation operation;
  operation.verb = Verb::get_many;
  operation.keys = keys;
  return operation;
}

std::string repeated(const std::string& text, std::size_t times) {
  std::string out;
  while (times-- > 0) out += text;
  return out;
}

void measure_redis(const std::vector<std::string_view>& keys) {
  namespace resp = protocol::resp;
  resp::ReadyWire wire;
  const auto ask = [&](const char* name, const Operation& operation, const std::string& answer,
                       std::size_t values) {
    measure(name,
            [&](std::size_t) { exchange(wire.session, wire.now(), operation, answer, values); });
  };
  const std::vector<std::string_view> words{"GET", key};
  ask("redis get", resp::get(key), resp::bulk(value), 1);
  ask("redis set", resp::set(key, value), "+OK\r\n", 0);
  ask("redis command", resp::command(words), resp::bulk(value), 1);
  ask("redis get of 100", with_keys(keys), repeated(resp::bulk(value), batch), batch);
}

std::string hexadecimal(std::size_t number) {
  char text[2 * sizeof number];
  return {text, std::to_chars(text, text + sizeof text, number, 16).ptr};
}

// The opaque of the first request is 2, and of each next one greater.
void measure_memcached(const std::vector<std::string_view>& keys) {
  namespace memcached = protocol::memcached;
  const std::string text = " f0 c7 O";
  const std::string size = std::to_string(value.size());
  const auto ask = [&](const char* name, const Operation& operation, std::size_t values,
                       const auto& answer) {
    memcached::MetaWire wire;
    std::vector<std::string> answers;
    for (std::size_t i = 0; i < warm_up + rounds; ++i) answers.push_back(answer(i + 2));
    measure(name, [&](std::size_t i) {
      exchange(wire.session, wire.now(), operation, answers[i], values);
    });
  };
  const auto hit = [&](std::size_t opaque) {
    return "VA " + size + text + hexadecimal(opaque) + "\r\n" + value + "\r\n";
  };
  std::string others;
  for (const std::string_view other : std::span(keys).subspan(1)) {
    others.append("VALUE ").append(other).append(" 0 " + size + " 7\r\n" + value + "\r\n");
  }
  ask("memcached get", memcached::operation(Verb::get, key), 1, hit);
  ask("memcached set", memcached::operation(Verb::set, key, value), 0,
      [](std::size_t opaque) { return "HD c7 O" + hexadecimal(opaque) + "\r\n"; });
  ask("memcached get of 100", with_keys(keys), batch,
      [&](std::size_t opaque) { return hit(opaque) + others + "END\r\n"; });
}

// Two sessions with one seed send the same; one says what the answers must name.
void measure_state_store(const char* name, const Operation& operation, const std::string& payload,
                         std::size_t values) {
  namespace statestore = protocol::statestore;
  std::vector<std::string> answers;
  statestore::Wire first;
  first.handshake();
  for (std::size_t i = 0; i < warm_up + rounds; ++i) {
    first.submit(operation);
    const auto request = first.take_requests().at(0);
    answers.push_back(statestore::puback(request.packet_id) +
                      statestore::reply_bytes(request.correlation, {payload}));
    first.feed(answers.back());
    first.take();
    first.elapsed = 1h;
  }
  statestore::Wire wire;
  wire.handshake();
  measure(name, [&](std::size_t i) {
    exchange(wire.session, wire.now(), operation, answers[i], values);
  });
}

void measure_engine() {
  store::Engine engine({});
  const std::string set = "*3\r\n$3\r\nSET\r\n$25\r\n" + key + "\r\n$100\r\n" + value + "\r\n";
  const std::string get = "*2\r\n$3\r\nGET\r\n$25\r\n" + key + "\r\n";
  const Now now{1h, 1'696'374'425'000ms};
  const auto ask = [&](const char* name, std::string_view payload) {
    measure(name, [&](std::size_t i) {
      const std::string correlation = std::to_string(1'000'000 + i);
      store::Request request;
      request.client_id = "sheaf-1";
      request.response_topic = "clients/sheaf-1/services/statestore/response";
      request.correlation = correlation;
      request.timestamp = "001696374425000:00001:sheaf-1";
      request.payload = payload;
      if (engine.execute(request, now).payload.front() == '-') {
        throw std::runtime_error("the engine refused a request");
      }
    });
  };
  ask("engine set", set);
  ask("engine get", get);
}

void measure_placement() {
  const auto ask = [&](const char* name, const std::string& option) {
    std::string uri = "memcached://c1,c2,c3,c4,c5,c6,c7,c8";
    const auto config = ClusterConfig::parse_uri(uri + option);
    if (!config) throw std::runtime_error(config.error().message());
    const auto owners = cluster::make_locator(*config);
    std::uint32_t sum = 0;
    measure(name, [&](std::size_t) { sum += owners->locate(key).node; });
    if (sum == 0) std::puts("all keys are on the first node");  // so that they are computed
  };
  ask("placement by slots", "");
  ask("placement by a ring of libmemcached", "?ring=libmemcached-weighted");
}

}  // namespace

int main() {
  try {
    const std::vector<std::string> texts = make_keys();
    const std::vector<std::string_view> keys(texts.begin(), texts.end());
    measure_redis(keys);
    measure_memcached(keys);
    measure_state_store("state store get", protocol::statestore::get(key),
                        "$100\r\n" + value + "\r\n", 1);
    measure_state_store("state store set", protocol::statestore::set(key, value), "+OK\r\n", 0);
    measure_engine();
    measure_placement();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "paths: %s\n", error.what());
    return 1;
  }
}
