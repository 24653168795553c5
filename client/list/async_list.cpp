// AsyncList with callbacks and coroutines: the same calls as List's, delivered.

#include "client/calls/owned_options.h"
#include "client/list/list_calls.h"

namespace sheaf {
inline namespace v0 {

namespace list = client::list;
using client::calls::Delivered;
using client::calls::OwnedOptions;

// ---- callbacks

void AsyncList::push(std::string_view value, const ListCallOptions& options,
                     Callback<Result<std::uint64_t>> done) const {
  list::push({*list_.service_, list_.name_, list_.options_.timeout, options}, value,
             Delivered(std::move(done)));
}

void AsyncList::push_many(std::span<const std::string_view> values, const ListCallOptions& options,
                          Callback<PushManyResult> done) const {
  list::push_many({*list_.service_, list_.name_, list_.options_.timeout, options}, values,
                  Delivered(std::move(done)));
}

void AsyncList::insert(std::int64_t index, std::string_view value, const ListCallOptions& options,
                       Callback<Result<std::optional<std::uint64_t>>> done) const {
  list::insert({*list_.service_, list_.name_, list_.options_.timeout, options}, index, value,
               Delivered(std::move(done)));
}

void AsyncList::update(std::int64_t index, std::string_view value, const ListCallOptions& options,
                       Callback<Result<bool>> done) const {
  list::update({*list_.service_, list_.name_, list_.options_.timeout, options}, index, value,
               Delivered(std::move(done)));
}

void AsyncList::remove(std::int64_t index, const ListCallOptions& options,
                       Callback<Result<std::optional<std::string>>> done) const {
  list::remove({*list_.service_, list_.name_, list_.options_.timeout, options}, index,
               Delivered(std::move(done)));
}

void AsyncList::clear(const ListCallOptions& options, Callback<Result<void>> done) const {
  list::clear({*list_.service_, list_.name_, list_.options_.timeout, options},
              Delivered(std::move(done)));
}

void AsyncList::range(std::int64_t first, std::int64_t last, const ListCallOptions& options,
                      Callback<Result<Items>> done) const {
  list::range({*list_.service_, list_.name_, list_.options_.timeout, options}, first, last,
              Delivered(std::move(done)));
}

void AsyncList::range_with_holes(std::int64_t first, std::int64_t last,
                                 const ListCallOptions& options,
                                 Callback<Result<ItemsAndHoles>> done) const {
  list::range_with_holes({*list_.service_, list_.name_, list_.options_.timeout, options}, first,
                         last, Delivered(std::move(done)));
}

void AsyncList::drop_holes(const ListCallOptions& options,
                           Callback<Result<std::uint64_t>> done) const {
  list::drop_holes({*list_.service_, list_.name_, list_.options_.timeout, options},
                   Delivered(std::move(done)));
}

void AsyncList::length(const ListCallOptions& options, Callback<Result<std::uint64_t>> done) const {
  list::length({*list_.service_, list_.name_, list_.options_.timeout, options},
               Delivered(std::move(done)));
}

// ---- coroutines

Awaitable<Result<std::uint64_t>> AsyncList::push(std::string_view value,
                                                 const ListCallOptions& options) const {
  return {[self = *this, value = std::string(value), own = OwnedOptions(options)](auto done) {
            self.push(value, own.get(), std::move(done));
          },
          hook_};
}

Awaitable<PushManyResult> AsyncList::push_many(std::span<const std::string_view> values,
                                               const ListCallOptions& options) const {
  return {[self = *this, texts = std::vector<std::string>(values.begin(), values.end()),
           own = OwnedOptions(options)](auto done) {
            const std::vector<std::string_view> views(texts.begin(), texts.end());
            self.push_many(views, own.get(), std::move(done));
          },
          hook_};
}

Awaitable<Result<std::optional<std::uint64_t>>> AsyncList::insert(
    std::int64_t index, std::string_view value, const ListCallOptions& options) const {
  return {[self = *this, index, value = std::string(value), own = OwnedOptions(options)](
              auto done) { self.insert(index, value, own.get(), std::move(done)); },
          hook_};
}

Awaitable<Result<bool>> AsyncList::update(std::int64_t index, std::string_view value,
                                          const ListCallOptions& options) const {
  return {[self = *this, index, value = std::string(value), own = OwnedOptions(options)](
              auto done) { self.update(index, value, own.get(), std::move(done)); },
          hook_};
}

Awaitable<Result<std::optional<std::string>>> AsyncList::remove(
    std::int64_t index, const ListCallOptions& options) const {
  return {[self = *this, index, own = OwnedOptions(options)](auto done) {
            self.remove(index, own.get(), std::move(done));
          },
          hook_};
}

Awaitable<Result<void>> AsyncList::clear(const ListCallOptions& options) const {
  return {[self = *this, own = OwnedOptions(options)](auto done) {
            self.clear(own.get(), std::move(done));
          },
          hook_};
}

Awaitable<Result<AsyncList::Items>> AsyncList::range(std::int64_t first, std::int64_t last,
                                                     const ListCallOptions& options) const {
  return {[self = *this, first, last, own = OwnedOptions(options)](auto done) {
            self.range(first, last, own.get(), std::move(done));
          },
          hook_};
}

Awaitable<Result<AsyncList::ItemsAndHoles>> AsyncList::range_with_holes(
    std::int64_t first, std::int64_t last, const ListCallOptions& options) const {
  return {[self = *this, first, last, own = OwnedOptions(options)](auto done) {
            self.range_with_holes(first, last, own.get(), std::move(done));
          },
          hook_};
}

Awaitable<Result<std::uint64_t>> AsyncList::drop_holes(const ListCallOptions& options) const {
  return {[self = *this, own = OwnedOptions(options)](auto done) {
            self.drop_holes(own.get(), std::move(done));
          },
          hook_};
}

Awaitable<Result<std::uint64_t>> AsyncList::length(const ListCallOptions& options) const {
  return {[self = *this, own = OwnedOptions(options)](auto done) {
            self.length(own.get(), std::move(done));
          },
          hook_};
}

}  // namespace v0
}  // namespace sheaf
