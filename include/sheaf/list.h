#pragma once

/// @file
/// List: a list of items in the store that many clients change and read at once. docs/lists.md says
/// what is promised, what is not, and what it costs; sheaf/async.h has the asynchronous forms.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sheaf/client.h>

namespace sheaf {
inline namespace v0 {

/// Options of a List handle.
struct ListOptions {
  /// How long each call may take, unless the call says otherwise: 1 ms to 24 h. None: five times
  /// the cluster's `timeout`, so 5 s unless configured. Below 2 s, the lease of a list's lock, an
  /// edit may end before the lock of a writer that died.
  Timeout timeout{};
  bool persist = false;  ///< SetOptions::persist of the whole list; counts for its first edit.
};

/// Options of one call of a List.
struct ListCallOptions {
  /// How long the call may take: 1 ms to 24 h; push_many: each part, drop_holes: each step. None:
  /// as ListOptions::timeout says.
  Timeout timeout{};
  Stop stop{};  ///< For the whole call; see Stop.
};

/// What push_many did. It is no Result because a part may be in the list and the rest not.
struct PushManyResult {
  std::size_t pushed = 0;      ///< How many of the values, from the front, are in the list.
  std::uint64_t length = 0;    ///< The list's length right after the last of them; 0 if none was.
  std::optional<Error> error;  ///< Why the others are not. With Outcome::unknown the next part, all
                               ///< or nothing, may be in the list, or come later.
};

class AsyncList;
class ListPages;

/// A handle to one list of one cluster, by name. Cheap to make and to copy; all handles of a client
/// to one list share one queue: pushes that wait at the same time become one commit.
///
/// Thread rule: any thread may call any member at any time; blocking calls not from a thread that
/// drives a client (see Client).
///
/// Lifetime: may outlive the Client; then its calls end with Outcome::shutdown. A moved-from handle
/// is as it was.
///
/// Names are any 1 to 4,096 bytes; on memcached 216, and each blank, control character, `%`, `{`
/// and `}` counts as three. Items are any bytes, the empty item included, up to the cluster's
/// `value_limit`. Items never expire; `default_ttl` does not apply to lists. A list that was never
/// written is empty.
///
/// Indexes begin at 0; negative ones count from the end, -1 is the last item. An index that is not
/// there is a result, not an error.
///
/// Every edit is applied once, all or nothing, or not at all; edits of all clients happen one after
/// the other. Errors: Outcome::unknown if the edit may have been applied or may be yet; with every
/// other outcome it was not and will not be. Outcome::unsupported on endpoints that have no lists.
///
/// memcached may drop any key to make room, and forgets all of them when it restarts; a server of
/// the Redis protocol may lose the last edits in a failover, and keys if it evicts any. A list
/// whose head is gone is empty; a missing item or segment is a hole: calls that meet one end with
/// Reason::incomplete, range_with_holes shows it, drop_holes removes it.
class SHEAF_API List {
 public:
  /// Connects to nothing; every call reports a name or time-out that is not allowed
  /// (Reason::bad_argument).
  List(Client& client, std::string name, ListOptions options = {});
  /// Another handle to the same list.
  List(const List&) = default;
  /// Becomes a copy.
  List& operator=(const List&) = default;
  ~List() = default;

  /// Appends an item; the list's length right after it.
  Result<std::uint64_t> push(std::string_view value, const ListCallOptions& options = {});
  /// Appends items in their order, in parts of at most 2,000 items or 4 MiB. Each part is one
  /// commit: all of it or nothing. Between two parts others may push theirs.
  PushManyResult push_many(std::span<const std::string_view> values,
                           const ListCallOptions& options = {});
  /// Puts an item before the one at `index`; `index` == length() appends. The new length, or
  /// nothing if there is no such index.
  Result<std::optional<std::uint64_t>> insert(std::int64_t index, std::string_view value,
                                              const ListCallOptions& options = {});
  /// Replaces an item. False if there is no such index.
  Result<bool> update(std::int64_t index, std::string_view value,
                      const ListCallOptions& options = {});
  /// Removes an item and returns it, or nothing if there is no such index. Exactly one of several
  /// callers gets an item: remove(0) takes from a queue.
  Result<std::optional<std::string>> remove(std::int64_t index,
                                            const ListCallOptions& options = {});
  /// Removes all items.
  Result<void> clear(const ListCallOptions& options = {});

  /// The items from `first` to `last`, both included, as they were at one moment. Indexes beyond
  /// the ends are cut; range(0, -1) is all.
  Result<std::vector<std::string>> range(std::int64_t first, std::int64_t last,
                                         const ListCallOptions& options = {}) const;
  /// The same, with nothing in the place of an item that is missing.
  Result<std::vector<std::optional<std::string>>> range_with_holes(
      std::int64_t first, std::int64_t last, const ListCallOptions& options = {}) const;
  /// Removes missing items from the whole list; how many there were. Reads every item. One commit
  /// for each segment with holes.
  Result<std::uint64_t> drop_holes(const ListCallOptions& options = {});
  /// The number of items, the missing ones included.
  Result<std::uint64_t> length(const ListCallOptions& options = {}) const;
  /// Reads the whole list page by page, `page_items` at a time (0 counts as 1).
  ListPages pages(std::size_t page_items = 1'000) const;

  /// The name, as given.
  const std::string& name() const noexcept { return name_; }

  /// The asynchronous forms of these members: sheaf/async.h.
  AsyncList async() const;

 private:
  friend class AsyncList;
  std::shared_ptr<client::list::ListService> service_;
  std::string name_;
  ListOptions options_;
};

/// A walk through a list. Each page is as the list was at one moment; between two pages others may
/// change it; an item that then moves over the border of a page is seen twice or not at all.
///
/// Thread rule: one thread at a time.
class SHEAF_API ListPages {
 public:
  /// The next page; empty at the end of the list. After an error the same page is read again.
  Result<std::vector<std::string>> next(const ListCallOptions& options = {});

 private:
  friend class List;
  ListPages(const List& list, std::size_t page_items) noexcept
      : list_(list), page_items_(page_items) {}
  List list_;
  std::size_t page_items_;
  std::int64_t next_ = 0;
};

}  // namespace v0
}  // namespace sheaf
