#include "store/plugin/broker_loop.h"

#include <poll.h>

#include <charconv>
#include <filesystem>
#include <string>
#include <system_error>

namespace sheaf::store::plugin {
namespace {

// The only epoll of this process; -1 if there is not exactly one.
int find_poll_descriptor() {
  namespace fs = std::filesystem;
  int found = -1;
  std::error_code error;
  for (fs::directory_iterator entry("/proc/self/fd", error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code unreadable;
    if (fs::read_symlink(entry->path(), unreadable) != "anon_inode:[eventpoll]") continue;
    const std::string name = entry->path().filename();
    int number = -1;
    std::from_chars(name.data(), name.data() + name.size(), number);
    if (found >= 0) return -1;
    found = number;
  }
  return found;
}

}  // namespace

bool BrokerLoop::busy() {
  if (!sought_) {
    sought_ = true;  // on first use, because the broker creates it after loading its plugins
    poll_descriptor_ = find_poll_descriptor();
  }
  if (poll_descriptor_ < 0) return false;
  pollfd asked{poll_descriptor_, POLLIN, 0};
  return poll(&asked, 1, 0) > 0;
}

}  // namespace sheaf::store::plugin
