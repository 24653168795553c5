#pragma once

// OwnedOperation: an operation with copies of its texts, for code that keeps an operation longer
// than its caller keeps the key and the value: asynchronous calls, retries, requests of a
// procedure.
//
// It serves every verb except get_many, set_many and command, whose texts the caller keeps.
//
// Pure: no socket, clock, entropy, thread or callback.
//
// Thread rule: a plain value.

#include <string>
#include <utility>

#include "protocol/operation.h"

namespace sheaf::protocol {

struct OwnedOperation : OperationTerms {
  std::string key;
  std::string value;
  std::string fence;
  std::string version;

  OwnedOperation() = default;
  OwnedOperation(Verb its_verb, std::string its_key) : key(std::move(its_key)) { verb = its_verb; }
  explicit OwnedOperation(const Operation& borrowed)
      : OperationTerms(borrowed),
        key(borrowed.key),
        value(borrowed.value),
        fence(borrowed.fence),
        version(borrowed.version) {}

  // The operation to submit. Its views live until this object is changed, moved or destroyed.
  Operation view() const& {
    Operation operation;
    static_cast<OperationTerms&>(operation) = *this;
    operation.key = key;
    operation.value = value;
    operation.fence = fence;
    operation.version = version;
    return operation;
  }
  Operation view() && = delete;
};

}  // namespace sheaf::protocol
