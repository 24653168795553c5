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
  host.session.hold_results = !options.data.empty();
  return host;
}

}  // namespace

SharedEngine::SharedEngine(const EngineOptions& options)
    : options_(options), host_(host_options(options)) {}

std::expected<std::shared_ptr<SharedEngine>, std::string> SharedEngine::open(
    const EngineOptions& options, unsigned index) {
  auto engine = std::make_shared<SharedEngine>(options);
  auto saver = open_saver(options, index, engine->engine(), read_clocks());
  if (!saver) return std::unexpected(std::move(saver.error()));
  if (*saver != nullptr) engine->keep_by(std::move(*saver));
  return engine;
}

void SharedEngine::keep_by(std::unique_ptr<Saver> saver) {
  const sync::MutexLock lock(mutex_);
  saver_ = std::move(saver);
  host_.set_file(*saver_);
  committer_ = QuietThread("sheaf-store", [this] { save_main(); });
}

SharedEngine::~SharedEngine() {
  if (!committer_.joinable()) return;
  {
    const sync::MutexLock lock(mutex_);
    ending_ = true;
    work_.notify_one();
  }
  committer_.join();
}

// Committing -------------------------------------------------------------------------------------

void SharedEngine::save_main() {
  const sync::MutexLock lock(mutex_);
  while (!ending_) {
    const Now now = advance(read_clocks());
    if (saver_->due(now)) {
      save();
      continue;
    }
    wakes_at_ = saver_->next().value_or(never);
    if (wakes_at_ == never) {
      work_.wait(mutex_);
    } else {
      work_.wait_until(mutex_, wakes_at_);
    }
    wakes_at_ = Deadline{0};
  }
}

void SharedEngine::save() {
  Saver& saver = *saver_;
  const bool was_frozen = saver.frozen();
  saver.begin(advance(read_clocks()));
  host_.seal();
  mutex_.unlock();
  saver.write();
  mutex_.lock();
  const bool saved = saver.finish(advance(read_clocks()));
  if (saved) host_.release_sealed();
  if (!saved && !was_frozen) host_.abandon(saver.trouble());
  if (saver.may_tell()) host_.release_all();
  announce_ready(nullptr);
}

// After requests and ticks.
void SharedEngine::settle(Now now) {
  if (saver_ == nullptr) return;
  saver_->note(now);
  if (saver_->may_tell()) host_.release_all();
  const Deadline wanted = saver_->due(now) ? now.mono : saver_->next().value_or(never);
  if (wanted >= wakes_at_) return;
  wakes_at_ = Deadline{0};
  work_.notify_one();
}

void SharedEngine::announce_ready(PipeLane* driver) {
  while (server::Host::Connection* ready = host_.poll_ready()) {
    const auto found = streams_.find(ready);
    if (found != streams_.end()) PipeLane::announce(*found->second, driver);
  }
}

Now SharedEngine::advance(Now now) {
  now.mono = last_ = std::max(last_, now.mono);
  return now;
}

// Guard ------------------------------------------------------------------------------------------

SharedEngine::Guard::Guard(SharedEngine& engine, PipeLane& lane, Now now)
    : engine_(engine), lane_(lane), now_(now) {
  engine_.mutex_.lock();
  now_ = engine_.advance(now);
}

SharedEngine::Guard::~Guard() {
  engine_.settle(now_);
  engine_.announce_ready(&lane_);
  engine_.mutex_.unlock();
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
  return engine_.host_.next_deadline().value_or(never);
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
