#pragma once

// A store with a saver, whose file is in memory.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "store/durable/saver.h"
#include "tests/store/durable/fake_file.h"
#include "tests/store/engine/store_fixture.h"

namespace sheaf::store {

// A store with a saver. Its destruction is a crash.
class SavedStore {
 public:
  SavedStore(FakeDisk& disk, milliseconds interval, Now now, EngineOptions options = {},
             std::string_view boot = "b")
      : disk_(disk), store(options) {
    store.now = now;
    auto started =
        Saver::start(std::make_unique<FakeFile>(disk), store.engine, interval, now, boot);
    EXPECT_TRUE(started.has_value());
    saver = std::move(*started);
  }
  // Like kill -9: nothing is written any more.
  ~SavedStore() {
    const FakeDisk before = disk_;
    saver.reset();
    disk_ = before;
  }

  // Asks, and commits if that is due. Returns nothing if the answer must not be sent yet.
  std::optional<Got> ask(const std::vector<std::string>& items, const std::string& fence = "") {
    Ask request{.payload = payload_of(items)};
    if (!fence.empty()) request.fence = fence;
    return send(request);
  }
  std::optional<Got> send(const Ask& request) {
    const Got got = store.send(request);
    return settle() ? std::optional(got) : std::nullopt;
  }
  bool settle() { return saver->settle(store.now, false); }

 private:
  FakeDisk& disk_;

 public:
  Store store;
  std::unique_ptr<Saver> saver;
};

// What clients were told of a key, by the answers to their writes.
class Told {
 public:
  using State = std::optional<std::string>;  // none: absent

  void note(bool answered, State state) {
    if (answered) possible_.clear();
    possible_.push_back(std::move(state));
  }
  // True for one of the states that the key may be in: the last one that was answered, or that of a
  // later write without an answer.
  template <class Is>
  bool allows(const Is& is) const {
    return std::ranges::any_of(possible_, is);
  }

 private:
  std::vector<State> possible_{State()};
};

inline constexpr Now begin_of_test{std::chrono::hours(5), golden_wall};

}  // namespace sheaf::store
