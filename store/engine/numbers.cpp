// Pure: no socket, clock, entropy, thread or callback.

#include "store/engine/numbers.h"

#include <sheaf/version.h>

namespace sheaf::store {

std::vector<Number> list_numbers(const EngineGauges& gauges, const EngineCounters& counters,
                                 const HostNumbers& host) {
  const auto& [sets, gets, dels, vdels, keynotifies] = counters.commands;
  std::vector<Number> all{
      {"keys", gauges.keys},
      {"bytes", gauges.bytes},
      {"watches", gauges.watches},
      {"clients", host.clients},
      {"fences", gauges.fences},
      {"answers", gauges.answers},
      {"requests", counters.requests},
      {"cmd_set", sets},
      {"cmd_get", gets},
      {"cmd_del", dels},
      {"cmd_vdel", vdels},
      {"cmd_keynotify", keynotifies},
      {"get_hits", counters.hits},
      {"get_misses", counters.misses},
      {"probes", counters.probes},
      {"writes", counters.executed_writes},
      {"unmet", counters.unmet},
      {"duplicates", counters.duplicates},
      {"dropped", counters.dropped},
      {"forbidden", counters.forbidden},
      {"errors", counters.errors},
      {"errors_not_authorized", counters.unauthorized},
      {"errors_quota", counters.over_quota - counters.too_fast},
      {"errors_rate", counters.too_fast},
      {"errors_time", counters.bad_time},
      {"errors_fence", counters.fenced},
      {"errors_syntax", counters.malformed},
      {"errors_read_only", counters.read_only},
      {"inspections", counters.inspections},
      {"expired", counters.expired},
      {"notifications", counters.notifications},
      {"frozen", gauges.frozen ? 1u : 0u},
  };
  if (host.file == nullptr) return all;
  const FileNumbers file = host.file->numbers();
  all.insert(all.end(), {{"file_bytes", file.bytes},
                         {"commits", file.commits},
                         {"failed_commits", file.failed_commits},
                         {"commit_us_total", file.total_us},
                         {"commit_us_median", file.median_us},
                         {"commit_us_p99", file.p99_us},
                         {"commit_us_max", file.longest_us}});
  return all;
}

std::vector<Number> ChangedNumbers::take(const std::vector<Number>& all) {
  std::vector<Number> changed;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i >= last_.size() || last_[i] != all[i]) changed.push_back(all[i]);
  }
  last_ = all;
  return changed;
}

std::string print_numbers(const std::vector<Number>& numbers) {
  std::string text = "version";
  text.append(" ").append(SHEAF_VERSION).append("\n");
  for (const Number& number : numbers) {
    text.append(number.name).append(" ").append(std::to_string(number.value)).append("\n");
  }
  return text;
}

}  // namespace sheaf::store
