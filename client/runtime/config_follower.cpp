#include "client/runtime/config_follower.h"

#include <chrono>
#include <utility>

#include "client/runtime/file_stamp.h"

namespace sheaf::client::runtime {

ConfigFollower::ConfigFollower(std::string path, MoveOnlyFunction<void()> on_change)
    : path_(std::move(path)),
      on_change_(std::move(on_change)),
      thread_("sheaf-config", [this] { run(); }) {}

ConfigFollower::~ConfigFollower() {
  over_ = true;
  parker_.unpark();
  thread_.join();
}

void ConfigFollower::run() {
  constexpr std::chrono::seconds interval(1);
  bool again = true;
  FileStamp known;
  for (;;) {
    static_cast<void>(parker_.park_for(interval));
    if (over_) return;
    const auto now = FileStamp::of(path_);
    if (!again && now == known) continue;
    known = now;
    again = now.young();
    on_change_();
  }
}

}  // namespace sheaf::client::runtime
