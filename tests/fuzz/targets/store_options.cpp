// The store's configuration: its options, and the broker's configuration file, in which the plugin
// looks for its sink.

#include "store/engine/engine.h"
#include "store/plugin/sink.h"
#include "tests/fuzz/fuzz.h"

namespace sheaf::fuzz {
namespace {

void check_option(std::string_view name, std::string_view value) {
  store::EngineOptions options;
  if (const auto set = options.set(name, value); !set) {
    expect(!set.error().empty() && set.error().size() < 4 * (name.size() + value.size()) + 300,
           "a refusal says why, in one sentence");
    return expect(options == store::EngineOptions{}, "a refused option changes nothing");
  }
  expect(options.max_keys >= 1 && options.max_bytes >= 1, "the store has room");
}

}  // namespace

void run(std::string_view bytes) {
  Input input(bytes);
  if (input.flag()) {
    std::vector<std::string> folders;
    const auto bridge = store::plugin::declared_sink(input.rest(), folders);
    expect(!bridge || !bridge->client_id("host").empty(), "a bridge has a client ID");
    for (const std::string& folder : folders) expect(!folder.empty(), "a folder has a name");
    return;
  }
  const std::string name(input.short_text());
  check_option(name, input.rest());
}

std::vector<std::string> seeds() {
  std::vector<std::string> all{
      "\1" + std::string(store::plugin::sink_bridge),
      "\1connection a\nlocal_clientid b\nclientid c\ntopic $sheaf/statestore/sink out",
      "\1include_dir /etc/x\r\n# topic y\ntopic $sheaf/statestore/sink"};
  for (const auto& [name, value] :
       std::vector<std::pair<std::string, std::string>>{{"spelling", "page"},
                                                        {"notify", "subscribed"},
                                                        {"reply_topics", "own"},
                                                        {"max_keys", "10"},
                                                        {"max_bytes", "16MiB"},
                                                        {"max_watches", "0"},
                                                        {"max_duplicates", "18446744073709551615"},
                                                        {"fence_retention", "90s"}}) {
    all.push_back(std::string("\0", 1) + short_text(name) + value);
  }
  return all;
}

}  // namespace sheaf::fuzz
