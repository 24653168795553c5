#include "store/pipe/shared_engine.h"

#include <algorithm>

#include "base/random.h"
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

SharedEngine::Guard::Guard(SharedEngine& engine, PipeLane& lane, Now now)
    : engine_(engine), lane_(lane), now_(now) {
  engine_.mutex_.lock();
  now_.mono = engine_.last_ = std::max(engine_.last_, now.mono);
}

SharedEngine::Guard::~Guard() {
  while (server::Host::Connection* ready = engine_.host_.poll_ready()) {
    const auto found = engine_.streams_.find(ready);
    if (found != engine_.streams_.end()) PipeLane::announce(*found->second, lane_);
  }
  engine_.mutex_.unlock();
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
  engine_.lanes_.push_back(&lane_);
}

void SharedEngine::Guard::leave() {
  engine_.mutex_.assert_held();
  std::erase(engine_.lanes_, &lane_);
  if (!engine_.lanes_.empty()) engine_.lanes_.front()->take_over();
}

}  // namespace sheaf::store::pipe
