// An engine with a file whose disk takes its time: the engine continues, and results wait.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "base/read_clocks.h"
#include "socket/uv/uv_loop.h"
#include "store/pipe/pipe_dialer.h"
#include "tests/store/durable/fake_file.h"
#include "tests/store/pipe/raw_client.h"

namespace sheaf::store::pipe {
namespace {

using namespace std::chrono_literals;
using test::command;
using test::RawClient;

// Commits wait here while it is shut.
class DiskGate {
 public:
  void shut() {
    const std::lock_guard lock(mutex_);
    shut_ = true;
  }
  void open() {
    const std::lock_guard lock(mutex_);
    shut_ = false;
    changed_.notify_all();
  }
  bool waited_at() {
    const std::lock_guard lock(mutex_);
    return waiting_;
  }
  void pass() {
    std::unique_lock lock(mutex_);
    waiting_ = true;
    changed_.wait(lock, [this] { return !shut_; });
    waiting_ = false;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool shut_ = false;
  bool waiting_ = false;
};

class GatedFile final : public StoreFile {
 public:
  GatedFile(FakeDisk& disk, DiskGate& gate) : file_(disk), gate_(gate) {}

  std::expected<FileHeader, std::string> read_header() override { return file_.read_header(); }
  std::expected<bool, std::string> read(Change& out) override { return file_.read(out); }
  Done write(const Change& change) override { return file_.write(change); }
  Done commit(const FileHeader& header) override {
    gate_.pass();
    return file_.commit(header);
  }
  void discard() override { file_.discard(); }
  std::uint64_t bytes() const override { return file_.bytes(); }

 private:
  FakeFile file_;
  DiskGate& gate_;
};

// One engine on such a disk, and two clients on loops of their own.
class SlowStore : public testing::Test {
 protected:
  struct Party {
    Party(std::string id, const Engines& engines) : dialer(*loop, engines), client(std::move(id)) {
      client.on_event = [this] { loop->do_not_wait(); };
      client.dial(dialer, {"embedded", 0}, never);
      run([this] { return client.ready; });
    }
    void run(const std::function<bool()>& done) {
      const Deadline end = read_monotonic() + 60s;
      while (!done() && read_monotonic() < end) turn();
      EXPECT_TRUE(done());
    }
    void turn() {
      loop->do_not_wait();
      loop->turn(never);
    }
    std::string ask(const std::string& correlation, const std::vector<std::string_view>& parts) {
      client.request(correlation, command(parts));
      run([&] { return client.replies.contains(correlation); });
      return client.replies[correlation].front();
    }

    std::unique_ptr<socket::UvLoop> loop = *socket::UvLoop::create({});
    PipeDialer dialer;
    RawClient client;
  };

  SlowStore() {
    EngineOptions options;
    options.data = "fake";
    auto engine = std::make_shared<SharedEngine>(options);
    auto saver = Saver::start(std::make_unique<GatedFile>(disk_, gate_), engine->engine(), 0ms,
                              read_clocks(), "boot");
    engine->keep_by(std::move(*saver));
    engines_.push_back(std::move(engine));
    a_ = std::make_unique<Party>("a", engines_);
    b_ = std::make_unique<Party>("b", engines_);
  }
  ~SlowStore() override { gate_.open(); }

  void turn_all() {
    for (int i = 0; i < 20; ++i) {
      a_->turn();
      b_->turn();
    }
  }

  FakeDisk disk_;
  DiskGate gate_;
  Engines engines_;
  std::unique_ptr<Party> a_;
  std::unique_ptr<Party> b_;
};

TEST_F(SlowStore, ResultsWaitForTheDiskAndNothingElseDoes) {
  gate_.shut();
  a_->client.request("set", command({"SET", "k", "v"}));
  a_->run([&] { return gate_.waited_at(); });
  b_->client.request("get", command({"GET", "k"}));
  turn_all();
  EXPECT_TRUE(a_->client.replies.empty());
  EXPECT_TRUE(b_->client.replies.empty()) << "a crash would take back what it says";
  const Party late("late", engines_);  // connects meanwhile
  gate_.open();
  a_->run([&] { return a_->client.replies.contains("set"); });
  b_->run([&] { return b_->client.replies.contains("get"); });
  EXPECT_EQ(a_->client.replies["set"].front(), "+OK\r\n");
  EXPECT_EQ(b_->client.replies["get"].front(), "$1\r\nv\r\n");
}

TEST_F(SlowStore, WhatIsWrittenDuringACommitIsTheNextOne) {
  gate_.shut();
  a_->client.request("first", command({"SET", "first", "v"}));
  a_->run([&] { return gate_.waited_at(); });
  for (int i = 0; i < 50; ++i) {
    b_->client.request(std::to_string(i), command({"SET", "k" + std::to_string(i), "v"}));
  }
  turn_all();
  gate_.open();
  a_->run([&] { return a_->client.replies.size() == 1; });
  b_->run([&] { return b_->client.replies.size() == 50; });
  EXPECT_EQ(disk_.commits, 2);
  EXPECT_EQ(disk_.image.records.size(), 51u);
}

TEST_F(SlowStore, AWatcherHearsOfAChangeOnceItIsSaved) {
  EXPECT_EQ(b_->ask("watch", {"KEYNOTIFY", "k"}), "+OK\r\n");
  gate_.shut();
  a_->client.request("set", command({"SET", "k", "v"}));
  a_->run([&] { return gate_.waited_at(); });
  turn_all();
  EXPECT_TRUE(b_->client.notifications.empty());
  gate_.open();
  b_->run([&] { return b_->client.notifications.size() == 1; });
}

// The first write is in a commit that fails, and the second one has been executed meanwhile.
TEST_F(SlowStore, ACommitThatFailsEndsConnectionsWithoutTheirResults) {
  EXPECT_EQ(a_->ask("kept", {"SET", "kept", "1"}), "+OK\r\n");
  a_->client.replies.clear();
  gate_.shut();
  disk_.fails = true;
  a_->client.request("first", command({"SET", "k", "v"}));
  a_->run([&] { return gate_.waited_at(); });
  b_->client.request("second", command({"SET", "other", "v"}));
  turn_all();
  gate_.open();
  a_->run([&] { return a_->client.closed; });
  b_->run([&] { return b_->client.closed; });
  EXPECT_TRUE(a_->client.replies.empty());
  EXPECT_TRUE(b_->client.replies.empty());
  Party again("again", engines_);
  EXPECT_THAT(again.ask("k", {"GET", "k"}), testing::HasSubstr("read-only"));
  EXPECT_THAT(again.ask("other", {"GET", "other"}), testing::HasSubstr("read-only"));
  EXPECT_EQ(again.ask("read", {"GET", "kept"}), "$1\r\n1\r\n");
}

TEST_F(SlowStore, TheLastClientLeavesWhatItHasWrittenToTheFile) {
  gate_.shut();
  a_->client.request("set", command({"SET", "k", "v"}));
  a_->run([&] { return gate_.waited_at(); });
  b_->client.request("set", command({"SET", "other", "v"}));
  b_->turn();
  gate_.open();
  a_.reset();
  b_.reset();
  engines_.clear();
  EXPECT_EQ(disk_.image.records.size(), 2u);
}

}  // namespace
}  // namespace sheaf::store::pipe
