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

// At most `lines` lines of at most `columns` columns, all but the last with a line end. Nodes that
// are down come first; of nodes that do not fit only the number is shown.
std::string top_frame(const std::vector<TopRow>& rows, const TopView& view);

// "time=... node=... health=up ping_ms=0.12 ops=1234.5 hits=0.987 ...", without a line end. Unknown
// figures are left out.
std::string top_line(const TopRow& row, std::chrono::system_clock::time_point time);

}  // namespace sheaf::cli
