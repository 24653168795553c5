#pragma once

// What the servers of a world stored, in the order in which they carried it out.
//
// Thread rule: one thread.

#include <string>
#include <vector>

#include "base/clock.h"

namespace sheaf::sim {

struct Stored {
  Deadline at{0};
  // The data to which it belongs: servers that are front ends of one store have one. It is only
  // compared.
  const void* store = nullptr;
  std::string value;
};

using ServerLog = std::vector<Stored>;

}  // namespace sheaf::sim
