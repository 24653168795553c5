// Several sessions change the same keys of one store, in random order. Requests are given up,
// connections end, and rights are given and taken. Whatever happens, a change that was done was
// done once, on the value that it was meant for.

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>
#include <set>

#include "base/random.h"
#include "protocol/resp/changes/change.h"
#include "tests/protocol/resp/session_harness.h"

namespace sheaf::protocol::resp {
namespace {

using OwnedWords = std::vector<std::string>;

// The values of all keys, and how often each was written.
struct Store {
  struct Entry {
    std::optional<std::string> value{};
    std::uint64_t writes = 0;
  };
  std::map<std::string, Entry> keys;

  const std::optional<std::string>& get(const std::string& key) { return keys[key].value; }
  void set(const std::string& key, std::optional<std::string> value) {
    keys[key].value = std::move(value);
    ++keys[key].writes;
  }
};

// The rights that a server gives. Comparisons, scripts and transactions have the same effect.
enum class Rights : std::uint8_t { all, no_scripts, changing };

// The server's end of one connection: the part of Redis that a client's changes need, by its rules.
class ChangeServer {
 public:
  ChangeServer(Store& store, Server kind, Rights rights, const Seed& seed)
      : store_(store), kind_(kind), rights_(rights), random_(seed) {}

  std::string answer(std::string_view bytes) {
    received_ += bytes;
    std::string replies;
    ReplyReader reader;
    while (!received_.empty() && reader.read(received_) == ReplyReader::Progress::complete) {
      OwnedWords words;
      for (const Value word : reader.root()) words.emplace_back(word.text());
      replies += execute(words);
      received_.erase(0, reader.size());
    }
    return replies;
  }

 private:
  std::string execute(const OwnedWords& words) {
    const std::string& name = words[0];
    if (name == "HELLO") return hello_of(kind_);
    if (name == "CLUSTER") return bulk(server_id);
    if (name == "PING") return "+PONG\r\n";
    if (name == "CLIENT") return "+OK\r\n";
    if (name == "EXEC") return end_transaction();
    if (name == "DISCARD") {
      watched_.clear();
      queued_.clear();
      return std::exchange(queueing_, false) ? "+OK\r\n" : "-ERR DISCARD without MULTI\r\n";
    }
    if (rights_ == Rights::no_scripts && name == "EVAL") return "-NOPERM no scripts\r\n";
    const bool is_of_transaction = name == "MULTI" || name == "WATCH";
    const bool may_be_forbidden = is_of_transaction || compares(words) || name == "EVAL";
    if (rights_ == Rights::changing && may_be_forbidden) {
      if (random_.below(4) == 0) return "-NOPERM not now\r\n";
    }
    if (queueing_) {
      queued_.push_back(words);
      return "+QUEUED\r\n";
    }
    if (name == "MULTI") {
      queueing_ = true;
      return "+OK\r\n";
    }
    if (name == "WATCH") {
      watched_.emplace(words[1], store_.keys[words[1]].writes);
      return "+OK\r\n";
    }
    if (name == "UNWATCH") {
      watched_.clear();
      return "+OK\r\n";
    }
    return name == "EVAL" ? run_script(words) : run(words);
  }
  std::string end_transaction() {
    if (!std::exchange(queueing_, false)) return "-ERR EXEC without MULTI\r\n";
    bool intact = true;
    for (const auto& [key, writes] : std::exchange(watched_, {})) {
      intact = intact && store_.keys[key].writes == writes;
    }
    const auto commands = std::exchange(queued_, {});
    if (!intact) return "*-1\r\n";
    std::string reply = "*" + std::to_string(commands.size()) + "\r\n";
    for (const OwnedWords& words : commands) reply += run(words);
    return reply;
  }
  static bool compares(const OwnedWords& words) {
    return words[0] == "DELIFEQ" || (words.size() > 3 && words[3] == "IFEQ");
  }
  std::string run(const OwnedWords& words) {
    const std::string& key = words[1];
    if (words[0] == "GET") return store_.get(key) ? bulk(*store_.get(key)) : "$-1\r\n";
    if (words[0] == "SET") {
      if (compares(words) && store_.get(key) != words[4]) return "$-1\r\n";
      store_.set(key, words[2]);
      return "+OK\r\n";
    }
    if (words[0] == "DELIFEQ" && store_.get(key) != words[2]) return ":0\r\n";
    const bool there = store_.get(key).has_value();
    if (there) store_.set(key, std::nullopt);
    return there ? ":1\r\n" : ":0\r\n";
  }
  // Recognises a script by its number of words and its first argument, which differ in these tests.
  std::string run_script(const OwnedWords& words) {
    const std::string& key = words[3];
    const auto& present = store_.get(key);
    if (words[4] == "INCRBY") {
      const std::int64_t number = present ? std::stoll(*present) + std::stoll(words[5]) : 0;
      store_.set(key, std::to_string(number));
      return bulk(*store_.get(key));
    }
    if (words.size() == 5) {  // append
      if (!present) return ":-1\r\n";
      store_.set(key, *present + words[4]);
      return ":1\r\n";
    }
    if (!present) return ":-1\r\n";
    if (*present != words[4]) return ":0\r\n";
    store_.set(key, words[5]);
    return ":1\r\n";
  }

