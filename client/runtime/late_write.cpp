#include "client/runtime/late_write.h"

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
  question_.counted = false;
  question_.sink = this;
}

void LateWrite::start(Now now) {
  timer_ = other_.loop().timer(*this);
  question_.operation.deadline = now.mono + patience;
  ask(now);
}

void LateWrite::ask(Now now) {
  if (other_.cluster().topology().member(node_) == nullptr) return end();
  other_.cluster().start_on(node_, question_, now);
}

void LateWrite::on_done(socket::Request&, const socket::Completion& completion) {
  const Deadline next = completion.now.mono + pause;
  const bool over = completion.answered || completion.outcome == Outcome::shutdown;
  if (over || next >= question_.operation.deadline) return end();
  timer_->set(next);
}

void LateWrite::end() {
  timer_->cancel();
  owner_.on_late_write_ended();
}

}  // namespace sheaf::client::runtime
