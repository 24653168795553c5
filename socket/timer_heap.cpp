#include "socket/timer_heap.h"

namespace sheaf::socket {

class TimerHeap::Entry final : public Timer {
 public:
  Entry(TimerHeap& heap, TimerSink& sink) : heap_(heap) { node_.sink = &sink; }
  ~Entry() override { heap_.remove(node_); }
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;

  void set(Deadline deadline) override {
    if (node_.place != npos && node_.due == deadline) return;
    heap_.remove(node_);
    node_.due = deadline;
    if (deadline != never) heap_.insert(node_);
  }
  void cancel() override { heap_.remove(node_); }

 private:
  TimerHeap& heap_;
  Node node_;
};

std::unique_ptr<Timer> TimerHeap::make(TimerSink& sink) {
  return std::make_unique<Entry>(*this, sink);
}

void TimerHeap::fire(Now now) {
  ++round_;
  while (!heap_.empty() && heap_.front()->due <= now.mono && heap_.front()->round < round_) {
    Node& node = *heap_.front();
    remove(node);
    node.sink->on_timer(now);
  }
}

void TimerHeap::insert(Node& node) {
  node.round = round_;
  heap_.push_back(&node);
  node.place = heap_.size() - 1;
  sift_up(node.place);
}

void TimerHeap::remove(Node& node) noexcept {
  if (node.place == npos) return;
  const std::size_t hole = node.place;
  node.place = npos;
  Node* last = heap_.back();
  heap_.pop_back();
  if (last == &node) return;
  place(hole, last);
  sift_up(hole);
  sift_down(last->place);
}

void TimerHeap::place(std::size_t at, Node* node) noexcept {
  heap_[at] = node;
  node->place = at;
}

void TimerHeap::sift_up(std::size_t at) noexcept {
  Node* node = heap_[at];
  while (at > 0 && node->due < heap_[(at - 1) / 2]->due) {
    place(at, heap_[(at - 1) / 2]);
    at = (at - 1) / 2;
  }
  place(at, node);
}

void TimerHeap::sift_down(std::size_t at) noexcept {
  Node* node = heap_[at];
  for (;;) {
    std::size_t child = 2 * at + 1;
    if (child >= heap_.size()) break;
    if (child + 1 < heap_.size() && heap_[child + 1]->due < heap_[child]->due) ++child;
    if (heap_[child]->due >= node->due) break;
    place(at, heap_[child]);
    at = child;
  }
  place(at, node);
}

}  // namespace sheaf::socket
