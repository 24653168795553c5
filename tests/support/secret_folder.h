#pragma once

// A folder with a secret in a file, as Kubernetes mounts one: the file is a symbolic link through
// `..data`, and a rotation changes the folder to which `..data` leads.
//
// Thread rule: one thread at a time.

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "tests/support/temporary_folder.h"

namespace sheaf::test {

class SecretFolder {
 public:
  explicit SecretFolder(std::string_view secret) {
    std::filesystem::create_symlink("..data/secret", path());
    rotate(secret);
  }

  std::string path() const { return (made_.path() / "secret").string(); }
  void rotate(std::string_view secret) {
    const std::string version = "..version_" + std::to_string(++versions_);
    std::filesystem::create_directory(made_.path() / version);
    std::ofstream(made_.path() / version / "secret") << secret << '\n';
    std::filesystem::create_symlink(version, made_.path() / "..data_tmp");
    std::filesystem::rename(made_.path() / "..data_tmp", made_.path() / "..data");
    std::filesystem::remove_all(made_.path() / ("..version_" + std::to_string(versions_ - 1)));
  }

 private:
  TemporaryFolder made_;
  unsigned versions_ = 0;
};

}  // namespace sheaf::test
