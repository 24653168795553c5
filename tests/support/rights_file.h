#pragma once

// A file of rights in a folder that is removed with the object, and a broker that uses it.

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "tests/support/broker_process.h"
#include "tests/support/wait_for_condition.h"

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

inline std::size_t count_of(const std::string& log, std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = log.find(text); at != log.npos; at = log.find(text, at + 1)) ++count;
  return count;
}

// Sends SIGHUP; returns when the broker has logged once more that it read the new file.
inline void reload(const BrokerProcess& broker,
                   std::string_view logged = "sheaf: rights reloaded from ") {
  const std::size_t before = count_of(broker.log(), logged);
  broker.hang_up();
  wait_for_condition(logged, [&] { return count_of(broker.log(), logged) > before; });
}

}  // namespace sheaf::test
