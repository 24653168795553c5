#pragma once

// The names under "sheaf.test", as a name server would return them. A program that links names.cpp
// asks here whenever it looks up such a name, libuv included; other names go to the C library.
//
// Thread rule: any thread.

#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace sheaf::test {

class Names {
 public:
  static Names& instance();

  // From now on the name has these numeric addresses, in this order. None: the look-up fails.
  void lead(const std::string& name, std::vector<std::string> addresses);
  void forget(const std::string& name) { lead(name, {}); }
  // Until release() look-ups get no answer.
  void hold();
  void release();
  // How many look-ups there were.
  unsigned asked();

  // Returns nothing for a name outside of sheaf.test.
  std::optional<std::vector<std::string>> look_up(const std::string& name);

 private:
  std::mutex mutex_;
  std::condition_variable released_;
  bool held_ = false;
  std::map<std::string, std::vector<std::string>> addresses_;
  unsigned asked_ = 0;
};

}  // namespace sheaf::test
