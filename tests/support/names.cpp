#include "tests/support/names.h"

#include <dlfcn.h>
#include <netdb.h>

#include <utility>

namespace sheaf::test {

Names& Names::instance() {
  static Names names;
  return names;
}

void Names::lead(const std::string& name, std::vector<std::string> addresses) {
  const std::lock_guard lock(mutex_);
  addresses_[name] = std::move(addresses);
}

void Names::hold() {
  const std::lock_guard lock(mutex_);
  held_ = true;
}

void Names::release() {
  {
    const std::lock_guard lock(mutex_);
    held_ = false;
  }
  released_.notify_all();
}

unsigned Names::asked() {
  const std::lock_guard lock(mutex_);
  return asked_;
}

std::optional<std::vector<std::string>> Names::look_up(const std::string& name) {
  if (!name.ends_with(".sheaf.test")) return std::nullopt;
  std::unique_lock lock(mutex_);
  ++asked_;
  released_.wait(lock, [this] { return !held_; });
  return addresses_[name];
}

}  // namespace sheaf::test

// Replaces the C library's function for the whole program.
extern "C" __attribute__((visibility("default"))) int getaddrinfo(const char* node,
                                                                  const char* service,
                                                                  const addrinfo* hints,
                                                                  addrinfo** found) {
  static const auto real =
      reinterpret_cast<decltype(&getaddrinfo)>(::dlsym(RTLD_NEXT, "getaddrinfo"));
  const auto ours = node != nullptr ? sheaf::test::Names::instance().look_up(node)
                                    : std::optional<std::vector<std::string>>();
  if (!ours) return real(node, service, hints, found);
  if (ours->empty()) return EAI_AGAIN;
  addrinfo numeric = hints != nullptr ? *hints : addrinfo{};
  numeric.ai_flags = AI_NUMERICHOST;  // independent of this machine's networks
  addrinfo** end = found;
  for (const std::string& address : *ours) {
    const int error = real(address.c_str(), service, &numeric, end);
    if (error != 0) return error;
    while (*end != nullptr) end = &(*end)->ai_next;
  }
  return 0;
}
