#include "client/lock/tenure_view.h"

#include <utility>

#include "base/read_clocks.h"

namespace sheaf::client::lock {

void TenureView::update(const Tenure& tenure, const std::optional<Error>& loss) {
  std::shared_ptr<Report> report;
  {
    const sync::MutexLock lock(mutex_);
    until_ = tenure.held ? tenure.until : Deadline{0};
    if (token_ != tenure.token) token_ = tenure.token;
    if (!loss || loss_ || given_back_) return;
    loss_ = loss;
    report = report_;
  }
  deliver(std::move(report), *loss);
}

bool TenureView::believed() const { return !given_back_ && read_monotonic() < until_; }

// refusal() comes first, because a forked child may find the mutex locked forever.
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
  std::shared_ptr<Report> report;
  if (lost) report = std::make_shared<Report>(std::move(lost));
  Error why;
  {
    const sync::MutexLock lock(mutex_);
    if (given_back_) return;
    replace_report(report);
    if (!loss_) return;
    why = *loss_;
  }
  deliver(std::move(report), why);
}

void TenureView::replace_report(std::shared_ptr<Report> by) {
  if (report_ != nullptr) report_->withdrawn = true;
  report_ = std::move(by);
}

void TenureView::deliver(std::shared_ptr<Report> report, const Error& why) {
  if (report == nullptr) return;
  context_.dispatcher().deliver([report = std::move(report), why] {
    if (report->withdrawn) return;
    const LockGuard::LossCallback lost = std::exchange(report->lost, nullptr);
    lost(why);
  });
}

bool TenureView::give_back() {
  const sync::MutexLock lock(mutex_);
  replace_report(nullptr);
  return !std::exchange(given_back_, true);
}

}  // namespace sheaf::client::lock
