#pragma once

// A folder with a secret in a file, as Kubernetes mounts one: the file is a symbolic link through
// `..data`, and a rotation swaps the folder that `..data` leads to.
//
// Thread rule: one thread at a time.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace sheaf::test {

class SecretFolder {
 public:
  explicit SecretFolder(std::string_view secret) {
    std::string name = (std::filesystem::temp_directory_path() / "sheaf-secret-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    std::filesystem::create_symlink("..data/secret", path());
    rotate(secret);
  }
  ~SecretFolder() { std::filesystem::remove_all(folder_); }
  SecretFolder(const SecretFolder&) = delete;
  SecretFolder& operator=(const SecretFolder&) = delete;

  std::string path() const { return (folder_ / "secret").string(); }
  void rotate(std::string_view secret) {
    const std::string version = "..version_" + std::to_string(++versions_);
    std::filesystem::create_directory(folder_ / version);
    std::ofstream(folder_ / version / "secret") << secret << '\n';
    std::filesystem::create_symlink(version, folder_ / "..data_tmp");
    std::filesystem::rename(folder_ / "..data_tmp", folder_ / "..data");
    std::filesystem::remove_all(folder_ / ("..version_" + std::to_string(versions_ - 1)));
  }

 private:
  std::filesystem::path folder_;
  unsigned versions_ = 0;
};

}  // namespace sheaf::test
