#pragma once

// The calls of a list, each a template over its way (client/calls/ways.h).
//
// Thread rule: any thread.

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <sheaf/list.h>

#include "base/read_clocks.h"
#include "client/calls/ways.h"
#include "client/list/list_works.h"

namespace sheaf::client::list {

using calls::Form;

// The arguments that all calls of a list have.
struct ListCall {
  ListService& service;
  const std::string& name;
  const ListOptions& of_list;
  const ListCallOptions& options;

  runtime::Context& context() const noexcept { return service.context; }
  const ClusterConfig& config() const noexcept { return service.context.config(); }
  std::chrono::nanoseconds time() const {
    return step_time(config(), of_list.timeout, options.timeout);
  }
  // The reason that the call cannot start, if any. `values`: the items to write.
  std::optional<Error> refusal(Form form, std::span<const std::string_view> values = {}) const;
};

template <class Way, class Convert>
typename Way::Return edit(const ListCall& call, Edit::Kind kind, std::int64_t index,
                          std::optional<std::string> value, Convert convert, Way way) {
  runtime::Context& context = call.context();
  const runtime::Context::Entry entry(context);
  const std::string_view item = value ? std::string_view(*value) : std::string_view();
  const std::span<const std::string_view> values(&item, value ? 1 : 0);
  if (auto error = call.refusal(Way::form, values)) return way.refuse(context, std::move(*error));
  Edit one{.kind = kind, .index = index, .persist = call.of_list.persist};
  if (value) one.values.push_back(std::move(*value));
  return way.template run<RunEdit>(context, call.options.stop, convert, call.service, call.name,
                                   std::move(one), read_monotonic(), call.time());
}

template <class Way, class Make, class Convert>
typename Way::Return read(const ListCall& call, const Make& make, Convert convert, Way way) {
  runtime::Context& context = call.context();
  const runtime::Context::Entry entry(context);
  if (auto error = call.refusal(Way::form)) return way.refuse(context, std::move(*error));
  auto reader = make(keys_of(call.name, call.config().kind),
                     read_terms(call.config(), read_monotonic(), call.time()));
  reader->set_parent(context.observed_parent());
  return way.template run<calls::RunProcedure<Reader>>(context, call.options.stop, convert,
                                                       call.service.procedures, std::move(reader));
}

// ---- edits

template <class Way>
typename Way::Return push(const ListCall& call, std::string value, Way way) {
  const auto length = [](Result<EditOutcome> done) {
    return std::move(done).transform([](const EditOutcome& edited) { return edited.length; });
  };
  return edit(call, Edit::Kind::push, 0, std::move(value), length, std::move(way));
}

template <class Way>
typename Way::Return insert(const ListCall& call, std::int64_t index, std::string value, Way way) {
  const auto length = [](Result<EditOutcome> done) {
    return std::move(done).transform([](const EditOutcome& edited) {
      return edited.found ? std::optional(edited.length) : std::nullopt;
    });
  };
  return edit(call, Edit::Kind::insert, index, std::move(value), length, std::move(way));
}

template <class Way>
typename Way::Return update(const ListCall& call, std::int64_t index, std::string value, Way way) {
  const auto found = [](Result<EditOutcome> done) {
    return std::move(done).transform([](const EditOutcome& edited) { return edited.found; });
  };
  return edit(call, Edit::Kind::update, index, std::move(value), found, std::move(way));
}

template <class Way>
typename Way::Return remove(const ListCall& call, std::int64_t index, Way way) {
  const auto removed = [](Result<EditOutcome> done) {
    return std::move(done).transform([](EditOutcome edited) { return std::move(edited.removed); });
  };
  return edit(call, Edit::Kind::remove, index, std::nullopt, removed, std::move(way));
}

template <class Way>
typename Way::Return clear(const ListCall& call, Way way) {
  const auto nothing = [](Result<EditOutcome> done) -> Result<void> {
    if (!done) return Failure(std::move(done.error()));
    return {};
  };
  return edit(call, Edit::Kind::clear, 0, std::nullopt, nothing, std::move(way));
}

template <class Way>
typename Way::Return push_many(const ListCall& call, std::span<const std::string_view> values,
                               Way way) {
  runtime::Context& context = call.context();
  const runtime::Context::Entry entry(context);
  if (auto error = call.refusal(Way::form, values)) return way.refuse(context, std::move(*error));
  return way.template run<PushMany>(context, call.options.stop, calls::AsItIs(), call.service,
                                    call.name, values, call.time(), call.of_list.persist);
}

template <class Way>
typename Way::Return drop_holes(const ListCall& call, Way way) {
  runtime::Context& context = call.context();
  const runtime::Context::Entry entry(context);
  if (auto error = call.refusal(Way::form)) return way.refuse(context, std::move(*error));
  return way.template run<DropHoles>(context, call.options.stop, calls::AsItIs(), call.service,
                                     call.name, call.time());
}

// ---- reads

template <class Way>
typename Way::Return range(const ListCall& call, std::int64_t first, std::int64_t last, Way way) {
  const auto make = [=](Keys keys, const ReadTerms& terms) {
    return Reader::range(std::move(keys), first, last, terms);
  };
  const auto items = [](Reader::Out out) {
    return std::move(out).transform([](ReadOutcome found) { return std::move(found.items); });
  };
  return read(call, make, items, std::move(way));
}

template <class Way>
typename Way::Return range_with_holes(const ListCall& call, std::int64_t first, std::int64_t last,
                                      Way way) {
  const auto make = [=](Keys keys, const ReadTerms& terms) {
    return Reader::with_holes(std::move(keys), first, last, terms);
  };
  const auto items = [](Reader::Out out) {
    return std::move(out).transform([](ReadOutcome found) {
      std::vector<std::optional<std::string>> with_holes;
      with_holes.reserve(found.items.size());
      for (std::string& item : found.items) with_holes.emplace_back(std::move(item));
      for (const Hole& hole : found.holes) with_holes[hole.place].reset();
      return with_holes;
    });
  };
  return read(call, make, items, std::move(way));
}

template <class Way>
typename Way::Return length(const ListCall& call, Way way) {
  const auto make = [](Keys keys, const ReadTerms& terms) {
    return Reader::length(std::move(keys), terms);
  };
  const auto count = [](Reader::Out out) {
    return std::move(out).transform([](const ReadOutcome& found) { return found.length; });
  };
  return read(call, make, count, std::move(way));
}

}  // namespace sheaf::client::list
