#include "tests/live/durable/held_disk.h"

#include <sqlite3.h>
#include <sys/types.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace sheaf::test {
namespace {

struct Gate {
  std::mutex mutex;
  std::condition_variable changed;
  bool held = false;
  std::size_t waiting = 0;

  void pass() {
    std::unique_lock lock(mutex);
    ++waiting;
    changed.wait_for(lock, std::chrono::seconds(20), [this] { return !held; });
    --waiting;
  }
  void set(bool value) {
    const std::lock_guard lock(mutex);
    held = value;
    changed.notify_all();
  }
};

Gate& gate() {
  static auto* const only = new Gate;
  return *only;
}

ssize_t slow_write(int file, const void* data, std::size_t size) {
  gate().pass();
  return write(file, data, size);
}

ssize_t slow_pwrite(int file, const void* data, std::size_t size, off_t at) {
  gate().pass();
  return pwrite(file, data, size, at);
}

// SQLite uses one of the three, depending on how it was built.
void set_calls(sqlite3_syscall_ptr of_write, sqlite3_syscall_ptr of_pwrite) {
  sqlite3_initialize();
  sqlite3_vfs* const vfs = sqlite3_vfs_find(nullptr);
  vfs->xSetSystemCall(vfs, "write", of_write);
  vfs->xSetSystemCall(vfs, "pwrite", of_pwrite);
  vfs->xSetSystemCall(vfs, "pwrite64", of_pwrite);
}

}  // namespace

HeldDisk::HeldDisk() {
  set_calls(reinterpret_cast<sqlite3_syscall_ptr>(&slow_write),
            reinterpret_cast<sqlite3_syscall_ptr>(&slow_pwrite));
}

HeldDisk::~HeldDisk() {
  let_go();
  set_calls(nullptr, nullptr);
}

void HeldDisk::hold() { gate().set(true); }
void HeldDisk::let_go() { gate().set(false); }

std::size_t HeldDisk::waiting() const {
  const std::lock_guard lock(gate().mutex);
  return gate().held ? gate().waiting : 0;
}

}  // namespace sheaf::test
