// The main job in one program: a cache over several brokers, hundreds of keys in one parallel
// batch, a conditional write, a lock with a fencing token, a shared list, a watch, and a broker
// that stops answering while the others continue.
//
// quickstart [URI] [--pids P1,P2,...]
//   URI     the brokers, default embedded://3 (three stores inside this process)
//   --pids  their process ids in the URI's order; the first is paused and continued

#include <sys/types.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <sheaf/client.h>
#include <sheaf/list.h>
#include <sheaf/locker.h>
#include <sheaf/watch.h>

namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;
using Failures = std::map<std::string, std::size_t>;  // node -> how many of its keys failed

constexpr std::size_t key_count = 600;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// Ends the program if the library breaks a promise.
void require(bool holds, const std::string& promise) {
  if (holds) return;
  std::fprintf(stderr, "quickstart: expectation failed: %s\n", promise.c_str());
  std::exit(1);
}

std::string key_of(std::size_t i) {
  return "line" + std::to_string(i % 6) + "/sensor" + std::to_string(i);
}
std::string value_of(std::size_t i) { return std::to_string(20 + i % 10) + ".5 C"; }

std::vector<std::string> all_keys() {
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < key_count; ++i) keys.push_back(key_of(i));
  return keys;
}

// 1. Values stay in the cache for ten minutes. Every key has one home.
void fill(sheaf::Client& client, const std::vector<std::string>& keys) {
  std::vector<std::string> values;
  for (std::size_t i = 0; i < key_count; ++i) values.push_back(value_of(i));
  std::vector<sheaf::SetItem> items;
  for (std::size_t i = 0; i < key_count; ++i) items.push_back({keys[i], values[i]});
  sheaf::BatchSetOptions options;
  options.ttl = 10min;
  options.timeout = 5s;
  const auto start = Clock::now();
  for (const auto& [key, set] : client.set_many(items, options)) {
    require(set.has_value(), set ? "" : set.error().message());
  }
  std::printf("\n1. %zu values cached for ten minutes in %.1f ms. Where they went:\n", key_count,
              milliseconds_since(start));
  std::map<std::string, std::size_t> homes;
  for (const auto& key : keys) ++homes[client.locate(key).value().node];
  for (const auto& node : client.config().nodes) {
    const std::size_t count = homes[node.identity()];
    std::printf("     %-21s %4zu  %s\n", node.identity().c_str(), count,
                std::string(count / 8, '#').c_str());
  }
}

// Reads every key in one batch. Returns how many keys of each node failed, and one error's message.
Failures read_all(sheaf::Client& client, const std::vector<std::string>& keys,
                  std::string& sentence) {
  const std::vector<std::string_view> views(keys.begin(), keys.end());
  const auto results = client.get_many(views, {.timeout = 1s});
  require(results.size() == key_count, "one outcome for each key");
  Failures failures;
  for (std::size_t i = 0; i < key_count; ++i) {
    const auto& got = results[i].result;
    if (got) {
      require(*got && (*got)->data == value_of(i), "the value of " + keys[i]);
    } else {
      ++failures[got.error().node];
      sentence = got.error().message();
    }
  }
  return failures;
}

// 2. One batch instead of hundreds of round trips.
void read_in_one_batch(sheaf::Client& client, const std::vector<std::string>& keys) {
  std::string sentence;
  auto start = Clock::now();
  require(read_all(client, keys, sentence).empty(), sentence);
  const double batch = milliseconds_since(start);
  start = Clock::now();
  for (const auto& key : keys) require(client.get(key).has_value(), "a get of " + key);
  const double single = milliseconds_since(start);
  std::printf(
      "\n2. All %zu read in one parallel batch: %.1f ms. One after another: %.1f ms (%.0f us "
      "each).\n",
      key_count, batch, single, single * 1000 / static_cast<double>(key_count));
}

