#pragma once

// Makes every write of SQLite to a disk wait while it is held, as a disk does that takes its time.
// After 20 s a write continues all the same, so that a test that waits for it ends.
//
// Thread rule: any thread; one object at a time.

#include <cstddef>

namespace sheaf::test {

class HeldDisk {
 public:
  HeldDisk();
  ~HeldDisk();  // lets all of them continue
  HeldDisk(const HeldDisk&) = delete;
  HeldDisk& operator=(const HeldDisk&) = delete;

  void hold();
  void let_go();
  // Threads that wait in a write.
  std::size_t waiting() const;
};

}  // namespace sheaf::test
