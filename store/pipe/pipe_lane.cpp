#include "store/pipe/pipe_lane.h"

#include <algorithm>
#include <utility>

#include "store/pipe/pipe_stream.h"

namespace sheaf::store::pipe {

PipeLane::PipeLane(socket::DrivenLoop& loop, Engines engines)
    : loop_(loop), timer_(loop.timer(*this)) {
  for (auto& engine : engines) {
    SharedEngine::Guard(*engine, *this, loop_.now()).join();
    engines_.push_back({std::move(engine)});
  }
  loop_.defer(*this);
}

PipeLane::~PipeLane() {
  for (const UsedEngine& used : engines_) {
    SharedEngine::Guard(*used.engine, *this, loop_.now()).leave();
  }
  loop_.cancel(*this);
}

SharedEngine* PipeLane::engine(std::size_t index) {
  return index < engines_.size() ? engines_[index].engine.get() : nullptr;
}

void PipeLane::touch(std::size_t index) {
  engines_[index].touched = true;
  loop_.defer(*this);
}

void PipeLane::take_over() noexcept {
  {
    const sync::MutexLock lock(mutex_);
    takes_over_ = true;
  }
  loop_.post(*this);
}

void PipeLane::announce(PipeStream& stream, PipeLane* driver) {
  PipeLane& own = stream.lane();
  if (&own == driver) {
    own.loop_.defer(stream);
    return;
  }
  {
    const sync::MutexLock lock(own.mutex_);
    if (std::ranges::find(own.mail_, &stream) != own.mail_.end()) return;
    own.mail_.push_back(&stream);
  }
  own.loop_.post(own);
}

void PipeLane::postpone(PipeStream& stream) {
  postponed_.push_back(&stream);
  loop_.defer(*this);
}

void PipeLane::forget(PipeStream& stream) noexcept {
  loop_.forget(stream);
  std::erase(postponed_, &stream);
  const sync::MutexLock lock(mutex_);
  std::erase(mail_, &stream);
}

void PipeLane::run_deferred(Now now) {
  collect_mail();
  arm(now);
}

void PipeLane::on_timer(Now now) {
  for (PipeStream* stream : std::exchange(postponed_, {})) loop_.defer(*stream);
  for (UsedEngine& used : engines_) {
    if (used.next_tick > now.mono) continue;
    used.next_tick = SharedEngine::Guard(*used.engine, *this, now).tick();
  }
  loop_.defer(*this);
}

void PipeLane::collect_mail() {
  const sync::MutexLock lock(mutex_);
  for (PipeStream* stream : mail_) loop_.defer(*stream);
  mail_.clear();
  if (!std::exchange(takes_over_, false)) return;
  for (UsedEngine& used : engines_) used.touched = true;
}

void PipeLane::arm(Now now) {
  Deadline next = postponed_.empty() ? never : now.mono;
  for (UsedEngine& used : engines_) {
    if (std::exchange(used.touched, false)) {
      used.next_tick = SharedEngine::Guard(*used.engine, *this, now).watch();
    }
    next = std::min(next, used.next_tick);
  }
  timer_->set(next);
}

}  // namespace sheaf::store::pipe
