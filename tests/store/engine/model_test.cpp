// Random requests, clocks that jump, and clients that connect and disconnect: the engine compared
// with the simple model. A failure prints the seed that repeats it.

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "base/random.h"
#include "tests/store/engine/model_store.h"
#include "tests/store/engine/store_fixture.h"

namespace sheaf::store {
namespace {

using Verb = ModelRequest::Verb;

class Duel {
 public:
  Duel(std::uint64_t seed, Spelling spelling)
      : random_(seed), store_(options_with(spelling)), model_(spelling) {}

  void run(int requests) {
    for (int i = 0; i < requests && !testing::Test::HasFailure(); ++i) step(i);
  }

 private:
  static EngineOptions options_with(Spelling spelling) {
    EngineOptions options;
    options.spelling = spelling;
    return options;
  }

  void step(int number) {
    move_clocks();
    const ModelRequest request = draw();
    const Got wanted = model_.execute(request, store_.now);
    const Got got = store_.send(written(request));
    ASSERT_EQ(got, wanted) << "request " << number;
    if (random_.below(3) == 0) {
      store_.engine.tick(store_.now);
      model_.expire(store_.now);
    }
    std::multiset<std::string> notified;
    for (const auto& note : store_.notifications()) {
      notified.insert(std::to_string(note.client) + " " + note.payload + " " + note.timestamp);
    }
    ASSERT_EQ(notified, model_.take_notified()) << "request " << number;
    ASSERT_EQ(store_.engine.keys(), model_.keys());
    ASSERT_EQ(store_.engine.bytes(), model_.bytes());
  }

  void move_clocks() {
    store_.pass(milliseconds(random_.below(40)));
    if (random_.below(300) == 0) store_.now.wall += milliseconds(random_.below(200'000));
    if (random_.below(300) == 0) store_.now.wall -= milliseconds(random_.below(200'000));
  }

  // Few keys and values, so that requests collide.
  ModelRequest draw() {
    constexpr Verb verbs[] = {Verb::set, Verb::set,  Verb::set,   Verb::get,
                              Verb::del, Verb::vdel, Verb::watch, Verb::stop};
    ModelRequest request;
    request.verb = verbs[random_.below(std::size(verbs))];
    request.client = 1 + random_.below(3);
    request.key = "key" + std::to_string(random_.below(6));
    request.value = std::string(random_.below(3), 'v');
    const auto condition = random_.below(4);
    request.nx = condition == 0;
    request.nex = condition == 1;
    if (random_.below(2) == 0) request.px = static_cast<std::int64_t>(1 + random_.below(300));
    request.timestamp = number_near_now();
    if (random_.below(5) == 0) request.fence = number_near_now();
    return request;
  }

  // Near the present time, seldom too far ahead.
  ModelStore::Number number_near_now() {
    const auto wall = static_cast<std::uint64_t>(store_.now.wall.count());
    const std::uint64_t reach = random_.below(30) == 0 ? 70'000 : 50;
    return {wall - 25 + random_.below(reach), random_.below(3)};
  }

  static std::string text(ModelStore::Number number) {
    return std::to_string(number.first) + ":" + std::to_string(number.second) + ":StateStore";
  }

  Ask written(const ModelRequest& request) {
    std::vector<std::string> items;
    switch (request.verb) {
      case Verb::set:
        items = {"SET", request.key, request.value};
        if (request.nx) items.emplace_back("NX");
        if (request.nex) items.emplace_back("NEX");
        if (request.px > 0) items.insert(items.end(), {"PX", std::to_string(request.px)});
        break;
      case Verb::get:
        items = {"GET", request.key};
        break;
      case Verb::del:
        items = {"DEL", request.key};
        break;
      case Verb::vdel:
        items = {"VDEL", request.key, request.value};
        break;
      case Verb::watch:
        items = {"KEYNOTIFY", request.key};
        break;
      case Verb::stop:
        items = {"KEYNOTIFY", request.key, "STOP"};
        break;
    }
    Ask ask{.payload = payload_of(items)};
    ask.client = request.client;
    ask.client_id = "client-id" + std::to_string(request.client);
    ask.timestamp = text(request.timestamp);
    if (request.fence) ask.fence = text(*request.fence);
    return ask;
  }

  Random random_;
  Store store_;
  ModelStore model_;
};

TEST(EngineModel, AgreesWithTheNaiveStoreInTheSpellingOfTheSdks) {
  for (std::uint64_t seed = 1; seed <= 40 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Duel(seed, Spelling::sdk).run(2000);
  }
}

TEST(EngineModel, AgreesWithTheNaiveStoreInTheSpellingOfThePage) {
  for (std::uint64_t seed = 101; seed <= 120 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Duel(seed, Spelling::page).run(2000);
  }
}

}  // namespace
}  // namespace sheaf::store
