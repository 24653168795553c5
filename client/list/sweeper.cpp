// Pure: no socket, clock, entropy, thread or callback.

#include "client/list/sweeper.h"

#include <utility>

namespace sheaf::client::list {

using protocol::Status;

void Sweeper::sweep(const std::vector<Garbage>& garbage, Terms terms) {
  const bool idle = trees_.empty();
  for (const Garbage& each : garbage) {
    switch (each.kind) {
      case Garbage::Kind::item:
        start(Verb::remove, keys_.item(each.id), leaf, terms);
        break;
      case Garbage::Kind::segment:
        start(Verb::remove, keys_.segment(each.id), leaf, terms);
        break;
      case Garbage::Kind::tree:
        if (idle && trees_.size() < trees_at_once) trees_.push_back(each.id);
        break;
    }
  }
  if (!idle || trees_.empty()) return;
  terms_ = std::move(terms);
  get_tree();
}

void Sweeper::discard(std::vector<std::string> keys, const Terms& terms) {
  for (std::string& key : keys) start(Verb::remove, std::move(key), leaf, terms);
}

void Sweeper::forget_swept(std::vector<Garbage>& garbage) {
  if (swept_.empty()) return;
  std::erase_if(garbage, [this](const Garbage& each) {
    return each.kind == Garbage::Kind::tree && swept_.contains(each.id);
  });
}

void Sweeper::start_over() {
  give_up();
  swept_.clear();
  pending_.drop_waiting();
}

void Sweeper::start(Verb verb, std::string key, Purpose purpose, const Terms& terms) {
  PendingOperation operation(verb, std::move(key));
  if (verb == Verb::remove) operation.fence = terms.fence;
  operation.connection = terms.connection;
  operation.deadline = terms.deadline;
  operation.purpose = purpose;
  operation.attempt = work_;
  pending_.add(std::move(operation));
}

void Sweeper::get_tree() { start(Verb::get, keys_.segment(trees_.back()), read_tree, terms_); }

void Sweeper::next_tree() {
  swept_.insert(trees_.back());
  trees_.pop_back();
  if (!trees_.empty()) get_tree();
}

void Sweeper::give_up() {
  trees_.clear();
  ++work_;
}

void Sweeper::on_tree(const socket::Completion& answer) {
  if (answer.reply.status != Status::done) return next_tree();
  const auto ids = parse_segment(answer.reply.value, 0);
  if (!ids) return give_up();  // it stays in the head's garbage, which does no harm
  items_left_ = ids->size();
  for (const Id id : *ids) start(Verb::remove, keys_.item(id), tree_item, terms_);
}

bool Sweeper::on_answer(unsigned id, const socket::Completion& answer) {
  const std::unique_ptr<PendingOperation> operation = pending_.answered(id);
  if (operation == nullptr) return false;
  const auto purpose = static_cast<Purpose>(operation->purpose);
  if (purpose == leaf || operation->attempt != work_) return true;
  if (!answer.answered) return give_up(), true;
  if (purpose == read_tree) {
    on_tree(answer);
  } else if (purpose == tree) {
    next_tree();
  } else if (--items_left_ == 0) {  // last, so that a later attempt can find the items
    start(Verb::remove, keys_.segment(trees_.back()), tree, terms_);
  }
  return true;
}

}  // namespace sheaf::client::list
