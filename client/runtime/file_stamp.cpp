#include "client/runtime/file_stamp.h"

#include <sys/stat.h>

#include <ctime>

namespace sheaf::client::runtime {
namespace {

// The coarsest resolution of file times.
constexpr std::int64_t coarse = 2'000'000'000;  // ns

std::int64_t nanoseconds_of(const timespec& time) noexcept {
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

FileStamp FileStamp::of(const std::string& path) {
  struct stat found{};
  if (::stat(path.c_str(), &found) != 0) return {};
  return {found.st_dev, found.st_ino, found.st_size, nanoseconds_of(found.st_mtim),
          nanoseconds_of(found.st_ctim)};
}

bool FileStamp::young() const {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return size >= 0 && nanoseconds_of(now) - changed < coarse;
}

}  // namespace sheaf::client::runtime
