// Pure: no socket, clock, entropy, thread or callback.

#include "store/engine/watch_table.h"

#include "base/checks.h"
#include "protocol/statestore/topics.h"

namespace sheaf::store {

WatchTable::Added WatchTable::add(ClientHandle client, std::string_view client_id,
                                  std::string_view key, Account account,
                                  std::uint64_t account_limit) {
  auto entry = keys_.find(key);
  const auto known = clients_.find(client);
  if (account != nobody && account >= counts_.size()) counts_.resize(account + std::size_t{1});
  if (known != clients_.end()) change_account(known->second, account);
  if (entry != keys_.end() && known != clients_.end() && known->second.watches.contains(&*entry)) {
    return Added::yes;
  }
  const std::uint64_t key_bytes = entry == keys_.end() ? key.size() : 0;
  if (watches_ >= max_watches_ || key_bytes_ + key_bytes > max_key_bytes_) return Added::no_room;
  if (account != nobody && count(account) >= account_limit) return Added::account_full;

  Client& watcher =
      clients_.try_emplace(client, Client{client, std::string(client_id), {}, account})
          .first->second;
  if (entry == keys_.end()) {
    entry = keys_.try_emplace(std::string(key)).first;
    key_bytes_ += key_bytes;
  }
  std::vector<Client*>& watchers = entry->second.watchers;
  watcher.watches.emplace(&*entry, watchers.size());
  watchers.push_back(&watcher);
  ++watches_;
  count(account, 1);
  return Added::yes;
}

void WatchTable::change_account(Client& client, Account account) {
  discount(client.account, client.watches.size());
  count(account, client.watches.size());
  client.account = account;
}

std::vector<std::string> WatchTable::keys_of(ClientHandle client) const {
  std::vector<std::string> keys;
  const auto known = clients_.find(client);
  if (known == clients_.end()) return keys;
  for (const auto& [entry, index] : known->second.watches) keys.push_back(entry->first);
  return keys;
}

bool WatchTable::remove(ClientHandle client, std::string_view key) {
  const auto entry = keys_.find(key);
  const auto known = clients_.find(client);
  if (entry == keys_.end() || known == clients_.end()) return false;
  const auto watch = known->second.watches.find(&*entry);
  if (watch == known->second.watches.end()) return false;
  const std::size_t index = watch->second;
  known->second.watches.erase(watch);
  discount(known->second.account, 1);
  detach(*entry, index);
  return true;
}

void WatchTable::remove_client(ClientHandle client) {
  const auto known = clients_.find(client);
  if (known == clients_.end()) return;
  for (const auto& [entry, index] : known->second.watches) detach(*entry, index);
  discount(known->second.account, known->second.watches.size());
  std::erase_if(queue_, [&](const Queued& queued) { return queued.client == &known->second; });
  clients_.erase(known);
}

// Removes one watcher from a key; the last watcher takes its index. A key without watchers is
// removed.
void WatchTable::detach(KeyEntry& key, std::size_t index) {
  std::vector<Client*>& watchers = key.second.watchers;
  SHEAF_CHECK(index < watchers.size());
  if (index + 1 < watchers.size()) {
    watchers[index] = watchers.back();
    watchers[index]->watches[&key] = index;
  }
  watchers.pop_back();
  --watches_;
  if (!watchers.empty()) return;
  key_bytes_ -= key.first.size();
  keys_.erase(keys_.find(key.first));
}

std::size_t WatchTable::notify(std::string_view key, std::string payload,
                               std::string_view timestamp) {
  const auto entry = keys_.find(key);
  if (entry == keys_.end() || entry->second.watchers.empty()) return 0;
  const std::vector<Client*>& watchers = entry->second.watchers;
  const auto event = std::make_shared<const Event>(
      Event{std::string(key), std::move(payload), std::string(timestamp)});
  const std::size_t first = entry->second.turn++ % watchers.size();
  for (std::size_t i = 0; i < watchers.size(); ++i) {
    queue_.push_back({watchers[(first + i) % watchers.size()], event});
  }
  return watchers.size();
}

bool WatchTable::poll(Notification& out) {
  if (queue_.empty()) return false;
  const Queued& oldest = queue_.front();
  out.client = oldest.client->handle;
  out.topic.clear();
  protocol::statestore::append_notification_topic(out.topic, oldest.client->id, oldest.event->key);
  out.payload = oldest.event->payload;
  out.timestamp = oldest.event->timestamp;
  queue_.pop_front();
  return true;
}

}  // namespace sheaf::store
