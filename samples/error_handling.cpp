// Error handling: what each outcome means, and a policy that a program adds. The library repeats
// nothing on its own; its errors say when repeating is safe.
//
// error_handling [URI]   default embedded://3

#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <utility>

#include <sheaf/client.h>

namespace {

using namespace std::chrono_literals;

// What a caller can do about an error.
enum class Advice { fix_the_call, try_again, look_first, give_up };

Advice advice(const sheaf::Error& error) {
  switch (error.outcome) {
    case sheaf::Outcome::invalid:      // an argument or the configuration is wrong
    case sheaf::Outcome::unsupported:  // this kind of endpoint cannot do it
      return Advice::fix_the_call;
    case sheaf::Outcome::not_sent:    // certainly not executed: safe to repeat
    case sheaf::Outcome::overloaded:  // refused here because there are too many: try later
      return Advice::try_again;
    case sheaf::Outcome::unknown:  // may have happened, or may still happen: read before writing
                                   // again
      return Advice::look_first;
    case sheaf::Outcome::refused:   // the server's own answer; error.reason says which
    case sheaf::Outcome::shutdown:  // the client is closing
      return Advice::give_up;
  }
  return Advice::give_up;
}

// Projects that use exceptions turn results into their own exceptions.
struct CacheError : std::runtime_error {
  explicit CacheError(sheaf::Error error)
      : std::runtime_error(error.message()), details(std::move(error)) {}
  sheaf::Error details;
};
template <class T>
T or_throw(sheaf::Result<T> result) {
  if (!result) throw CacheError(std::move(result.error()));
  return std::move(*result);
}

// Repeats a call while that is safe, within its own deadline.
template <class Call>
auto with_retries(Call call, std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  auto result = call();
  while (!result && advice(result.error()) == Advice::try_again &&
         std::chrono::steady_clock::now() < end) {
    result = call();
  }
  return result;
}

// Prints the error; true if its advice is the expected one.
bool print_error(const char* what, const sheaf::Error& error, Advice expected) {
  std::printf("%s\n  %s\n", what, error.message().c_str());
  return advice(error) == expected;
}

}  // namespace

int main(int argc, char** argv) {
  bool as_promised = true;

  // A wrong URI is rejected before anything is connected.
  const auto bad = sheaf::Client::open("mqtt://broker:99999");
  as_promised &=
      !bad && print_error("A port that does not exist:", bad.error(), Advice::fix_the_call);

  auto client = sheaf::Client::open(argc > 1 ? argv[1] : "embedded://3");
  if (!client) return std::fprintf(stderr, "%s\n", client.error().message().c_str()), 2;

  // A missing key is a result, not an error.
  as_promised &= client->remove("error_handling/a").has_value();
  const auto absent = client->get("error_handling/a");
  as_promised &= absent && !absent->has_value();

  const auto empty = client->get("");
  as_promised &= !empty && print_error("An empty key:", empty.error(), Advice::fix_the_call);

  sheaf::SetOptions no_life;
  no_life.ttl = 0ms;
  const auto dead = client->set("error_handling/a", "v", no_life);
  as_promised &= !dead && print_error("No time to live:", dead.error(), Advice::fix_the_call);

  // Nothing listens on the discard port: the request is not sent, so repeating is safe, if useless.
  auto nobody = sheaf::Client::open("mqtt://127.0.0.1:9?timeout=200ms");
  if (!nobody) return std::fprintf(stderr, "%s\n", nobody.error().message().c_str()), 2;
  const auto lost = with_retries([&] { return nobody->get("k"); }, 300ms);
  as_promised &=
      !lost && print_error("A broker that is not there:", lost.error(), Advice::try_again);

  try {
    or_throw(client->set("error_handling/a", "v"));
    or_throw(client->set("", "v"));
    as_promised = false;
  } catch (const CacheError& error) {
    as_promised &= print_error("As an exception:", error.details, Advice::fix_the_call);
  }
  return as_promised ? 0 : 1;
}
