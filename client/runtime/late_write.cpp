#include "client/runtime/late_write.h"

#include "base/read_clocks.h"

namespace sheaf::client::runtime {
namespace {

constexpr std::chrono::seconds patience{5};
constexpr std::chrono::milliseconds pause{100};

}  // namespace

LateWrite::LateWrite(Path& own, Path& other, std::uint32_t node, std::string_view key,
                     LateWriteOwner& owner)
    : own_(own), other_(other), node_(node), key_(key), owner_(owner) {
  place_.operation.key = key_;
  question_.operation.verb = protocol::Verb::probe;
  question_.operation.deadline = read_monotonic() + patience;
  question_.counted = false;
  question_.sink = this;
}

// The first question is posted, so that the keeper drives at once: no caller does.
void LateWrite::begin() noexcept {
  own_.run([this](Now) { own_.cluster().sender().hold_key(place_); });
  other_.lane().post(ask_);
}

void LateWrite::ask(Now now) {
  if (timer_ == nullptr) timer_ = other_.loop().timer(*this);
  if (other_.cluster().topology().member(node_) == nullptr) return end();
  other_.cluster().start_on(node_, question_, now);
}

void LateWrite::on_done(socket::Request&, const socket::Completion& completion) {
  const Deadline next = completion.now.mono + pause;
  const bool closes = completion.reason == Reason::closed;
  if (completion.answered || closes || next >= question_.operation.deadline) return end();
  timer_->set(next);
}

void LateWrite::end() noexcept {
  timer_->cancel();
  own_.lane().post(free_key_);
}

void LateWrite::free_key(Now) {
  own_.cluster().sender().release_key(place_);
  owner_.on_key_free();
}

}  // namespace sheaf::client::runtime
