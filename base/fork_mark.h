#pragma once

// ForkMark: distinguishes a process from its forked children. Objects made before a fork are
// useless in the child: threads are gone, and mutexes may be held forever.
//
// Thread rule: any thread.

#include <atomic>
#include <memory>

namespace sheaf {

class ForkMark {
 public:
  ForkMark();
  // True in a child that was forked after the mark was made.
  bool forked() const noexcept;

 private:
  const unsigned generation_;
};

// A static object that a forked child replaces by one of its own, so that it meets no mutex of its
// parent. T is made with a pointer to the object of the parent, null in the first process; it may
// read only what the parent changed atomically. Objects are never destroyed.
template <class T>
class PerProcess {
 public:
  constexpr PerProcess() noexcept = default;
  PerProcess(const PerProcess&) = delete;
  PerProcess& operator=(const PerProcess&) = delete;

  T& get() {
    Made* known = made_.load(std::memory_order_acquire);
    while (known == nullptr || known->process.forked()) {
      auto fresh = std::make_unique<Made>(known);
      if (made_.compare_exchange_strong(known, fresh.get(), std::memory_order_acq_rel)) {
        return fresh.release()->object;
      }
    }
    return known->object;
  }

 private:
  struct Made {
    explicit Made(Made* before)
        : object(before == nullptr ? nullptr : &before->object), parent(before) {}
    const ForkMark process;
    T object;
    Made* const parent;  // never freed
  };

  std::atomic<Made*> made_ = nullptr;
};

}  // namespace sheaf
