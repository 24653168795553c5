#include "store/pipe/pipe_stream.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace sheaf::store::pipe {

PipeStream::PipeStream(std::shared_ptr<PipeLane> lane, std::size_t index,
                       SharedEngine::Guard& guard, server::Host::Connection& connection,
                       socket::StreamSink& sink)
    : lane_(std::move(lane)),
      index_(index),
      engine_(*lane_->engine(index)),
      connection_(&connection),
      sink_(sink) {
  guard.add(connection, *this);
}

PipeStream::~PipeStream() {
  if (gone_ != nullptr) *gone_ = true;
  if (connection_ != nullptr) {
    SharedEngine::Guard(engine_, *lane_, lane_->loop().now()).remove(*connection_);
  }
  lane_->forget(*this);
  lane_->touch(index_);
}

std::size_t PipeStream::write(std::span<const Bytes> parts) {
  if (connection_ == nullptr) return 0;
  std::size_t taken = 0;
  std::size_t wanted = 0;
  SharedEngine::Guard guard(engine_, *lane_, lane_->loop().now());
  for (Bytes part : parts) {
    wanted += part.size();
    while (!part.empty() && !connection_->closed()) {
      const std::span<std::byte> space = connection_->input_space();
      const std::size_t size = std::min(space.size(), part.size());
      if (size == 0) break;
      std::memcpy(space.data(), part.data(), size);
      connection_->on_input(size, guard.now());
      taken += size;
      part = part.subspan(size);
    }
    if (!part.empty()) break;
  }
  blocked_ = taken < wanted;
  lane_->touch(index_);
  return taken;
}

// Moves the engine's output into `space` without an intermediate copy.
PipeStream::Step PipeStream::take_output(std::span<std::byte> space, Now now) {
  SharedEngine::Guard guard(engine_, *lane_, now);
  Step step;
  for (const Bytes part : connection_->poll_output()) {
    const std::size_t size = std::min(part.size(), space.size() - step.taken);
    if (size > 0) std::memcpy(space.data() + step.taken, part.data(), size);
    step.taken += size;
  }
  if (step.taken > 0) connection_->on_output(step.taken, guard.now());
  step.more = !connection_->poll_output().empty();
  step.over = connection_->closed();
  step.room = blocked_ && !step.over && !connection_->input_space().empty();
  return step;
}

void PipeStream::run_deferred(Now now) {
  bool gone = false;
  gone_ = &gone;
  while (connection_ != nullptr) {
    const std::span<std::byte> space = sink_.read_space();
    const Step step = take_output(space, now);
    if (step.taken > 0) {
      sink_.on_read(step.taken, now);
      if (gone) return;
    }
    if (step.more && !space.empty()) continue;
    if (step.more) {
      lane_->postpone(*this);
    } else if (step.over) {
      gone_ = nullptr;
      end(now);
      return;
    } else if (step.room && std::exchange(blocked_, false)) {
      sink_.on_writable(now);
      if (gone) return;
    }
    break;
  }
  gone_ = nullptr;
}

void PipeStream::end(Now now) {
  SharedEngine::Guard(engine_, *lane_, now).remove(*connection_);
  connection_ = nullptr;
  sink_.on_closed(0, now);
}

}  // namespace sheaf::store::pipe
