#pragma once

// A whole client and the scripted servers of its cluster, and the ends of its calls, as one line
// each.
//
// Thread rule: any thread.

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sheaf/client.h>

#include "protocol/resp/wire/hash_slot.h"
#include "tests/support/scripted_cluster.h"

namespace sheaf::test {

using namespace std::chrono_literals;

inline constexpr auto own_pause = 10s;  // how long this process may stall
inline constexpr auto short_time = 300ms;
inline constexpr const char* no_time_left = " (no time is left for another attempt)";

// True if a call ended because servers redirected it until its deadline, perhaps with the last
// request in flight, or on its way to a server that is not connected yet.
inline bool is_out_of_time(const std::string& end) {
  return end.starts_with("unknown, timed out: ") || end.starts_with("not sent, timed out: ") ||
         (end.starts_with("refused, timed out: ") && end.ends_with(no_time_left));
}

// ---- calls

enum class Call : unsigned char { get, set, add, remove };  // add: only if the key is absent
inline constexpr Call every_call[] = {Call::get, Call::set, Call::add, Call::remove};

// The command of a call, as a server receives it.
inline std::string command_of(Call call, const std::string& key) {
  switch (call) {
    case Call::get:
      return "GET " + key;
    case Call::set:
      return "SET " + key + " v";
    case Call::add:
      return "SET " + key + " v NX";
    case Call::remove:
      break;
  }
  return "DEL " + key;
}

// "refused, timed out: TRYAGAIN ..."; without the reason if the server gives none.
inline std::string in_words(const Error& error) {
  std::string words(to_string(error.outcome));
  if (error.reason != Reason::other) words.append(", ").append(to_string(error.reason));
  return words + ": " + error.text;
}
inline std::string in_words(const Result<GetResult>& got) {
  if (!got) return in_words(got.error());
  return *got ? (*got)->data : "absent";
}
inline std::string in_words(const Result<SetResult>& stored) {
  if (!stored) return in_words(stored.error());
  return stored->stored ? "stored" : "not stored";
}
inline std::string in_words(const Result<RemoveResult>& removed) {
  if (!removed) return in_words(removed.error());
  return *removed == RemoveResult::removed ? "removed" : "absent";
}

// The result of a call that this server carried out.
inline std::string success_of(Call call, const std::string& key, std::size_t server) {
  switch (call) {
    case Call::get:
      return std::to_string(server) + "/" + key;
    case Call::set:
    case Call::add:
      return "stored";
    case Call::remove:
      break;
  }
  return "removed";
}

inline std::string make(Client& client, Call call, const std::string& key,
                        std::chrono::milliseconds timeout) {
  switch (call) {
    case Call::get:
      return in_words(client.get(key, {.timeout = timeout}));
    case Call::set:
      return in_words(client.set(key, "v", {.timeout = timeout}));
    case Call::add: {
      SetOptions options;
      options.condition = SetCondition::if_absent;
      options.timeout = timeout;
      return in_words(client.set(key, "v", options));
    }
    case Call::remove: {
      RemoveOptions options;
      options.timeout = timeout;
      return in_words(client.remove(key, options));
    }
  }
  return {};
}

// ---- scenes

class Scene {
 public:
  using Commands = std::vector<std::string>;

  Scene() : Scene(ScriptedCluster::Hosts(3, "127.0.0.1")) {}
  explicit Scene(const ScriptedCluster::Hosts& members,
                 const ScriptedCluster::Hosts& outsiders = {}, bool one_port = false)
      : servers(members, outsiders, one_port) {}

  // The first call opens the client, with the present `uri`.
  Client& client() {
    if (!client_) {
      auto opened = Client::open(uri.empty() ? servers.uri({0}) : uri);
      if (!opened) throw std::runtime_error(opened.error().message());
      client_.emplace(*std::move(opened));
    }
    return *client_;
  }
  // Makes a call and returns how it ended. It must not end later than its deadline.
  std::string call(Call call, const std::string& key, std::chrono::milliseconds timeout = 5s) {
    Client& of = client();
    const auto begun = ScriptedCluster::Clock::now();
    std::string end = make(of, call, key, timeout);
    took = ScriptedCluster::Clock::now() - begun;
    EXPECT_LT(took, timeout + own_pause) << end;
    return end;
  }
  // Makes all calls at the same time, one for each key, with the kinds of call in turn.
  Commands call_all(const Commands& keys, std::chrono::milliseconds timeout,
                    std::span<const Call> calls_of_keys = every_call) {
    Client& of = client();
    std::vector<std::future<std::string>> calls;
    const auto begun = ScriptedCluster::Clock::now();
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const Call call = calls_of_keys[i % calls_of_keys.size()];
      calls.push_back(std::async(std::launch::async, [&of, &keys, i, call, timeout] {
        return make(of, call, keys[i], timeout);
      }));
    }
    Commands ends;
    for (auto& each : calls) ends.push_back(each.get());
    took = ScriptedCluster::Clock::now() - begun;
    EXPECT_LT(took, timeout + own_pause);
    return ends;
  }

  static std::string slot_of(const std::string& key) {
    return std::to_string(protocol::resp::hash_slot(key));
  }
  std::string port(std::size_t server) const { return std::to_string(servers.port(server)); }
  // "-MOVED 7 127.0.0.1:1234"; the address may be another text.
  static std::string redirect(std::string_view word, const std::string& key,
                              const std::string& address) {
    return "-" + std::string(word) + " " + slot_of(key) + " " + address + "\r\n";
  }
  std::string moved(const std::string& key, std::size_t to) const {
    return redirect("MOVED", key, servers.address(to));
  }
  std::string ask(const std::string& key, std::size_t to) const {
    return redirect("ASK", key, servers.address(to));
  }

  ScriptedCluster servers;
  std::string uri;  // empty: server 0 is the seed
  std::chrono::nanoseconds took{0};

 private:
  std::optional<Client> client_;
};

// Runs the test for all cases at the same time, since most of a test is waiting.
template <class Cases, class Test>
void at_once(const Cases& cases, const Test& test) {
  std::vector<std::future<void>> runs;
  for (const auto& each : cases) {
    runs.push_back(std::async(std::launch::async, [&test, &each] { test(each); }));
  }
  for (auto& run : runs) run.get();
}

template <class Test>
void for_every_call(const Test& test) {
  at_once(every_call, test);
}

inline const char* name_of(Call call) {
  constexpr const char* names[] = {"get", "set", "add", "remove"};
  return names[static_cast<unsigned>(call)];
}

}  // namespace sheaf::test
