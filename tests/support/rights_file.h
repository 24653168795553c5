#pragma once

// A file of rights in a folder that is removed with the object, and a broker that uses it.

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "tests/support/broker_process.h"

namespace sheaf::test {

class RightsFile {
 public:
  explicit RightsFile(std::string_view document) {
    std::string name = testing::TempDir() + "sheaf-rights-XXXXXX";
    folder_ = mkdtemp(name.data());
    write(document);
  }
  ~RightsFile() { std::filesystem::remove_all(folder_); }
  RightsFile(const RightsFile&) = delete;
  RightsFile& operator=(const RightsFile&) = delete;

  std::string path() const { return folder_ / "rights.json"; }
  // Replaces the file as an editor does, so the file is always whole.
  void write(std::string_view document) const {
    std::ofstream(folder_ / "new") << document;
    std::filesystem::rename(folder_ / "new", path());
  }

 private:
  std::filesystem::path folder_;
};

// A broker with the users ann, bob and eve, each with its name as the password.
inline BrokerOptions with_rights(const RightsFile& file) {
  BrokerOptions options;
  options.plugin_options = {{"rights", file.path()}};
  options.users = {{"ann", "ann"}, {"bob", "bob"}, {"eve", "eve"}};
  return options;
}

// Returns when the broker has read the new file.
inline void reload(const BrokerProcess& broker,
                   std::string_view logged = "sheaf: rights reloaded from ") {
  broker.reload(logged);
}

}  // namespace sheaf::test
