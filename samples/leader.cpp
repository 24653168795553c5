// A leader among three programs: each campaigns, one leads and writes {role}state under its fencing
// token. It disappears without a word, another is elected when its lease ends, and then resigns. A
// program that does not campaign prints who leads.
//
// Here all are clients of one process, so that the sample runs alone.
//
// leader [URI]   default embedded://3

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include <sheaf/leader.h>

namespace {

using namespace std::chrono_literals;

void require(bool holds, const std::string& what) {
  if (holds) return;
  std::fprintf(stderr, "expectation failed: %s\n", what.c_str());
  std::exit(1);
}

// Numbers of programs that were elected, in this order.
class Elected {
 public:
  void add(std::size_t program) {
    const std::scoped_lock lock(mutex_);
    latest_ = program;
    ++count_;
    changed_.notify_all();
  }
  std::size_t wait_for(unsigned count) {
    std::unique_lock lock(mutex_);
    require(changed_.wait_for(lock, 30s, [&] { return count_ >= count; }), "a leader");
    return latest_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t latest_ = 0;
  unsigned count_ = 0;
};

// One of the programs.
class Pump {
 public:
  Pump(const std::string& uri, std::size_t number, Elected& elected)
      : name_("pump " + std::to_string(number)), client_(open(uri)) {
    election_ = std::make_unique<sheaf::LeaderElection>(
        *client_, "role", sheaf::LockerOptions{.holder = name_, .lease = 1s});
    election_->on_elected([number, &elected](const sheaf::FencingToken&) { elected.add(number); });
    election_->on_lost([this](const sheaf::Error& why) {
      std::printf("%s leads no more: %s\n", name_.c_str(), why.message().c_str());
    });
    // Waits without a thread.
    election_->async().campaign().then([](const sheaf::Result<bool>&) {});
  }

  void work() {
    const auto term = election_->term();
    const auto before = term->read("{role}state");
    require(before.has_value(), name_ + " reads");
    std::printf("%s leads, after \"%s\"\n", name_.c_str(),
                *before ? (*before)->data.c_str() : "nobody");
    const auto written = term->write("{role}state", name_);
    require(written && written->stored, name_ + " writes");
  }
  void disappear() {
    client_.reset();  // its lock lasts until its lease ends
    require(!election_->leading(), name_ + " knows that it does not lead any more");
  }
  void resign() { require(election_->resign().value_or(false), name_ + " resigns"); }

 private:
  static sheaf::Client open(const std::string& uri) {
    auto client = sheaf::Client::open(uri);
    require(client.has_value(), "a client for " + uri);
    return std::move(*client);
  }

  std::string name_;
  std::optional<sheaf::Client> client_;
  std::unique_ptr<sheaf::LeaderElection> election_;
};

}  // namespace

int main(int argc, char** argv) {
  const std::string uri = argc > 1 ? argv[1] : "embedded://3?name=leader";
  auto client = sheaf::Client::open(uri);
  require(client.has_value(), "a client for " + uri);
  sheaf::LeaderElection observer(*client, "role");
  observer.on_leader([](const sheaf::Result<sheaf::Leader>& leader) {
    if (leader) std::printf("leader: %s\n", leader->holder.value_or("none").c_str());
  });

  Elected elected;
  std::array<std::unique_ptr<Pump>, 3> pumps;
  for (std::size_t i = 0; i < pumps.size(); ++i) {
    pumps[i] = std::make_unique<Pump>(uri, i, elected);
  }
  Pump& first = *pumps[elected.wait_for(1)];
  first.work();
  first.disappear();
  Pump& second = *pumps[elected.wait_for(2)];
  second.work();
  second.resign();
  pumps[elected.wait_for(3)]->work();
  std::printf("three have led\n");
  return 0;
}
