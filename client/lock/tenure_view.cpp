#include "client/lock/tenure_view.h"

#include <utility>

#include "base/read_clocks.h"

namespace sheaf::client::lock {

void TenureView::update(const Tenure& tenure, const std::optional<Error>& loss) {
  LockGuard::LossCallback lost;
  {
    const sync::MutexLock lock(mutex_);
    until_ = tenure.held ? tenure.until : Deadline{0};
    if (token_ != tenure.token) token_ = tenure.token;
    if (!loss || loss_ || given_back_) return;
    loss_ = loss;
    lost = std::exchange(on_loss_, nullptr);
  }
  if (!lost) return;
  context_.dispatcher().deliver([lost = std::move(lost), why = *loss] { lost(why); });
}

bool TenureView::believed() const { return !given_back_ && read_monotonic() < until_; }

// In a forked child the mutex may be held for ever: refusal() comes first.
bool TenureView::held() const {
  if (context_.refusal(false)) return false;
  const sync::MutexLock lock(mutex_);
  return believed();
}

std::string TenureView::token() const {
  if (context_.refusal(false)) return {};
  const sync::MutexLock lock(mutex_);
  return believed() ? token_ : std::string();
}

void TenureView::on_loss(LockGuard::LossCallback lost) {
  if (context_.forked()) return;
  Error why;
  {
    const sync::MutexLock lock(mutex_);
    if (given_back_) return;
    if (!loss_) {
      on_loss_ = std::move(lost);
      return;
    }
    why = *loss_;
  }
  if (!lost) return;
  context_.dispatcher().deliver([lost = std::move(lost), why = std::move(why)] { lost(why); });
}

bool TenureView::give_back() {
  const sync::MutexLock lock(mutex_);
  on_loss_ = nullptr;
  return !std::exchange(given_back_, true);
}

}  // namespace sheaf::client::lock