  Store& store_;
  const Server kind_;
  const Rights rights_;
  Random random_;
  bool queueing_ = false;
  std::map<std::string, std::uint64_t> watched_;
  std::vector<OwnedWords> queued_;
  std::string received_;
};

// A client with one connection at a time.
class Changer {
 public:
  Changer(Store& store, Server kind, Rights rights, const Seed& seed)
      : store_(store), kind_(kind), rights_(rights), random_(seed) {
    connect();
  }

  void step() {
    switch (random_.below(8)) {
      case 0:
      case 1:
        return submit();
      case 2:
      case 3:
        to_server_ += wire_->take(random_.below(5) == 0 ? random_.below(50) : whole);
        return reconnect();
      case 4:
      case 5: {
        const std::size_t size = std::min<std::size_t>(to_server_.size(), random_.below(200));
        to_client_ += server_->answer(to_server_.substr(0, size));
        to_server_.erase(0, size);
        return;
      }
      case 6: {
        const std::size_t size = std::min<std::size_t>(to_client_.size(), random_.below(100));
        wire_->feed(to_client_.substr(0, size));
        to_client_.erase(0, size);
        return settle();
      }
      default:
        if (random_.below(10) == 0) cancel();
        if (random_.below(100) == 0) disconnect();
    }
  }
  void finish() {
    for (int i = 0; i < 5'000 && !asked_.empty(); ++i) {  // transactions take turns
      to_client_ += server_->answer(std::exchange(to_server_, {}) + wire_->take());
      wire_->feed(std::exchange(to_client_, {}));
      settle();
    }
    EXPECT_TRUE(asked_.empty()) << "a change never ends";
  }

  std::uint64_t added = 0;      // done
  std::uint64_t maybe = 0;      // perhaps
  std::set<std::string> marks;  // appended
  std::set<std::string> doubtful;
  std::vector<std::pair<std::string, std::string>> swaps;  // from, to

 private:
  static constexpr auto whole = static_cast<std::size_t>(-1);
  using Id = std::pair<std::uint32_t, std::uint32_t>;
  struct Asked {
    Verb verb;
    std::string value{};
    std::string from{};  // if_version
  };

