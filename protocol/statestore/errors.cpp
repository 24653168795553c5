// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/statestore/errors.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "base/text.h"

namespace sheaf::protocol::statestore {
namespace {

struct Row {
  std::string_view text;
  std::string_view stem;
  Reason reason;
};

// In the order of StoreError. A stem is the part that all wordings of an error have in common.
constexpr std::array rows{
    Row{"the request timestamp is too far in the future; ensure that the client and broker system "
        "clocks are synchronized",
        "timestamp is too far in the future", Reason::clock_skew},
    Row{"a fencing token is required for this request", "fencing token is required",
        Reason::fencing_required},
    Row{"the request fencing token timestamp is too far in the future; ensure that the client and "
        "broker system clocks are synchronized",
        "fencing token timestamp is too far in the future", Reason::fencing_skew},
    Row{"the request fencing token is a lower version than the fencing token protecting the "
        "resource",
        "fencing token is a lower version", Reason::fencing_stale},
    Row{"the quota has been exceeded", "quota has been exceeded", Reason::quota},
    Row{"syntax error", "syntax error", Reason::syntax},
    Row{"not authorized", "not authorized", Reason::not_authorized},
    Row{"unknown command", "unknown command", Reason::unknown_command},
    Row{"wrong number of arguments", "wrong number of arguments", Reason::wrong_arguments},
    Row{"missing timestamp", "missing timestamp", Reason::timestamp_missing},
    Row{"malformed timestamp", "malformed timestamp", Reason::timestamp_malformed},
    Row{"the key length is zero", "key length is zero", Reason::key_empty},
    Row{"the store is read-only, because its file cannot be written", "store is read-only",
        Reason::read_only},
};
static_assert(rows.size() == static_cast<std::size_t>(StoreError::read_only) + 1);

// Every known text is much shorter; a hostile peer may send megabytes.
constexpr std::size_t longest_text = 512;

const Row& row(StoreError error) noexcept { return rows[static_cast<std::size_t>(error)]; }

}  // namespace

std::string_view text_of(StoreError error) noexcept { return row(error).text; }

Reason reason_of(StoreError error) noexcept { return row(error).reason; }

Reason reason_of(std::string_view text) noexcept {
  text = text.substr(0, longest_text);
  // The stem of timestamp_skew is part of fencing_skew's, so fencing_skew is tested first.
  if (contains_ignoring_case(text, row(StoreError::fencing_skew).stem)) return Reason::fencing_skew;
  for (const Row& candidate : rows) {
    if (contains_ignoring_case(text, candidate.stem)) return candidate.reason;
  }
  return Reason::other;
}

}  // namespace sheaf::protocol::statestore
