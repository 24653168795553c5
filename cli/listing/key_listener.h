#pragma once

// KeyListener: what a list of keys is given to, as it comes from the servers.
//
// Thread rule: one thread.

#include <chrono>
#include <string>

#include <sheaf/result.h>

#include "cli/show/key_lines.h"

namespace sheaf::cli {

// What to list.
struct KeyQuery {
  std::string pattern = "*";  // base/glob.h
  KeyColumns columns{};
  std::chrono::milliseconds timeout{3'000};  // of each request
};

class KeyListener {
 public:
  virtual void take(const ListedKey& key) = 0;
  // The keys of a node, or some of them, could not be listed. The error may name no node.
  virtual void fail(const std::string& node, const Error& error) = 0;
  // A page is complete: what was taken may be shown.
  virtual void page() = 0;
  // True: no more keys are wanted.
  virtual bool enough() const = 0;

 protected:
  ~KeyListener() = default;
};

}  // namespace sheaf::cli
