#include "client/list/list_registry.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "client/list/cas_register.h"
#include "client/list/store_register.h"
#include "client/runtime/outcomes.h"
#include "protocol/endpoint_kinds.h"

namespace sheaf::client::list {

Keys keys_of(std::string_view name, EndpointKind kind) {
  const bool versions = protocol::traits_of(kind).compares == protocol::Compares::versions;
  return Keys(name, versions ? Ids::drawn : Ids::counted);
}

std::optional<Error> check_name(std::string_view name, const ClusterConfig& config) {
  const auto bad = [](std::string text) {
    return runtime::local_error(Outcome::invalid, Reason::bad_argument, std::move(text));
  };
  if (name.empty() || name.size() > name_limit) {
    return bad("the list's name has " + std::to_string(name.size()) + " bytes; it needs 1 to " +
               std::to_string(name_limit));
  }
  const protocol::EndpointTraits& traits = protocol::traits_of(config.kind);
  const std::size_t longest = keys_of(name, config.kind).longest();
  if (traits.longest_key == 0 || longest <= traits.longest_key) return std::nullopt;
  return bad("the list's name makes keys of " + std::to_string(longest) + " bytes; " +
             std::string(traits.scheme) + " takes " + std::to_string(traits.longest_key) +
             ", so the name is " + std::to_string(longest - traits.longest_key) +
             " bytes too long");
}

namespace {

std::uint64_t head_limit(const ClusterConfig& config, const Keys& keys) {
  const auto largest_value = protocol::traits_of(config.kind).largest_value;
  if (largest_value == nullptr) return config.value_limit;
  return std::min(config.value_limit, largest_value(config, keys.head().size()));
}

}  // namespace

class ListRegistry::Entry final : public calls::ProcedureOwner {
 public:
  Entry(ListRegistry& registry, std::string name) : registry_(registry), name_(std::move(name)) {}

  void start(std::unique_ptr<Writer> writer, Now now) {
    writer_ = writer.get();
    registry_.host_.run(std::move(writer), *this, now);
  }
  void submit(EditCall& call, Now now) {
    last_use = ++registry_.uses_;
    writer_->add(call, now);
    run_->resume(now);
  }
  void cancel(EditCall& call, Now now) {
    writer_->cancel(call, now);
    run_->resume(now);
  }
  void shut_down(Now now) {
    writer_->on_shutdown(now);
    run_->resume(now);
  }
  void retire(Now now) {
    writer_->retire();
    run_->resume(now);
  }
  // True while an edit waits or something is in flight. That includes a release, unless it is
  // overdue.
  bool busy() const { return !writer_->idle() || writer_->releasing(); }

  std::uint64_t last_use = 0;

 private:
  // Destroys this entry once its writer is done.
  void on_progress(calls::ProcedureRun& run, Now) override {
    run_ = &run;
    while (EditRequest* request = writer_->poll_ended()) {
      static_cast<EditCall*>(request)->on_ended();
    }
    ListRegistry& registry = registry_;
    if (writer_->done() && !writer_->releasing()) {
      run.release();
      registry.entries_.erase(std::string(name_));
    }
    registry.finish_closing();
  }

  ListRegistry& registry_;
  const std::string name_;
  Writer* writer_ = nullptr;
  calls::ProcedureRun* run_ = nullptr;
};

ListRegistry::ListRegistry(calls::ProcedureHost& host, const ClusterConfig& config, Seed seed)
    : host_(host), config_(config), random_(seed) {}

ListRegistry::~ListRegistry() = default;

void ListRegistry::submit(const std::string& name, EditCall& call, Now now) {
  if (Entry* entry = find_or_make(name, now)) return entry->submit(call, now);
  call.outcome.emplace(
      Failure(runtime::local_error(Outcome::shutdown, Reason::closed, "the client is closing")));
  call.on_ended();
}

void ListRegistry::cancel(const std::string& name, EditCall& call, Now now) {
  const auto found = entries_.find(name);
  if (found != entries_.end()) found->second->cancel(call, now);
}

// Null while the client closes: a writer started then ends at once.
ListRegistry::Entry* ListRegistry::find_or_make(const std::string& name, Now now) {
  auto found = entries_.find(name);
  if (found == entries_.end()) {
    make_room(now);
    Keys keys = keys_of(name, config_.kind);
    WriterOptions options;
    options.head_limit = head_limit(config_, keys);
    options.counts = &counts_;
    auto list_register = make_register(keys);
    auto writer = std::make_unique<Writer>(std::move(keys), std::move(list_register), options,
                                           random_.fork());
    Entry& entry = *entries_.emplace(name, std::make_unique<Entry>(*this, name)).first->second;
    entry.start(std::move(writer), now);
    found = entries_.find(name);
  }
  return found == entries_.end() ? nullptr : found->second.get();
}

std::unique_ptr<Register> ListRegistry::make_register(const Keys& keys) {
  if (keys.ids() == Ids::drawn) {
    CasRegisterOptions options;
    options.step_timeout = config_.timeout;
    return std::make_unique<CasRegister>(keys, options, random_.fork());
  }
  StoreRegisterOptions options;
  options.step_timeout = config_.timeout;
  return std::make_unique<StoreRegister>(keys, options, random_.fork());
}

void ListRegistry::make_room(Now now) {
  if (entries_.size() < most_entries) return;
  Entry* oldest = nullptr;
  for (const auto& [name, entry] : entries_) {
    if (entry->busy()) continue;
    if (oldest == nullptr || entry->last_use < oldest->last_use) oldest = entry.get();
  }
  if (oldest != nullptr) oldest->retire(now);
}

void ListRegistry::close(calls::WorkEnd& end, Now now) {
  std::vector<std::string> names;
  for (const auto& [name, entry] : entries_) names.push_back(name);
  for (const std::string& name : names) {
    if (const auto found = entries_.find(name); found != entries_.end()) {
      found->second->shut_down(now);
    }
  }
  closing_ = &end;
  finish_closing();
}

void ListRegistry::finish_closing() {
  if (closing_ == nullptr) return;
  const bool busy =
      std::ranges::any_of(entries_, [](const auto& each) { return each.second->busy(); });
  if (!busy) std::exchange(closing_, nullptr)->ended();
}

}  // namespace sheaf::client::list