// 3. If two writers use if_absent, one wins, and the other's result says so. A value with a short
// time to live expires.
void write_conditionally(sheaf::Client& client) {
  require(client.remove("shift/leader").has_value(), "a remove");
  sheaf::SetOptions once;
  once.condition = sheaf::SetCondition::if_absent;
  once.ttl = 50ms;
  const auto ann = client.set("shift/leader", "Ann", once);
  const auto bob = client.set("shift/leader", "Bob", once);
  require(ann && ann->stored && bob && !bob->stored, "if_absent lets one writer win");
  std::printf(
      "\n3. \"shift/leader\" set by Ann if absent: stored as version %s.\n"
      "   Set by Bob if absent: not stored, Ann holds it.\n",
      ann->version.text.c_str());
  const auto deadline = Clock::now() + 5s;
  auto got = client.get("shift/leader");
  while (got && got->has_value() && Clock::now() < deadline) {
    std::this_thread::sleep_for(5ms);
    got = client.get("shift/leader");
  }
  require(got && !got->has_value(), "a value with a time to live of 50 ms expires");
  std::printf("   Its 50 ms are over: absent again.\n");
}

// 4. One counter, four writers: the lock admits one at a time, and its token keeps a late writer
// out.
void count_under_a_lock(sheaf::Client& client) {
  constexpr int writer_count = 4;
  constexpr int round_count = 10;
  const std::string counter = "{shift/lock}counter";  // the tag puts it on the lock's node
  require(client.remove(counter).has_value(), "a remove");
  const auto start = Clock::now();
  std::vector<std::thread> writers;
  for (int i = 0; i < writer_count; ++i) {
    writers.emplace_back([&] {
      sheaf::Locker locker(client);
      for (int round = 0; round < round_count; ++round) {
        auto lock = locker.lock("shift/lock", {.wait = 10s});
        require(lock.held(), "the lock is acquired in time");
        const auto before = lock->read(counter);
        require(before.has_value(), "a fenced read");
        const long count = *before ? std::strtol((*before)->data.c_str(), nullptr, 10) : 0;
        const auto written = lock->write(counter, std::to_string(count + 1));
        require(written && written->stored, "a fenced write");
      }
    });
  }
  for (auto& writer : writers) writer.join();
  const auto total = client.get(counter);
  require(total && *total && (*total)->data == std::to_string(writer_count * round_count),
          "no increment is lost");
  std::printf(
      "\n4. Four writers added 1 to one counter ten times each, under a lock: %s, in %.0f ms.\n",
      (*total)->data.c_str(), milliseconds_since(start));

  sheaf::Locker locker(client);
  auto old_holder = locker.try_lock("shift/lock");
  require(old_holder.held(), "a free lock");
  const sheaf::FencingToken late = old_holder->token();
  require(old_holder->release().has_value(), "a release");
  auto holder = locker.lock("shift/lock", {.wait = 10s});
  require(holder && holder->read(counter), "the next holder");
  const auto refused = client.set(counter, "0", {.fence = late});
  require(!refused.has_value(), "a late writer is refused");
  std::printf("   A former holder that writes late is refused: \"%s\"\n",
              refused.error().message().c_str());
}

// 5. A list that several writers push to at once.
void share_a_list(sheaf::Client& client) {
  sheaf::List list(client, "shift/log");
  require(list.clear().has_value(), "an empty list");
  const auto start = Clock::now();
  std::vector<std::thread> writers;
  for (const char* name : {"Ann", "Bob", "Cem", "Dot"}) {
    writers.emplace_back([&, name] {
      for (int i = 0; i < 25; ++i) {
        require(list.push(std::string(name) + " " + std::to_string(i)).has_value(), "a push");
      }
    });
  }
  for (auto& writer : writers) writer.join();
  const auto length = list.length();
  const auto last = list.range(-3, -1);
  require(length && *length == 100 && last && last->size() == 3, "no item is lost");
  std::printf(
      "\n5. Four writers pushed 25 items each to one list in %.0f ms. It has %llu; the last:",
      milliseconds_since(start), static_cast<unsigned long long>(*length));
  for (const auto& item : *last) std::printf(" \"%s\"", item.c_str());
  std::printf(".\n");
}

