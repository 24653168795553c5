// List and ListPages.

#include <algorithm>
#include <utility>

#include <sheaf/async.h>

#include "client/list/list_calls.h"
#include "client/runtime/features.h"

namespace sheaf {
namespace client::list {
namespace {

std::optional<Error> check_list(const ClusterConfig& config, const std::string& name) {
  if (auto missing = runtime::check_feature(config, Feature::lists)) return missing;
  return check_name(name, config);
}

}  // namespace

std::optional<Error> ListCall::refusal(Form form, std::span<const std::string_view> values) const {
  if (auto refused = context().refusal(form == Form::blocking)) return refused;
  if (auto error = check_list(config(), name)) return error;
  if (auto error = calls::check_timeout(of_list.timeout)) return error;
  if (auto error = calls::check_timeout(options.timeout)) return error;
  if (auto error = calls::check_persist(of_list.persist, config())) return error;
  for (const std::string_view value : values) {
    if (auto error = calls::check_value(value, config())) return error;
  }
  if (options.stop != nullptr && options.stop->stop_requested()) return calls::cancelled_error();
  return std::nullopt;
}

}  // namespace client::list

inline namespace v0 {

namespace list = client::list;
using client::calls::Returned;

List::List(Client& client, std::string name, ListOptions options)
    : service_(sheaf::client::list::service_of(client)),
      name_(std::move(name)),
      options_(options) {}

Result<std::uint64_t> List::push(std::string_view value, const ListCallOptions& options) {
  return list::push({*service_, name_, options_, options}, std::string(value),
                    Returned<Result<std::uint64_t>>());
}

PushManyResult List::push_many(std::span<const std::string_view> values,
                               const ListCallOptions& options) {
  return list::push_many({*service_, name_, options_, options}, values, Returned<PushManyResult>());
}

Result<std::optional<std::uint64_t>> List::insert(std::int64_t index, std::string_view value,
                                                  const ListCallOptions& options) {
  return list::insert({*service_, name_, options_, options}, index, std::string(value),
                      Returned<Result<std::optional<std::uint64_t>>>());
}

Result<bool> List::update(std::int64_t index, std::string_view value,
                          const ListCallOptions& options) {
  return list::update({*service_, name_, options_, options}, index, std::string(value),
                      Returned<Result<bool>>());
}

Result<std::optional<std::string>> List::remove(std::int64_t index,
                                                const ListCallOptions& options) {
  return list::remove({*service_, name_, options_, options}, index,
                      Returned<Result<std::optional<std::string>>>());
}

Result<void> List::clear(const ListCallOptions& options) {
  return list::clear({*service_, name_, options_, options}, Returned<Result<void>>());
}

Result<std::vector<std::string>> List::range(std::int64_t first, std::int64_t last,
                                             const ListCallOptions& options) const {
  return list::range({*service_, name_, options_, options}, first, last,
                     Returned<Result<std::vector<std::string>>>());
}

Result<std::vector<std::optional<std::string>>> List::range_with_holes(
    std::int64_t first, std::int64_t last, const ListCallOptions& options) const {
  return list::range_with_holes({*service_, name_, options_, options}, first, last,
                                Returned<Result<std::vector<std::optional<std::string>>>>());
}

Result<std::uint64_t> List::drop_holes(const ListCallOptions& options) {
  return list::drop_holes({*service_, name_, options_, options}, Returned<Result<std::uint64_t>>());
}

Result<std::uint64_t> List::length(const ListCallOptions& options) const {
  return list::length({*service_, name_, options_, options}, Returned<Result<std::uint64_t>>());
}

ListPages List::pages(std::size_t page_items) const {
  return {*this, std::max<std::size_t>(page_items, 1)};
}

AsyncList List::async() const { return {*this, {}}; }

Result<std::vector<std::string>> ListPages::next(const ListCallOptions& options) {
  const auto count = static_cast<std::int64_t>(std::min<std::size_t>(page_items_, 1u << 20));
  auto page = list_.range(next_, next_ + count - 1, options);
  if (page) next_ += static_cast<std::int64_t>(page->size());
  return page;
}

}  // namespace v0
}  // namespace sheaf