  void connect() {
    server_ = std::make_unique<ChangeServer>(store_, kind_, rights_, random_.fork());
    wire_ = std::make_unique<Wire>();
    wire_->session.start(wire_->now());
    for (int i = 0; i < 4; ++i) wire_->feed(server_->answer(wire_->take()));
    EXPECT_TRUE(wire_->session.ready());
    wire_->events.clear();
    to_server_.clear();
    to_client_.clear();
  }
  void submit() {
    auto asked = std::make_unique<Asked>();
    Operation made;
    const std::uint64_t kind = random_.below(4);
    if (kind == 3) {  // other requests, answered among the changes
      asked->verb = Verb::get;
      const Ticket ticket = wire_->submit(get("cell"));
      asked_.emplace(Id(ticket.slot, ticket.generation), std::move(asked));
      return;
    }
    asked->verb = kind == 0 ? Verb::increment : kind == 1 ? Verb::append : Verb::set;
    asked->value = "<" + std::to_string(random_.u64()) + ">";
    made = operation(asked->verb, kind == 0 ? "counter" : kind == 1 ? "text" : "cell");
    if (kind == 0) made.initial = 0;
    if (kind != 0) made.value = asked->value;
    ValueVersion version;
    if (kind == 2) {
      asked->from = store_.get("cell").value_or("");
      version = ValueVersion::of(asked->from);
      made.condition = Condition::if_version;
      made.version = version.text();
    }
    const Ticket ticket = wire_->submit(made);
    ASSERT_NE(ticket.generation, 0u);
    asked_.emplace(Id(ticket.slot, ticket.generation), std::move(asked));
  }
  void cancel() {
    if (asked_.empty()) return;
    const auto victim = asked_.begin();
    const Sent sent =
        wire_->session.cancel({victim->first.first, victim->first.second}, wire_->now());
    if (sent == Sent::maybe) doubt(*victim->second);
    // The output may still borrow its texts if the connection continues.
    given_up_.push_back(std::move(victim->second));
    asked_.erase(victim);
    settle();
  }
  void disconnect() {
    wire_->session.on_eof(wire_->now());
    reconnect();
  }
  // Connects again if the connection has ended. The server executes what it has received.
  void reconnect() {
    if (!wire_->session.closed()) return;
    const CloseReason why = wire_->session.close_reason();
    EXPECT_EQ(why.reason, Reason::connection_lost) << why.text;
    static_cast<void>(server_->answer(to_server_));
    wire_->poll();
    settle();
    EXPECT_TRUE(asked_.empty());
    connect();
  }
  void settle() {
    while (!wire_->events.empty()) {
      const Seen seen = wire_->next();
      const auto found = asked_.find({seen.ticket.slot, seen.ticket.generation});
      if (found == asked_.end()) continue;
      if (seen.kind == Event::Kind::reply && seen.status == Status::done) {
        done(*found->second);
      } else if (seen.kind == Event::Kind::failed && seen.sent == Sent::maybe) {
        doubt(*found->second);
      }
      asked_.erase(found);
    }
    EXPECT_TRUE(!wire_->session.closed() || asked_.empty()) << wire_->session.close_reason().text;
  }
  void done(const Asked& asked) {
    if (asked.verb == Verb::increment) ++added;
    if (asked.verb == Verb::append) marks.insert(asked.value);
    if (asked.verb == Verb::set) swaps.emplace_back(asked.from, asked.value);
  }
  void doubt(const Asked& asked) {
    if (asked.verb == Verb::increment) ++maybe;
    if (asked.verb == Verb::append) doubtful.insert(asked.value);
  }

  Store& store_;
  const Server kind_;
  const Rights rights_;
  Random random_;
  std::unique_ptr<ChangeServer> server_;
  std::unique_ptr<Wire> wire_;
  std::string to_server_;
  std::string to_client_;
  std::map<Id, std::unique_ptr<Asked>> asked_;
  std::deque<std::unique_ptr<Asked>> given_up_;
};

std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

class ChangesRace : public testing::TestWithParam<std::pair<Server, Rights>> {};
INSTANTIATE_TEST_SUITE_P(On, ChangesRace,
                         testing::Values(std::pair{Server::redis, Rights::all},
                                         std::pair{Server::redis, Rights::no_scripts},
                                         std::pair{Server::redis, Rights::changing},
                                         std::pair{Server::valkey, Rights::all},
                                         std::pair{Server::valkey, Rights::no_scripts},
                                         std::pair{Server::valkey, Rights::changing},
                                         std::pair{Server::garnet, Rights::all},
                                         std::pair{Server::garnet, Rights::changing}));

TEST_P(ChangesRace, EveryChangeThatWasDoneWasDoneOnceUponWhatItWanted) {
  std::uint64_t changes = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    Store store;
    store.set("text", "");
    store.set("cell", "first");
    store.set("counter", "0");
    Random random(seed);
    std::vector<std::unique_ptr<Changer>> clients;
    for (int i = 0; i < 3; ++i) {
      const auto [kind, rights] = GetParam();
      clients.push_back(std::make_unique<Changer>(store, kind, rights, random.fork()));
    }
    for (int i = 0; i < 3'000; ++i) clients[random.below(clients.size())]->step();
    for (const auto& client : clients) client->finish();

    std::uint64_t added = 0;
    std::uint64_t maybe = 0;
    std::map<std::string, std::string> successor;
    const std::string text = *store.get("text");
    for (const auto& client : clients) {
      added += client->added;
      maybe += client->maybe;
      for (const std::string& mark : client->marks) EXPECT_EQ(count_of(text, mark), 1u) << mark;
      for (const std::string& mark : client->doubtful) EXPECT_LE(count_of(text, mark), 1u) << mark;
      for (const auto& [from, to] : client->swaps) {
        EXPECT_TRUE(successor.emplace(from, to).second) << from << " was replaced twice";
      }
      changes += client->added + client->marks.size() + client->swaps.size();
    }
    const std::uint64_t counter = std::stoull(*store.get("counter"));
    EXPECT_GE(counter, added);
    EXPECT_LE(counter, added + maybe);
  }
  EXPECT_GT(changes, 1'000u) << "the test does too little";
}

}  // namespace
}  // namespace sheaf::protocol::resp
