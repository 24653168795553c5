#pragma once

// A folder of one test, which is removed with the object.
//
// Thread rule: any thread.

#include <stdlib.h>

#include <filesystem>
#include <stdexcept>
#include <string>

namespace sheaf::test {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "sheaf-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder could be made");
    path_ = name;
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }
  // The path of a file in the folder.
  std::string file(const std::filesystem::path& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace sheaf::test
