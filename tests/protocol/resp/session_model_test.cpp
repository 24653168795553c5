// Random conversations with a server that knows how a client must read its replies. Whatever is
// cancelled, split, lost, doubled, swapped or garbled, the session reads exactly that.

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>

#include "base/random.h"
#include "protocol/session_wrapper.h"
#include "tests/protocol/resp/model_server.h"

namespace sheaf::protocol::resp {
namespace {

using ServerFault = ModelServer::Fault;

SessionOptions options_of(std::uint64_t seed) {
  SessionOptions options = test_options();
  options.max_in_flight = 1 + static_cast<std::uint32_t>(seed % 40);
  return options;
}

// One connection, and all that is known about it.
class World {
 public:
  // With `plain`, replies to neighbouring requests differ in type, as in ModelServer.
  World(std::uint64_t seed, bool plain, std::unique_ptr<Session> session)
      : random_(seed), plain_(plain), server_(plain), session_(std::move(session)) {
    session_->start(now_);
    for (int i = 0; i < 3; ++i) exchange();
    EXPECT_TRUE(session_->ready());
  }

  // Runs until the connection is closed or `steps` are done, then until nothing moves.
  void run(int steps, ServerFault fault = ServerFault::none) {
    for (int i = 0; i < steps && !session_->closed(); ++i) {
      switch (random_.below(8)) {
        case 0:
        case 1:
        case 2:
          submit();
          break;
        case 3:
          if (!plain_ && random_.below(6) == 0) cancel();  // it would change the neighbours
          break;
        case 4:
        case 5:
          // A spoiled reply may arrive while a frame of several commands is leaving. Only the
          // server knows that it answers a command that has not left yet.
          server_.receive(take(fault == ServerFault::none ? 1 + random_.below(4'000) : whole));
          if (i >= steps / 3 && !spoiled) spoiled = server_.spoil(fault, random_.u32());
          to_client_ += server_.take();
          break;
        default:
          feed(1 + random_.below(8'000));
      }
    }
    for (int i = 0; i < 5 && !session_->closed(); ++i) exchange();
  }
  void end() {
    session_->on_eof(now_);
    poll();
    if (!asked_.empty()) wrong("a request without an end");
  }

  bool ends_badly() const { return server_.ends_badly(); }
  const Session& session() const { return *session_; }
  bool gave_up() const { return session_->close_reason().text.contains("given up"); }

  bool spoiled = false;
  std::size_t answered = 0;
  std::size_t of_others = 0;  // another's replies that looked like its own
  std::vector<std::string> mistakes;

 private:
  struct Asked {
    bool is_list = false;
    std::vector<std::string> keys{};
    std::vector<std::string_view> views{};
    std::uint32_t next = 0;  // index of the next key
  };
  static constexpr auto whole = static_cast<std::size_t>(-1);
  using Id = std::pair<std::uint32_t, std::uint32_t>;

  void wrong(const std::string& what) { mistakes.push_back(what); }

  void submit() {
    if (session_->room() == 0) return;
    constexpr Verb all[] = {Verb::get,     Verb::get, Verb::get_many, Verb::set, Verb::remove,
                            Verb::command, Verb::set, Verb::touch,    Verb::get};
    constexpr Verb in_turn[] = {Verb::get, Verb::set, Verb::remove};
    const Verb verb =
        plain_ ? in_turn[next_number_ % std::size(in_turn)] : all[random_.below(std::size(all))];
    auto asked = std::make_unique<Asked>();
    asked->is_list = verb == Verb::get_many;
    const std::uint64_t keys = verb == Verb::get_many ? 1 + random_.below(9) : 1;
    for (std::uint64_t i = 0; i < keys; ++i) asked->keys.push_back(key_of(next_number_++));
    asked->views.assign(asked->keys.begin(), asked->keys.end());
    Operation made = verb == Verb::get_many ? many(asked->views) : operation(verb, asked->keys[0]);
    if (verb == Verb::set) made.value = random_.below(10) == 0 ? std::string_view(large_) : "small";
    if (verb == Verb::touch) made.ttl = 1s;
    if (verb == Verb::command) {
      asked->views.insert(asked->views.begin(), "ECHO");
      made.words = asked->views;
    }
    if (verb == Verb::set && !plain_ && random_.below(2) == 0)
      made.condition = Condition::if_absent;
    if (verb != Verb::get_many && !plain_) made.asking = random_.below(10) == 0;
    const auto ticket = session_->submit(made, now_);
    if (!ticket) return wrong("refused: " + ticket.error().text);
    if (!asked_.emplace(Id(ticket->slot, ticket->generation), std::move(asked)).second) {
      wrong("a ticket that is in use");
    }
  }
  void cancel() {
    if (asked_.empty()) return;
    auto victim = asked_.begin();
    std::advance(victim, static_cast<std::ptrdiff_t>(random_.below(asked_.size())));
    session_->cancel({victim->first.first, victim->first.second}, now_);
    if (victim->second->is_list || victim->second->views.size() > 1) {  // their texts are gone
      for (const std::string& key : victim->second->keys) server_.give_up(key);
    }
    forget(victim);
  }
  void forget(std::map<Id, std::unique_ptr<Asked>>::iterator asked) {
    over_.push_back(std::move(asked->second));
    asked_.erase(asked);
  }
  std::string take(std::size_t most) { return take_output(*session_, now_, most); }
  void exchange() {
    server_.receive(take(whole));
    to_client_ += server_.take();
    feed(to_client_.size());
  }
  void feed(std::size_t size) {
    size = std::min(size, to_client_.size());
    std::string_view bytes = std::string_view(to_client_).substr(0, size);
    const std::size_t step = 1 + random_.below(3'000);
    while (!bytes.empty() && !session_->closed()) {
      const std::span<std::byte> space = session_->input_space();
      const std::size_t part = std::min({bytes.size(), space.size(), step});
      std::copy_n(reinterpret_cast<const std::byte*>(bytes.data()), part, space.begin());
      bytes.remove_prefix(part);
      session_->on_input(part, now_);
      poll();
    }
    to_client_.erase(0, size);
  }
  void poll() {
    Event event;
    while (session_->poll_event(event)) judge(seen(event));
  }

  void judge(const Seen& seen) {
    if (seen.kind == Event::Kind::ready || seen.kind == Event::Kind::closed) return;
    const auto found = asked_.find({seen.ticket.slot, seen.ticket.generation});
    if (found == asked_.end()) return wrong("an event that nobody waits for");
    Asked& asked = *found->second;
    if (seen.kind == Event::Kind::item) return judge_item(asked, seen);
    if (seen.kind == Event::Kind::reply) {
      if (asked.is_list) {
        judge_misses(asked, asked.keys.size());
      } else {
        judge_key(asked.keys[0], seen);
      }
    }
    forget(found);
  }
  void judge_item(Asked& asked, const Seen& seen) {
    if (!asked.is_list || seen.index < asked.next || seen.index >= asked.keys.size()) {
      return wrong("an item that was not asked for");
    }
    judge_misses(asked, seen.index);
    judge_key(asked.keys[asked.next++], seen);
  }
  // Keys that were passed over are absent.
  void judge_misses(Asked& asked, std::size_t end) {
    for (; asked.next < end; ++asked.next) {
      judge_key(asked.keys[asked.next], {.status = Status::absent});
    }
  }
  void judge_key(const std::string& key, const Seen& seen) {
    ++answered;
    const auto expected = server_.expected(key);
    if (!expected) return wrong(key + " was not answered");
    if (seen.status != expected->status || seen.value != expected->value ||
        seen.text != expected->text) {
      return wrong(key + " got \"" + seen.value + seen.text + "\"");
    }
    if (!server_.is_own(key)) ++of_others;
  }

  const Now now_{1h, 0ms};
  Random random_;
  const bool plain_;
  ModelServer server_;
  std::unique_ptr<Session> session_;
  std::string to_client_;
  const std::string large_ = std::string(20'000, 'v');
  std::map<Id, std::unique_ptr<Asked>> asked_;
  std::vector<std::unique_ptr<Asked>> over_;  // a forgetful session may still read them
  std::size_t next_number_ = 1;
};

std::unique_ptr<Session> real(std::uint64_t seed) {
  return std::make_unique<RespSession>(options_of(seed));
}

TEST(RespModel, EveryRequestGetsItsOwnReplyWhateverIsCancelled) {
  std::size_t answered = 0;
  std::uint64_t late = 0;
  int closed = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    World world(seed, false, real(seed));
    world.run(600);
    ASSERT_EQ(world.mistakes, std::vector<std::string>()) << "seed " << seed;
    ASSERT_EQ(world.of_others, 0u) << "seed " << seed;
    // A connection ends only if a half-written value was given up.
    ASSERT_EQ(world.session().closed(), world.gave_up()) << "seed " << seed;
    if (!world.session().closed()) {
      ASSERT_TRUE(world.session().clean()) << "seed " << seed;
    }
    closed += world.session().closed() ? 1 : 0;
    answered += world.answered;
    late += world.session().counters().late_replies;
    world.end();
    ASSERT_EQ(world.mistakes, std::vector<std::string>()) << "seed " << seed;
  }
  EXPECT_GT(answered, 40'000u);
  EXPECT_GT(late, 300u);
  EXPECT_GT(closed, 5);
  EXPECT_LT(closed, 150);
}

// The session reads exactly what the server knows to be on the wire, and not a byte more.
TEST(RespModel, TheFirstReplyThatCannotBeTheNextOneEndsTheConnection) {
  int spoiled = 0;
  int ended = 0;
  std::size_t of_others = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    for (const ServerFault fault :
         {ServerFault::lose, ServerFault::twice, ServerFault::swap, ServerFault::garble}) {
      World world(seed, false, real(seed));
      world.run(300, fault);
      ASSERT_EQ(world.mistakes, std::vector<std::string>()) << "seed " << seed;
      ASSERT_EQ(world.session().closed(), world.ends_badly()) << "seed " << seed;
      if (fault == ServerFault::garble) {
        ASSERT_EQ(world.of_others, 0u) << "seed " << seed;
      }
      spoiled += world.spoiled ? 1 : 0;
      ended += world.spoiled && world.session().closed() ? 1 : 0;
      of_others += world.of_others;
      world.end();
      ASSERT_EQ(world.mistakes, std::vector<std::string>()) << "seed " << seed;
    }
  }
  EXPECT_GT(spoiled, 600);
  EXPECT_GT(ended, spoiled / 2) << "most are found out";
  EXPECT_GT(of_others, 0u) << "replies of one type cannot be told apart: the judge sees them";
}

TEST(RespModel, WhereTypesDifferNoReplyIsEverAnothers) {
  int spoiled = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    for (const ServerFault fault :
         {ServerFault::lose, ServerFault::twice, ServerFault::swap, ServerFault::garble}) {
      World world(seed, true, real(seed));
      world.run(300, fault);
      ASSERT_EQ(world.mistakes, std::vector<std::string>()) << "seed " << seed;
      ASSERT_EQ(world.of_others, 0u) << "seed " << seed;
      if (!world.spoiled) continue;
      ++spoiled;
      ASSERT_TRUE(world.session().closed()) << "seed " << seed;
    }
  }
  EXPECT_GT(spoiled, 600);
}

// ---- a planted bug

// A client that forgets a cancelled request together with its place, so that its reply is given to
// the next request.
class ForgetfulSession final : public SessionWrapper<RespSession> {
 public:
  using SessionWrapper::SessionWrapper;
  std::expected<Ticket, LocalError> submit(const Operation& operation, Now now) override {
    auto ticket = SessionWrapper::submit(operation, now);
    if (ticket) order_.push_back(*ticket);
    return ticket;
  }
  Sent cancel(Ticket ticket, Now) override {
    std::erase(order_, ticket);
    return Sent::maybe;
  }
  bool poll_event(Event& event) override {
    while (SessionWrapper::poll_event(event)) {
      if (event.kind == Event::Kind::ready || event.kind == Event::Kind::closed) return true;
      if (order_.empty()) continue;
      event.ticket = order_.front();
      if (event.kind != Event::Kind::item) order_.pop_front();
      return true;
    }
    return false;
  }

 private:
  std::deque<Ticket> order_;
};

TEST(RespModel, FindsAClientThatForgetsPlaces) {
  int found = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    World world(
        seed, false,
        std::make_unique<ForgetfulSession>(std::make_unique<RespSession>(options_of(seed))));
    world.run(600);
    found += world.mistakes.empty() ? 0 : 1;
  }
  EXPECT_GT(found, 10);
}

}  // namespace
}  // namespace sheaf::protocol::resp
