#include "store/pipe/shared_engine.h"

#include <algorithm>
#include <utility>

#include "base/random.h"
#include "base/read_clocks.h"
#include "store/pipe/pipe_lane.h"

namespace sheaf::store::pipe {
namespace {

server::HostOptions host_options(const EngineOptions& options) {
  server::HostOptions host;
  host.engine = options;
  host.seed = Random(entropy()).u64();
  return host;
}

}  // namespace

SharedEngine::SharedEngine(const EngineOptions& options)
    : options_(options), host_(host_options(options)) {}

std::expected<std::shared_ptr<SharedEngine>, std::string> SharedEngine::open(
    const EngineOptions& options, unsigned index) {
  auto engine = std::make_shared<SharedEngine>(options);
  if (options.data.empty()) return engine;
  const sync::MutexLock lock(engine->mutex_);
  auto saver = open_saver(options, index, engine->host_.engine(), read_clocks());
  if (!saver) return std::unexpected(std::move(saver.error()));
  engine->saver_ = std::move(*saver);
  return engine;
}

SharedEngine::Guard::Guard(SharedEngine& engine, PipeLane& lane, Now now)
    : engine_(engine), lane_(lane), now_(now) {
  engine_.mutex_.lock();
  now_.mono = engine_.last_ = std::max(engine_.last_, now.mono);
}

SharedEngine::Guard::~Guard() {
  settle();
  while (server::Host::Connection* ready = engine_.host_.poll_ready()) {
    const auto found = engine_.streams_.find(ready);
    if (found != engine_.streams_.end()) PipeLane::announce(*found->second, lane_);
  }
  engine_.mutex_.unlock();
}

void SharedEngine::Guard::settle() {
  Saver* const saver = engine_.saver_.get();
  if (saver != nullptr && !saver->settle(now_, false)) engine_.host_.abandon(saver->trouble());
}

Deadline SharedEngine::Guard::watch() {
  engine_.mutex_.assert_held();
  const Deadline next = next_deadline();
  const bool keeps =
      engine_.keeper_ == &lane_ || engine_.keeper_ == nullptr || next < engine_.kept_ || overdue();
  if (!keeps) return engine_.kept_ == never ? never : engine_.kept_ + patience;
  engine_.keeper_ = &lane_;
  engine_.kept_ = next;
  return next;
}

Deadline SharedEngine::Guard::tick() {
  engine_.mutex_.assert_held();
  if (engine_.keeper_ != &lane_ && !overdue()) return never;
  ++engine_.ticks_;
  engine_.host_.tick(now_);
  return watch();
}

std::uint64_t SharedEngine::Guard::ticks() const {
  engine_.mutex_.assert_held();
  return engine_.ticks_;
}

bool SharedEngine::Guard::overdue() const {
  return engine_.kept_ != never && engine_.kept_ + patience <= now_.mono;
}

Deadline SharedEngine::Guard::next_deadline() const {
  const Deadline next = engine_.host_.next_deadline().value_or(never);
  if (engine_.saver_ == nullptr) return next;
  return std::min(next, engine_.saver_->next().value_or(never));
}

void SharedEngine::Guard::add(server::Host::Connection& connection, PipeStream& stream) {
  engine_.mutex_.assert_held();
  engine_.streams_.emplace(&connection, &stream);
}

void SharedEngine::Guard::remove(server::Host::Connection& connection) {
  engine_.mutex_.assert_held();
  engine_.streams_.erase(&connection);
  engine_.host_.release(connection);
}

void SharedEngine::Guard::join() {
  engine_.mutex_.assert_held();
  engine_.lanes_.insert(&lane_);
}

void SharedEngine::Guard::leave() {
  engine_.mutex_.assert_held();
  engine_.lanes_.erase(&lane_);
  if (engine_.keeper_ != &lane_) return;
  engine_.keeper_ = nullptr;
  engine_.kept_ = never;
  if (!engine_.lanes_.empty()) (*engine_.lanes_.begin())->take_over();
}

}  // namespace sheaf::store::pipe
