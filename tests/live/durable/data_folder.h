#pragma once

// A folder for the files of stores, which is gone with the object.

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace sheaf::test {

class DataFolder {
 public:
  DataFolder() {
    std::string name = testing::TempDir() + "sheaf-data-XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~DataFolder() { std::filesystem::remove_all(folder_); }
  DataFolder(const DataFolder&) = delete;
  DataFolder& operator=(const DataFolder&) = delete;

  std::string file() const { return folder_ / "store"; }
  // Takes the file away from a running store, whose next commit fails, and gives it back.
  void hide() const { std::filesystem::rename(file(), folder_ / "hidden"); }
  void unhide() const { std::filesystem::rename(folder_ / "hidden", file()); }
  void damage() const {
    std::fstream out(file(), std::ios::in | std::ios::out | std::ios::binary);
    out.seekp(4096);
    out << std::string(512, 'x');
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace sheaf::test
