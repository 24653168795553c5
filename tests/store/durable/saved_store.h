#pragma once

// A store with a saver, whose file is in memory.

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
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

inline constexpr Now begin_of_test{std::chrono::hours(5), golden_wall};

}  // namespace sheaf::store
