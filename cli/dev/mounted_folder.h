#pragma once

// A folder whose files are replaced together, laid out as Kubernetes mounts a volume: each file is
// a link to `..data/NAME`, and `..data` is a link to the folder of the present version.
//
// Thread rule: one thread.

#include <cstdint>
#include <expected>
#include <filesystem>
#include <string>
#include <vector>

namespace sheaf::cli {

struct MountedFile {
  std::string name;
  std::string text;
};

class MountedFolder {
 public:
  explicit MountedFolder(std::filesystem::path path) : path_(std::move(path)) {}

  // Makes the folder the first time. Only the user of this process may read the files. The names
  // are the same each time. The error is one sentence, and the last version stays.
  std::expected<void, std::string> replace(const std::vector<MountedFile>& files);

  std::filesystem::path file(const std::string& name) const { return path_ / name; }
  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path version(std::uint64_t number) const;

  std::filesystem::path path_;
  std::uint64_t versions_ = 0;
};

}  // namespace sheaf::cli
