#pragma once

// ConfigFollower: looks at a file once a second and tells when it may hold something else.
//
// Thread rule: made and destroyed by one thread; calls back on its own, which the destructor waits
// for.

#include <atomic>
#include <string>

#include <sheaf/move_only_function.h>

#include "base/parker.h"
#include "base/quiet_thread.h"
#include "client/runtime/file_stamp.h"

namespace sheaf::client {

class ConfigFollower {
 public:
  // What the path leads to by now counts as known.
  ConfigFollower(std::string path, MoveOnlyFunction<void()> on_change);
  ~ConfigFollower();
  ConfigFollower(const ConfigFollower&) = delete;
  ConfigFollower& operator=(const ConfigFollower&) = delete;

 private:
  void run();

  std::string path_;
  MoveOnlyFunction<void()> on_change_;
  runtime::FileStamp known_;
  std::atomic<bool> over_ = false;
  Parker parker_;
  QuietThread thread_;
};

}  // namespace sheaf::client
