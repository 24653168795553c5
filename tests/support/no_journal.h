#pragma once

// A journal for those who want none.

#include <string>
#include <string_view>

#include "node/journal.h"

namespace sheaf::test {

class NoJournal final : public node::Journal {
 public:
  bool listening() const noexcept override { return false; }
  void record(LogRecord) override {}
  std::string show_key(std::string_view) const override { return {}; }
};

}  // namespace sheaf::test
