#include "store/durable/file_place.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <system_error>

namespace sheaf::store {
namespace {

using Done = std::expected<void, std::string>;

std::unexpected<std::string> failed(const std::string& path, const std::string& what) {
  return std::unexpected(path + " " + what + ": " + std::generic_category().message(errno));
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// A name in a folder is on the disk only after the folder is.
Done sync_folder(const std::string& folder) {
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return failed(folder, "cannot be opened");
  const int code = fsync(descriptor);
  const Done done = code == 0 ? Done() : failed(folder, "cannot be written to the disk");
  close(descriptor);
  return done;
}

}  // namespace

std::expected<bool, std::string> check_file(const std::string& path) {
  // The file is not opened here: closing it would release the locks of other code in this process.
  struct stat found{};
  if (stat(path.c_str(), &found) != 0) {
    if (errno == ENOENT) return false;
    return failed(path, "cannot be inspected");
  }
  if (!S_ISREG(found.st_mode)) return std::unexpected(path + " is not a regular file");
  if (found.st_uid != geteuid()) {
    return std::unexpected(path + " belongs to user " + std::to_string(found.st_uid) +
                           ", and the store runs as user " + std::to_string(geteuid()));
  }
  if ((found.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return std::unexpected(path + " is writable by other users; chmod 600 makes it private");
  }
  if (found.st_size == 0) {
    return std::unexpected(path + " is empty; a store's file never is, so it was damaged");
  }
  return true;
}

Done create_file(const std::string& path, Done (*fill)(const std::string& path)) {
  const std::string fresh = path + ".new";
  unlink(fresh.c_str());  // left by a start that was cut short
  const int descriptor = open(fresh.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor < 0) return failed(fresh, "cannot be made");
  close(descriptor);
  if (Done filled = fill(fresh); !filled) {
    unlink(fresh.c_str());
    return filled;
  }
  // Unlike a rename, a link never replaces a file that another process has just made.
  const bool linked = link(fresh.c_str(), path.c_str()) == 0 || errno == EEXIST;
  const Done done = linked ? sync_folder(folder_of(path)) : failed(path, "cannot be made");
  unlink(fresh.c_str());
  return done;
}

std::string boot_name() {
  std::ifstream in("/proc/sys/kernel/random/boot_id");
  std::string name;
  std::getline(in, name);
  return name;
}

}  // namespace sheaf::store
