// A thermostat: one process sets `living\setPoint`, another follows it by watching the key.
//
// thermostat set DEGREES URI   sets the key and ends
// thermostat follow URI        prints every change until it is ended
// thermostat [URI]             both in one process, a few changes; default embedded://3
//
// Ends with 2 if the servers do not report changes (memcached): only `set` works there.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>

#include <sheaf/client.h>
#include <sheaf/watch.h>

namespace {

using namespace std::chrono_literals;
using Kind = sheaf::WatchEvent::Kind;

constexpr const char* set_point_key = "living\\setPoint";

template <class T>
T must(sheaf::Result<T> result) {
  if (result) return std::move(*result);
  std::fprintf(stderr, "thermostat: %s\n", result.error().message().c_str());
  std::exit(1);
}

void set(const std::string& uri, const std::string& degrees) {
  sheaf::Client client = must(sheaf::Client::open(uri));
  must(client.set(set_point_key, degrees));
}

// Prints each event in one line; true for the degrees that end the demonstration.
bool print_event(const sheaf::WatchEvent& event, std::string_view last) {
  switch (event.kind) {
    case Kind::current:
    case Kind::set:
      std::printf("the set point is %s\n", event.value ? event.value->c_str() : "not there yet");
      return event.value == last;
    case Kind::deleted:
      std::printf("the set point was removed\n");
      return false;
    case Kind::gap:
      std::printf("we were blind for a while; what we missed follows\n");
      return false;
    case Kind::changed:
      return false;  // the current value follows
    case Kind::failed:
      std::printf("not watched now: %s\n", event.error->message().c_str());
      return false;
  }
  return false;
}

// Ends the program if keys cannot be watched.
void require_watches(const std::string& uri) {
  if (must(sheaf::Client::open(uri)).supports(sheaf::Feature::watch)) return;
  std::fprintf(stderr,
               "thermostat: these servers do not report changes, so no program can follow the key; "
               "a state store does (mqtt://, embedded://).\n");
  std::exit(2);
}

void follow(const std::string& uri, std::string_view last) {
  sheaf::Client client = must(sheaf::Client::open(uri));
  sheaf::Watch watch = must(client.watch(set_point_key));
  const auto give_up = std::chrono::steady_clock::now() + 30s;
  while (last.empty() || std::chrono::steady_clock::now() < give_up) {
    const auto event = must(watch.next({.wait = 1s}));
    if (event && print_event(*event, last)) return;
    std::fflush(stdout);
  }
  std::fprintf(stderr, "thermostat: the last change was not seen\n");
  std::exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string role = argc > 1 ? argv[1] : "embedded://3?name=thermostat";
  if (role == "set" && argc == 4) {
    set(argv[3], argv[2]);
  } else if (role == "follow" && argc == 3) {
    require_watches(argv[2]);
    follow(argv[2], {});
  } else if (argc <= 2) {
    require_watches(role);
    std::thread follower([&] { follow(role, "22.0"); });
    for (const char* degrees : {"20.5", "21.0", "21.5", "22.0"}) {
      set(role, degrees);
      std::this_thread::sleep_for(20ms);
    }
    follower.join();
  } else {
    std::fprintf(stderr, "usage: thermostat [set DEGREES URI | follow URI | URI]\n");
    return 2;
  }
}
