#pragma once

// How `top` shows its rows: as a frame that fits a terminal, or as lines for a pipe.
//
// Thread rule: pure functions.

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "cli/show/top_rows.h"

namespace sheaf::cli {

struct TopView {
  std::size_t columns = 80;
  std::size_t lines = 24;
  bool colours = false;
  std::chrono::milliseconds interval{2'000};
};

// At most `lines` lines of at most `columns` columns, each with its end but the last. Nodes that
// are down come first; of those that do not fit there is the number.
std::string top_frame(const std::vector<TopRow>& rows, const TopView& view);

// "time=... node=... health=up ping_ms=0.12 ops=1234.5 hits=0.987 ...", without its end. What is
// not known is left out.
std::string top_line(const TopRow& row, std::chrono::system_clock::time_point time);

}  // namespace sheaf::cli
