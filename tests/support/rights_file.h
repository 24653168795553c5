#pragma once

// A file of rights that is removed with the object, and a broker that uses it. The files of a
// program that do not exist at the same time have the same path, so that a broker of one test can
// be lent to another (tests/support/lent.h).

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "tests/support/broker_process.h"
#include "tests/support/temporary_folder.h"

namespace sheaf::test {

class RightsFile {
 public:
  explicit RightsFile(std::string_view document) : number_(count_++) { write(document); }
  ~RightsFile() {
    std::filesystem::remove_all(path());
    --count_;
  }
  RightsFile(const RightsFile&) = delete;
  RightsFile& operator=(const RightsFile&) = delete;

  std::string path() const { return folder().file("rights" + std::to_string(number_) + ".json"); }
  // Replaces the file as an editor does, so the file is always whole.
  void write(std::string_view document) const {
    std::ofstream(folder().file("new")) << document;
    std::filesystem::rename(folder().file("new"), path());
  }

 private:
  static const TemporaryFolder& folder() {
    static const TemporaryFolder all;
    return all;
  }

  static inline int count_ = 0;  // those that exist
  const int number_;
};

// A broker with the users ann, bob and eve, each with its name as the password, and clients without
// a user.
inline BrokerOptions with_rights(const RightsFile& file) {
  BrokerOptions options;
  options.plugin_options = {{"rights", file.path()}};
  options.users = {{"ann", "ann"}, {"bob", "bob"}, {"eve", "eve"}};
  options.anonymous_too = true;
  return options;
}

// Returns when the broker has read the new file.
inline void reload(const BrokerProcess& broker,
                   std::string_view logged = "sheaf: rights reloaded from ") {
  broker.reload(logged);
}

}  // namespace sheaf::test
