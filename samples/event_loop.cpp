// A program with its own loop: its client's callbacks run on the one thread that runs the loop,
// next to a timer. No callback needs a lock.
//
// usage: event_loop [URI]    embedded://3 if none is given

#include <poll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <string>

#include <sheaf/async.h>
#include <sheaf/driver.h>

namespace {

// A counter in a cache, which the timer writes and the callbacks read back.
class Measuring {
 public:
  explicit Measuring(sheaf::AsyncClient cache) : cache_(std::move(cache)) {}

  void on_timer() {
    ++started_;
    const std::string speed = std::to_string(20 + started_);
    cache_.set("line4/speed", speed).then([this](sheaf::Result<sheaf::SetResult> set) {
      if (!set) return end(set.error().why());
      cache_.get("line4/speed").then([this](sheaf::Result<sheaf::GetResult> got) {
        if (!got) return end(got.error().why());
        end("speed is " + (*got ? (*got)->data : std::string("gone")));
      });
    });
  }
  bool over() const { return ended_ == 3; }

 private:
  void end(const std::string& text) {
    ++ended_;
    std::puts(text.c_str());
  }

  sheaf::AsyncClient cache_;
  int started_ = 0;
  int ended_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  sheaf::Driver driver;  // outlives the client
  auto client =
      sheaf::Client::open(argc > 1 ? argv[1] : "embedded://3", {.executor = driver.executor()});
  if (!client) return std::puts(client.error().message().c_str()), 2;
  Measuring measuring(client->async());

  const int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
  const itimerspec every{.it_interval = {0, 50'000'000}, .it_value = {0, 50'000'000}};
  timerfd_settime(timer, 0, &every, nullptr);
  int ticks = 0;
  while (!measuring.over()) {
    pollfd wanted[] = {{driver.descriptor(), POLLIN, 0}, {timer, POLLIN, 0}};
    if (poll(wanted, 2, 10'000) <= 0) break;
    std::uint64_t expired = 0;
    if (read(timer, &expired, sizeof expired) > 0 && ticks++ < 3) measuring.on_timer();
    driver.poll();
  }
  close(timer);
  return measuring.over() ? 0 : 1;
}
