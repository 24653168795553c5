#pragma once

// Which clients watch which keys, and the notifications that wait for the host.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "store/engine/engine.h"
#include "store/engine/key_hash.h"

namespace sheaf::store {

class WatchTable {
 public:
  // At most `max_watches` pairs of client and key, whose keys take at most `max_key_bytes`.
  WatchTable(std::uint64_t max_watches, std::uint64_t max_key_bytes, std::uint64_t seed)
      : max_watches_(max_watches),
        max_key_bytes_(max_key_bytes),
        keys_(initial_buckets, KeyHash{seed}) {}
  WatchTable(const WatchTable&) = delete;
  WatchTable& operator=(const WatchTable&) = delete;

  enum class Added : std::uint8_t { yes, no_room, account_full };
  // A second watch of the same key has no effect. All watches of a client count for its latest
  // account.
  Added add(ClientHandle client, std::string_view client_id, std::string_view key,
            Account account = nobody, std::uint64_t account_limit = unlimited);
  // Returns false if the client did not watch the key.
  bool remove(ClientHandle client, std::string_view key);
  // Forgets the client's watches and the notifications queued for it.
  void remove_client(ClientHandle client);

  bool watched(std::string_view key) const { return keys_.find(key) != keys_.end(); }
  // Queues one notification for each watcher of the key and returns how many. Each call starts with
  // another watcher, so that none is always first.
  std::size_t notify(std::string_view key, std::string payload, std::string_view timestamp);
  bool poll(Notification& out);

  std::size_t size() const noexcept { return watches_; }
  std::uint64_t count(Account account) const noexcept {
    return account < counts_.size() ? counts_[account] : 0;
  }
  std::vector<std::string> keys_of(ClientHandle client) const;

 private:
  struct Client;
  struct Watched {
    std::vector<Client*> watchers;
    std::size_t turn = 0;  // index of the first watcher in the next round
  };
  using Keys = KeyMap<Watched>;
  using KeyEntry = Keys::value_type;  // its address is stable
  struct Client {
    ClientHandle handle;
    std::string id;
    std::unordered_map<KeyEntry*, std::size_t> watches;  // index in the key's watchers
    Account account = nobody;
  };
  struct Event {
    std::string key;
    std::string payload;
    std::string timestamp;
  };
  struct Queued {
    Client* client;
    std::shared_ptr<const Event> event;  // one copy of a value for all watchers
  };
  void detach(KeyEntry& key, std::size_t index);
  void change_account(Client& client, Account account);
  void count(Account account, std::size_t more) noexcept {
    if (account != nobody) counts_[account] += more;
  }
  void discount(Account account, std::size_t less) noexcept {
    if (account != nobody) counts_[account] -= less;
  }

  std::uint64_t max_watches_;
  std::uint64_t max_key_bytes_;
  std::size_t watches_ = 0;
  std::uint64_t key_bytes_ = 0;
  std::vector<std::uint64_t> counts_;  // watches by account; not counted for `nobody`
  Keys keys_;
  std::unordered_map<ClientHandle, Client>
      clients_;  // includes clients without watches: notifications may wait for them
  std::deque<Queued> queue_;
};

}  // namespace sheaf::store
