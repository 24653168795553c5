#pragma once

// Turns the arguments of a call into its operation, and checks them.
//
// Thread rule: any thread.

#include <optional>
#include <span>
#include <string_view>

#include <sheaf/cluster_config.h>
#include <sheaf/options.h>

#include "protocol/operation.h"

namespace sheaf::client::calls {

// A call on one key. Its views are those of the arguments.
struct KeyRequest {
  protocol::Operation operation;
  Timeout timeout;
  Stop stop;
  std::optional<Error> wrong{};  // the error that the checks found
  bool may_lag = false;          // a replica may answer, if the configuration allows it
};

// A call on many keys. Entry: std::string_view (gets, removes) or SetItem.
template <class Entry>
struct BatchRequest {
  std::span<const Entry> entries;
  protocol::Operation operation;  // without key and value
  Timeout timeout;
  Stop stop;
  std::optional<Error> wrong;  // concerns the whole batch
};

KeyRequest get_request(std::string_view key, const GetOptions& options);
KeyRequest set_request(std::string_view key, std::string_view value, const SetOptions& options,
                       const ClusterConfig& config);
KeyRequest remove_request(std::string_view key, const RemoveOptions& options,
                          const ClusterConfig& config);
// append, prepend
KeyRequest edit_request(protocol::Verb verb, std::string_view key, std::string_view value,
                        const EditOptions& options, const ClusterConfig& config);
// increment, decrement
KeyRequest count_request(protocol::Verb verb, std::string_view key, std::uint64_t delta,
                         const CountOptions& options, const ClusterConfig& config);
// touch, get_and_touch
KeyRequest touch_request(protocol::Verb verb, std::string_view key, const TouchOptions& options,
                         const ClusterConfig& config);
KeyRequest get_and_set_request(std::string_view key, std::string_view value,
                               const GetAndSetOptions& options, const ClusterConfig& config);

// get_many, remove_many
BatchRequest<std::string_view> keys_request(protocol::Verb verb,
                                            std::span<const std::string_view> keys,
                                            const BatchOptions& options);
// set_many
BatchRequest<SetItem> items_request(std::span<const SetItem> items, const BatchSetOptions& options,
                                    const ClusterConfig& config);

}  // namespace sheaf::client::calls
