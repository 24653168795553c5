#include "store/pipe/registry.h"

#include <map>
#include <utility>

#include "base/fork_mark.h"
#include "base/mutex.h"

namespace sheaf::store::pipe {
namespace {

using Key = std::pair<std::string, unsigned>;

struct Registry {
  explicit Registry(Registry* /*of the parent*/) {}
  sync::Mutex mutex;
  std::map<Key, std::weak_ptr<SharedEngine>> engines SHEAF_GUARDED_BY(mutex);
};

// Never destroyed, because clients may outlive every static object.
constinit PerProcess<Registry> registry;

}  // namespace

std::expected<Engines, std::string> open_engines(std::string_view name, unsigned count,
                                                 const EngineOptions& options) {
  Registry& all = registry.get();
  Engines opened;
  const sync::MutexLock lock(all.mutex);
  std::erase_if(all.engines, [](const auto& entry) { return entry.second.expired(); });
  for (unsigned index = 0; index < count; ++index) {
    std::weak_ptr<SharedEngine>& known = all.engines[Key(name, index)];
    std::shared_ptr<SharedEngine> engine = known.lock();
    if (engine == nullptr) {
      auto made = SharedEngine::open(options, index);
      if (!made) return std::unexpected(std::move(made.error()));
      engine = std::move(*made);
      known = engine;
    } else if (engine->options() != options) {
      return std::unexpected("embedded engine " + std::to_string(index) +
                             (name.empty() ? std::string() : " of '" + std::string(name) + "'") +
                             " is already open in this process with other options");
    }
    opened.push_back(std::move(engine));
  }
  return opened;
}

}  // namespace sheaf::store::pipe
