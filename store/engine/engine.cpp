// Pure: no socket, clock, entropy, thread or callback.

#include "store/engine/engine.h"

#include "store/engine/state.h"

namespace sheaf::store {

Engine::Engine(const EngineOptions& options, std::uint64_t seed)
    : state_(std::make_unique<State>(options, seed)) {}
Engine::~Engine() = default;
Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;

Answer Engine::execute(const Request& request, Now now) { return state_->execute(request, now); }
Answer Engine::inspect(const Request& request, const HostNumbers& host, Now now) {
  return state_->inspect(request, host, now);
}
void Engine::disconnect(ClientHandle client) { state_->watches().remove_client(client); }
void Engine::tick(Now now) { state_->tick(now); }
std::optional<Deadline> Engine::next_expiry() const { return state_->next_expiry(); }
bool Engine::poll_notification(Notification& out) { return state_->watches().poll(out); }

Journal& Engine::journal() { return state_->journal(); }

std::size_t Engine::keys() const { return state_->records().size(); }
std::uint64_t Engine::bytes() const { return state_->records().bytes(); }
std::size_t Engine::watches() const { return state_->watches().size(); }
Usage Engine::usage(Account account) const {
  Usage usage = state_->records().usage(account);
  usage.watches = state_->watches().count(account);
  return usage;
}
std::vector<std::string> Engine::watched_by(ClientHandle client) const {
  return state_->watches().keys_of(client);
}
std::size_t Engine::remembered_answers() const { return state_->gauges().answers; }
std::size_t Engine::remembered_fences() const { return state_->gauges().fences; }
const EngineCounters& Engine::counters() const { return state_->counters(); }
std::vector<Number> Engine::numbers(const HostNumbers& host) const {
  return list_numbers(state_->gauges(), state_->counters(), host);
}
const EngineOptions& Engine::options() const { return state_->options(); }

}  // namespace sheaf::store
