// AsyncList: the calls of List as Call objects that the caller consumes later.

#include <sheaf/async.h>

#include "client/calls/detached.h"
#include "client/calls/owned_texts.h"
#include "client/list/list_calls.h"

namespace sheaf {
inline namespace v0 {
namespace {

namespace list = client::list;
using client::calls::RunProcedure;
using list::ListCall;

// The parts of a list that its calls need.
struct Kept {
  const std::shared_ptr<list::ListService>& service;
  const std::string& name;
  ListOptions of_list;
};

// `start` owns the arguments. It is called with a ListCall and the way.
template <class Out, class Work, class Start>
Call<Out> later(const Kept& kept, const ResumeHook& hook, const ListCallOptions& options,
                Start start) {
  list::ListService& service = *kept.service;
  return client::calls::prepare<Out, Work>(
      {kept.service, service.context, hook}, options.stop,
      [&service, name = kept.name, of_list = kept.of_list, options = options,
       start = std::move(start)](client::runtime::Context&, Stop stop, auto way) mutable {
        options.stop = stop;
        start(ListCall{service, name, of_list, options}, way);
      });
}

}  // namespace

Call<Result<std::uint64_t>> AsyncList::push(std::string_view value,
                                            const ListCallOptions& options) const {
  return later<Result<std::uint64_t>, list::RunEdit>(
      {list_.service_, list_.name_, list_.options_}, hook_, options,
      [value = std::string(value)](const ListCall& call, auto way) mutable {
        list::push(call, std::move(value), way);
      });
}

Call<PushManyResult> AsyncList::push_many(std::span<const std::string_view> values,
                                          const ListCallOptions& options) const {
  return later<PushManyResult, list::PushMany>(
      {list_.service_, list_.name_, list_.options_}, hook_, options,
      [owned = client::calls::OwnedTexts(values)](const ListCall& call, auto way) {
        list::push_many(call, owned.views(), way);
      });
}

Call<Result<std::optional<std::uint64_t>>> AsyncList::insert(std::int64_t index,
                                                             std::string_view value,
                                                             const ListCallOptions& options) const {
  return later<Result<std::optional<std::uint64_t>>, list::RunEdit>(
      {list_.service_, list_.name_, list_.options_}, hook_, options,
      [index, value = std::string(value)](const ListCall& call, auto way) mutable {
        list::insert(call, index, std::move(value), way);
      });
}

Call<Result<bool>> AsyncList::update(std::int64_t index, std::string_view value,
                                     const ListCallOptions& options) const {
  return later<Result<bool>, list::RunEdit>(
      {list_.service_, list_.name_, list_.options_}, hook_, options,
      [index, value = std::string(value)](const ListCall& call, auto way) mutable {
        list::update(call, index, std::move(value), way);
      });
}

Call<Result<std::optional<std::string>>> AsyncList::remove(std::int64_t index,
                                                           const ListCallOptions& options) const {
  return later<Result<std::optional<std::string>>, list::RunEdit>(
      {list_.service_, list_.name_, list_.options_}, hook_, options,
      [index](const ListCall& call, auto way) { list::remove(call, index, way); });
}

Call<Result<void>> AsyncList::clear(const ListCallOptions& options) const {
  return later<Result<void>, list::RunEdit>(
      {list_.service_, list_.name_, list_.options_}, hook_, options,
      [](const ListCall& call, auto way) { list::clear(call, way); });
}

Call<Result<AsyncList::Items>> AsyncList::range(std::int64_t first, std::int64_t last,
                                                const ListCallOptions& options) const {
  return later<Result<Items>, RunProcedure<list::Reader>>(
      {list_.service_, list_.name_, list_.options_}, hook_, options,
      [first, last](const ListCall& call, auto way) { list::range(call, first, last, way); });
}

Call<Result<AsyncList::ItemsAndHoles>> AsyncList::range_with_holes(
    std::int64_t first, std::int64_t last, const ListCallOptions& options) const {
  return later<Result<ItemsAndHoles>, RunProcedure<list::Reader>>(
      {list_.service_, list_.name_, list_.options_}, hook_, options,
      [first, last](const ListCall& call, auto way) {
        list::range_with_holes(call, first, last, way);
      });
}

Call<Result<std::uint64_t>> AsyncList::drop_holes(const ListCallOptions& options) const {
  return later<Result<std::uint64_t>, list::DropHoles>(
      {list_.service_, list_.name_, list_.options_}, hook_, options,
      [](const ListCall& call, auto way) { list::drop_holes(call, way); });
}

Call<Result<std::uint64_t>> AsyncList::length(const ListCallOptions& options) const {
  return later<Result<std::uint64_t>, RunProcedure<list::Reader>>(
      {list_.service_, list_.name_, list_.options_}, hook_, options,
      [](const ListCall& call, auto way) { list::length(call, way); });
}

}  // namespace v0
}  // namespace sheaf
