// A bridge to OpenTelemetry: every request becomes a span below the span that was current when the
// call was made. The spans are written as lines of OTLP in JSON, which a collector reads from a
// file (its receiver `otlpjsonfile`). If you use an SDK, start and end one of its spans instead.
//
// usage: tracing [URI]    embedded://3 if none is given

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <string_view>

#include <sheaf/client.h>

namespace {

using Clock = std::chrono::system_clock;

// The hexadecimal digits of a unique identifier.
std::string make_id(int words) {
  static std::random_device random;
  std::string id;
  char digits[9];
  for (int i = 0; i < words; ++i) {
    std::snprintf(digits, sizeof digits, "%08x", random());
    id += digits;
  }
  return id;
}

std::string nanoseconds(Clock::time_point time) {
  using std::chrono::nanoseconds;
  return std::to_string(std::chrono::duration_cast<nanoseconds>(time.time_since_epoch()).count());
}

// A thread's current trace, and the span in it.
struct Span {
  std::string trace = make_id(4);
  std::string id = make_id(2);
};
thread_local std::shared_ptr<Span> current;

std::string attribute(std::string_view name, std::string_view value) {
  return "{\"key\":\"" + std::string(name) + "\",\"value\":{\"stringValue\":\"" +
         std::string(value) + "\"}}";
}
std::string attribute(std::string_view name, std::uint32_t value) {
  return "{\"key\":\"" + std::string(name) + "\",\"value\":{\"intValue\":\"" +
         std::to_string(value) + "\"}}";
}

// Uses the semantic conventions for database clients.
void write_span(const sheaf::RequestEvent& event, std::uint64_t missed) {
  if (missed > 0) std::fprintf(stderr, "%llu spans are missing\n", (unsigned long long)missed);
  const auto parent = std::static_pointer_cast<Span>(event.parent);
  std::string span = "{\"traceId\":\"" + (parent ? parent->trace : make_id(4)) +
                     "\",\"spanId\":\"" + make_id(2) + "\"";
  if (parent) span += ",\"parentSpanId\":\"" + parent->id + "\"";
  const auto end = event.start + std::chrono::duration_cast<Clock::duration>(event.elapsed);
  span += ",\"name\":\"" + event.operation + " " + event.address + "\",\"kind\":3";
  span += ",\"startTimeUnixNano\":\"" + nanoseconds(event.start) + "\",\"endTimeUnixNano\":\"" +
          nanoseconds(end) + "\",\"attributes\":[" + attribute("db.system.name", event.system) +
          "," + attribute("db.operation.name", event.operation) + "," +
          attribute("server.address", event.address);
  if (event.port != 0) span += "," + attribute("server.port", event.port);
  if (event.keys > 1) span += "," + attribute("db.operation.batch.size", event.keys);
  if (event.outcome) span += "," + attribute("error.type", to_string(event.reason));
  span += "],\"status\":{\"code\":" + std::string(event.outcome ? "2" : "0") + "}}";
  std::printf(
      "{\"resourceSpans\":[{\"scopeSpans\":[{\"scope\":{\"name\":\"sheaf\"},"
      "\"spans\":[%s]}]}]}\n",
      span.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  sheaf::ClientOptions options;
  options.observer.parent = [] { return current; };
  options.observer.ended = write_span;
  auto client = sheaf::Client::open(argc > 1 ? argv[1] : "embedded://3", std::move(options));
  if (!client) return std::fprintf(stderr, "%s\n", client.error().message().c_str()), 2;

  current = std::make_shared<Span>();  // the application works on a request of its own
  const std::string_view keys[] = {"line4/speed", "line4/torque", "line4/heat"};
  const auto set = client->set("line4/speed", "21.5", {.ttl = std::chrono::minutes(1)});
  if (!set) std::fprintf(stderr, "%s\n", set.error().why().c_str());
  for (const auto& [key, got] : client->get_many(keys)) {
    if (!got) std::fprintf(stderr, "%s: %s\n", key.c_str(), got.error().why().c_str());
  }
}
