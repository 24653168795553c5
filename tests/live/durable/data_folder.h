#pragma once

// A folder for the files of stores, removed with the object.

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/temporary_folder.h"

namespace sheaf::test {

class DataFolder {
 public:
  std::string file() const { return folder_.file("store"); }
  // Takes the file away from a running store, whose next commit then fails, or gives it back.
  void hide() const { std::filesystem::rename(file(), folder_.file("hidden")); }
  void unhide() const { std::filesystem::rename(folder_.file("hidden"), file()); }
  void damage() const {
    std::fstream out(file(), std::ios::in | std::ios::out | std::ios::binary);
    out.seekp(4096);
    out << std::string(512, 'x');
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace sheaf::test