// 6. A watch reports the current value first, then every change.
void watch_a_key(sheaf::Client& client) {
  require(client.set("shift/state", "early").has_value(), "a set");
  auto watch = client.watch("shift/state");
  require(watch.has_value(), "a watch");
  std::printf("\n6. \"shift/state\" is watched:");
  std::string seen;
  for (const char* next : {"late", "night", ""}) {
    const auto event = watch->next({.wait = 5s});
    require(event && event->has_value() && (*event)->value, "an event for each change");
    seen = *(*event)->value;
    std::printf(" %s %s;", std::string(to_string((*event)->kind)).c_str(), seen.c_str());
    if (*next != '\0') require(client.set("shift/state", next).has_value(), "a set");
  }
  require(seen == "night", "the newest value comes last");
  std::printf(" all in order.\n");
}

// Pauses a process while it lives.
class Paused {
 public:
  explicit Paused(pid_t pid) : pid_(pid) { require(kill(pid_, SIGSTOP) == 0, "a broker of ours"); }
  ~Paused() { resume(); }
  void resume() {
    if (pid_ != 0) kill(pid_, SIGCONT);
    pid_ = 0;
  }

 private:
  pid_t pid_;
};

// 7. A broker that stops answering fails only its own keys.
void lose_a_broker(sheaf::Client& client, const std::vector<std::string>& keys, pid_t pid) {
  const std::string node = client.config().nodes.front().identity();
  const auto lives_there = [&](const auto& key) { return client.locate(key).value().node == node; };
  const auto its_keys = static_cast<std::size_t>(std::ranges::count_if(keys, lives_there));
  std::string sentence;
  Paused broker(pid);
  std::printf("\n7. The broker %s stops answering.\n", node.c_str());
  for (const char* batch : {"First", "Second"}) {
    const auto start = Clock::now();
    const Failures failures = read_all(client, keys, sentence);
    const double took = milliseconds_since(start);
    require(failures == Failures{{node, its_keys}}, "only the keys of " + node + " fail");
    std::printf("   %s batch: %zu keys read, the %zu keys of that broker failed, after %.1f ms.\n",
                batch, key_count - its_keys, its_keys, took);
  }
  std::printf("   \"%s\"\n", sentence.c_str());

  broker.resume();
  const auto start = Clock::now();
  const std::string key = *std::ranges::find_if(keys, lives_there);
  while (!client.get(key, {.timeout = 200ms}) && Clock::now() - start < 10s) {
    std::this_thread::sleep_for(5ms);
  }
  std::printf("   It continues: the first success came after %.0f ms", milliseconds_since(start));
  require(read_all(client, keys, sentence).empty(), sentence);
  std::printf(", and all %zu keys are there again.\n", key_count);
}

}  // namespace

int main(int argc, char** argv) {
  std::string uri = "embedded://3";
  pid_t first_pid = 0;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--pids" && i + 1 < argc) {
      first_pid = static_cast<pid_t>(std::strtol(argv[++i], nullptr, 10));
    } else {
      uri = argv[i];
    }
  }
  auto client = sheaf::Client::open(uri);
  if (!client) {
    std::fprintf(stderr, "quickstart: %s\n", client.error().message().c_str());
    return 2;
  }
  std::printf("One client, %zu nodes.\n", client->config().nodes.size());
  const auto keys = all_keys();
  fill(*client, keys);
  read_in_one_batch(*client, keys);
  write_conditionally(*client);
  count_under_a_lock(*client);
  share_a_list(*client);
  watch_a_key(*client);
  if (first_pid > 0) lose_a_broker(*client, keys, first_pid);
  std::printf("\nDone: every value came back as it was written.\n");
}
