// A program that owns its loop, and a client without a thread. epoll waits for both.
//
// usage: own_loop [URI]    embedded://3 if none is given

#include <sys/epoll.h>

#include <cstdio>

#include <sheaf/async.h>
#include <sheaf/driver.h>

int main(int argc, char** argv) {
  sheaf::Driver driver;  // outlives the client
  auto client = sheaf::Client::open(argc > 1 ? argv[1] : "embedded://3", {.driver = &driver});
  if (!client) return std::puts(client.error().message().c_str()), 2;

  bool over = false;
  const sheaf::AsyncClient cache = client->async();
  cache.set("line4/speed", "21.5").then([&](sheaf::Result<sheaf::SetResult> set) {
    if (!set) std::puts(set.error().why().c_str());
    cache.get("line4/speed").then([&](sheaf::Result<sheaf::GetResult> got) {
      std::puts(!got ? got.error().why().c_str() : *got ? (*got)->data.c_str() : "absent");
      over = true;
    });
  });

  const int epoll = epoll_create1(EPOLL_CLOEXEC);
  epoll_event wanted{.events = EPOLLIN, .data = {.fd = driver.descriptor()}};
  epoll_ctl(epoll, EPOLL_CTL_ADD, driver.descriptor(), &wanted);
  while (!over) {
    epoll_event event{};
    if (epoll_wait(epoll, &event, 1, -1) > 0 && event.data.fd == driver.descriptor())
      driver.poll();  // the callbacks above run here
  }
}
