#pragma once

/// @file
/// The asynchronous forms of List: callbacks and coroutines. None of them blocks; each may be
/// called from any thread, a callback included.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sheaf/async.h>
#include <sheaf/list.h>
#include <sheaf/move_only_function.h>

namespace sheaf {
inline namespace v0 {

/// The callback and coroutine forms of List, made by List::async. Each member comes twice: with a
/// callback, which runs on the dispatcher exactly once, and without one, to be awaited. Arguments
/// and results are those of the blocking member of the same name. Views are copied before the call
/// returns.
///
/// Pushes that are in flight at the same time become one commit, in the order of the calls.
///
/// Thread rule: any thread may call any member at any time.
/// Lifetime: cheap to copy; may outlive the List and the Client: without the Client calls end with
/// Outcome::shutdown, and their callbacks run on the calling thread.
class SHEAF_API AsyncList {
 public:
  /// Receives the outcome of a call.
  template <class Out>
  using Callback = MoveOnlyFunction<void(Out)>;
  using Items = std::vector<std::string>;                         ///< What range comes to.
  using ItemsAndHoles = std::vector<std::optional<std::string>>;  ///< range_with_holes

  /// The same list; its coroutines are resumed by the hook.
  AsyncList resume_by(ResumeHook hook) const { return {list_, std::move(hook)}; }

  /// See List::push.
  void push(std::string_view value, const ListCallOptions& options,
            Callback<Result<std::uint64_t>> done) const;
  Awaitable<Result<std::uint64_t>> push(std::string_view value,
                                        const ListCallOptions& options = {}) const;
  /// See List::push_many.
  void push_many(std::span<const std::string_view> values, const ListCallOptions& options,
                 Callback<PushManyResult> done) const;
  Awaitable<PushManyResult> push_many(std::span<const std::string_view> values,
                                      const ListCallOptions& options = {}) const;
  /// See List::insert.
  void insert(std::int64_t index, std::string_view value, const ListCallOptions& options,
              Callback<Result<std::optional<std::uint64_t>>> done) const;
  Awaitable<Result<std::optional<std::uint64_t>>> insert(std::int64_t index, std::string_view value,
                                                         const ListCallOptions& options = {}) const;
  /// See List::update.
  void update(std::int64_t index, std::string_view value, const ListCallOptions& options,
              Callback<Result<bool>> done) const;
  Awaitable<Result<bool>> update(std::int64_t index, std::string_view value,
                                 const ListCallOptions& options = {}) const;
  /// See List::remove.
  void remove(std::int64_t index, const ListCallOptions& options,
              Callback<Result<std::optional<std::string>>> done) const;
  Awaitable<Result<std::optional<std::string>>> remove(std::int64_t index,
                                                       const ListCallOptions& options = {}) const;
  /// See List::clear.
  void clear(const ListCallOptions& options, Callback<Result<void>> done) const;
  Awaitable<Result<void>> clear(const ListCallOptions& options = {}) const;

  /// See List::range.
  void range(std::int64_t first, std::int64_t last, const ListCallOptions& options,
             Callback<Result<Items>> done) const;
  Awaitable<Result<Items>> range(std::int64_t first, std::int64_t last,
                                 const ListCallOptions& options = {}) const;
  /// See List::range_with_holes.
  void range_with_holes(std::int64_t first, std::int64_t last, const ListCallOptions& options,
                        Callback<Result<ItemsAndHoles>> done) const;
  Awaitable<Result<ItemsAndHoles>> range_with_holes(std::int64_t first, std::int64_t last,
                                                    const ListCallOptions& options = {}) const;
  /// See List::drop_holes.
  void drop_holes(const ListCallOptions& options, Callback<Result<std::uint64_t>> done) const;
  Awaitable<Result<std::uint64_t>> drop_holes(const ListCallOptions& options = {}) const;
  /// See List::length.
  void length(const ListCallOptions& options, Callback<Result<std::uint64_t>> done) const;
  Awaitable<Result<std::uint64_t>> length(const ListCallOptions& options = {}) const;

 private:
  friend class List;
  AsyncList(List list, ResumeHook hook) noexcept : list_(std::move(list)), hook_(std::move(hook)) {}
  List list_;
  ResumeHook hook_;
};

}  // namespace v0
}  // namespace sheaf
