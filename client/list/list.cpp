#include <algorithm>

#include <sheaf/list.h>

#include "base/read_clocks.h"
#include "client/calls/checks.h"
#include "client/calls/procedure_call.h"
#include "client/list/list_service.h"
#include "client/list/reader.h"
#include "client/runtime/features.h"

namespace sheaf {
inline namespace v0 {
namespace {

using client::calls::Receiver;
using client::list::Edit;
using client::list::EditOutcome;
using client::list::Keys;
using client::list::ListService;
using client::list::Reader;
using client::list::ReadTerms;

constexpr std::size_t part_items = 2'000;
constexpr std::size_t part_bytes = 4u << 20;
constexpr std::int64_t scanned_items = 2'000;  // by one read of drop_holes
constexpr int timeouts = 5;                    // of the cluster, for one edit or read

std::optional<Error> check_list(const ClusterConfig& config, const std::string& name,
                                const ListOptions& options) {
  if (auto missing = client::runtime::check_feature(config, Feature::lists)) return missing;
  if (auto error = client::list::check_name(name, config)) return error;
  return client::calls::check_timeout(options.timeout);
}

Deadline deadline_of(const ClusterConfig& config, Deadline started, const Timeout& timeout) {
  if (timeout) return started + *timeout;
  return started +
         std::min<std::chrono::nanoseconds>(timeouts * config.timeout, std::chrono::hours(24));
}

// An edit as a Work.
class RunEdit final : private client::list::EditCall {
 public:
  using Out = Result<EditOutcome>;

  RunEdit(client::calls::WorkEnd& end, ListService& service, std::string_view list_name,
          Edit the_edit, Deadline began, Deadline last)
      : end_(end), service_(service), name_(list_name) {
    edit = std::move(the_edit);
    started = began;
    deadline = last;
  }

  void own() {}  // all of it is a copy
  void start(Now now) { service_.registry.submit(name_, *this, now); }
  Out take() { return std::move(*outcome); }

 private:
  void on_ended() override { end_.ended(); }

  client::calls::WorkEnd& end_;
  ListService& service_;
  std::string name_;
};

// A push, which comes to the list's new length.
class RunPush final : private client::calls::WorkEnd {
 public:
  using Out = Result<std::uint64_t>;

  template <class... Args>
  explicit RunPush(client::calls::WorkEnd& end, Args&&... args)
      : end_(end), edit_(static_cast<WorkEnd&>(*this), std::forward<Args>(args)...) {}

  void own() {}
  void start(Now now) { edit_.start(now); }
  Out take() {
    return edit_.take().transform([](const EditOutcome& done) { return done.length; });
  }

 private:
  void ended() override { end_.ended(); }

  client::calls::WorkEnd& end_;
  RunEdit edit_;
};

// A list's edits and reads, once the arguments have been checked.
struct Access {
  ListService& service;
  const std::string& name;
  const ListOptions& options;

  const ClusterConfig& config() const noexcept { return service.context.config(); }

  // Why the call cannot start; `value`: an item to be written.
  std::optional<Error> refusal(bool blocking, std::optional<std::string_view> value = {}) const {
    if (auto refused = service.context.refusal(blocking)) return refused;
    if (auto error = check_list(config(), name, options)) return error;
    return value ? client::calls::check_value(*value, config()) : std::nullopt;
  }

  Result<EditOutcome> edit(Edit edit) const {
    const Deadline started = read_monotonic();
    const Deadline deadline = deadline_of(config(), started, options.timeout);
    return client::calls::Blocking<RunEdit>(service.context.lane(), {}, service, name,
                                            std::move(edit), started, deadline)
        .wait();
  }
  Result<EditOutcome> edit_checked(Edit::Kind kind, std::int64_t index,
                                   std::optional<std::string_view> value) const {
    if (auto error = refusal(true, value)) return Failure(std::move(*error));
    Edit one{kind, index, {}};
    if (value) one.values.emplace_back(*value);
    return edit(std::move(one));
  }

  template <class Make>
  Reader::Out read(const Make& make) const {
    if (auto error = refusal(true)) return Failure(std::move(*error));
    ReadTerms terms;
    terms.started = read_monotonic();
    terms.deadline = deadline_of(config(), terms.started, options.timeout);
    terms.step_timeout = config().timeout;
    Keys keys(name, client::list::ids_of(config().kind));
    return client::calls::run_procedure(service.context, service.procedures,
                                        make(std::move(keys), terms));
  }
};

// One edit for each segment with holes.
std::vector<Edit> drops(const std::vector<client::list::Hole>& holes) {
  std::vector<Edit> edits;
  for (const client::list::Hole& hole : holes) {
    if (edits.empty() || edits.back().segment != hole.segment) {
      edits.emplace_back().kind = Edit::Kind::drop;
      edits.back().segment = hole.segment;
    }
    if (hole.item != 0) edits.back().items.push_back(hole.item);
  }
  return edits;
}

}  // namespace

List::List(Client& client, std::string name, ListOptions options)
    : service_(client.lists()), name_(std::move(name)), options_(options) {}

Result<std::uint64_t> List::push(std::string_view value) {
  return Access{*service_, name_, options_}
      .edit_checked(Edit::Kind::push, 0, value)
      .transform([](const EditOutcome& done) { return done.length; });
}

void List::push_async(std::string_view value, PushCallback done) {
  Receiver<Result<std::uint64_t>> receiver{std::move(done)};
  if (auto error = Access{*service_, name_, options_}.refusal(false, value)) {
    return receiver.deliver(service_->context.dispatcher(), Failure(std::move(*error)));
  }
  const Deadline started = read_monotonic();
  Edit edit{Edit::Kind::push, 0, {std::string(value)}};
  client::calls::Detached<RunPush>::begin(
      service_->context, std::move(receiver), nullptr, *service_, name_, std::move(edit), started,
      deadline_of(service_->context.config(), started, options_.timeout));
}

PushManyResult List::push_many(std::span<const std::string_view> values) {
  const Access access{*service_, name_, options_};
  PushManyResult result;
  result.error = access.refusal(true);
  for (const std::string_view value : values) {
    if (!result.error) result.error = client::calls::check_value(value, service_->context.config());
  }
  while (!result.error && result.pushed < values.size()) {
    Edit part;
    std::size_t bytes = 0;
    for (const std::string_view value : values.subspan(result.pushed)) {
      bytes += value.size();
      const bool fits = part.values.size() < part_items && bytes <= part_bytes;
      if (!part.values.empty() && !fits) break;
      part.values.emplace_back(value);
    }
    const std::size_t count = part.values.size();
    result.error = access.refusal(true);
    if (result.error) break;
    auto done = access.edit(std::move(part));
    if (!done) {
      result.error = std::move(done.error());
      break;
    }
    result.pushed += count;
    result.length = done->length;
  }
  return result;
}

Result<std::optional<std::uint64_t>> List::insert(std::int64_t index, std::string_view value) {
  return Access{*service_, name_, options_}
      .edit_checked(Edit::Kind::insert, index, value)
      .transform([](const EditOutcome& done) {
        return done.found ? std::optional(done.length) : std::nullopt;
      });
}

Result<bool> List::update(std::int64_t index, std::string_view value) {
  return Access{*service_, name_, options_}
      .edit_checked(Edit::Kind::update, index, value)
      .transform([](const EditOutcome& done) { return done.found; });
}

Result<std::optional<std::string>> List::remove(std::int64_t index) {
  return Access{*service_, name_, options_}
      .edit_checked(Edit::Kind::remove, index, std::nullopt)
      .transform([](EditOutcome done) { return std::move(done.removed); });
}

Result<void> List::clear() {
  auto done = Access{*service_, name_, options_}.edit_checked(Edit::Kind::clear, 0, std::nullopt);
  if (!done) return Failure(std::move(done.error()));
  return {};
}

Result<std::vector<std::string>> List::range(std::int64_t first, std::int64_t last) const {
  return Access{*service_, name_, options_}
      .read([&](Keys keys, const ReadTerms& terms) {
        return Reader::range(std::move(keys), first, last, terms);
      })
      .transform([](client::list::ReadOutcome read) { return std::move(read.items); });
}

Result<std::uint64_t> List::length() const {
  return Access{*service_, name_, options_}
      .read(
          [](Keys keys, const ReadTerms& terms) { return Reader::length(std::move(keys), terms); })
      .transform([](const client::list::ReadOutcome& read) { return read.length; });
}

Result<std::vector<std::optional<std::string>>> List::range_with_holes(std::int64_t first,
                                                                       std::int64_t last) const {
  auto read = Access{*service_, name_, options_}.read([&](Keys keys, const ReadTerms& terms) {
    return Reader::with_holes(std::move(keys), first, last, terms);
  });
  if (!read) return Failure(std::move(read.error()));
  std::vector<std::optional<std::string>> items;
  items.reserve(read->items.size());
  for (std::string& item : read->items) items.emplace_back(std::move(item));
  for (const client::list::Hole& hole : read->holes) items[hole.place].reset();
  return items;
}

Result<std::uint64_t> List::drop_holes() {
  const Access access{*service_, name_, options_};
  std::uint64_t dropped = 0;
  for (std::int64_t first = 0;;) {
    auto read = access.read([&](Keys keys, const ReadTerms& terms) {
      return Reader::with_holes(std::move(keys), first, first + scanned_items - 1, terms);
    });
    if (!read) return Failure(std::move(read.error()));
    // What is taken out moves the rest to the front: the same part again.
    for (Edit& edit : drops(read->holes)) {
      auto done = access.edit(std::move(edit));
      if (!done) return Failure(std::move(done.error()));
      dropped += done->dropped;
    }
    if (!read->holes.empty()) continue;
    if (read->items.empty()) return dropped;
    first += static_cast<std::int64_t>(read->items.size());
  }
}

ListPages List::pages(std::size_t page_items) const {
  return {*this, std::max<std::size_t>(page_items, 1)};
}

Result<std::vector<std::string>> ListPages::next() {
  const auto count = static_cast<std::int64_t>(std::min<std::size_t>(page_items_, 1u << 20));
  auto page = list_.range(next_, next_ + count - 1);
  if (page) next_ += static_cast<std::int64_t>(page->size());
  return page;
}

}  // namespace v0
}  // namespace sheaf
