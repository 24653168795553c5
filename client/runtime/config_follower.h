#pragma once

// ConfigFollower: looks at a file once a second and reports when its contents may have changed. It
// always reports at its first look: an earlier reader of the file may have read something else.
//
// Thread rule: made and destroyed by one thread; calls back on its own thread, which the destructor
// waits for.

#include <atomic>
#include <string>

#include <sheaf/move_only_function.h>

#include "base/parker.h"
#include "base/quiet_thread.h"

namespace sheaf::client::runtime {

class ConfigFollower {
 public:
  ConfigFollower(std::string path, MoveOnlyFunction<void()> on_change);
  ~ConfigFollower();
  ConfigFollower(const ConfigFollower&) = delete;
  ConfigFollower& operator=(const ConfigFollower&) = delete;

 private:
  void run();

  std::string path_;
  MoveOnlyFunction<void()> on_change_;
  std::atomic<bool> over_ = false;
  Parker parker_;
  QuietThread thread_;
};

}  // namespace sheaf::client::runtime
