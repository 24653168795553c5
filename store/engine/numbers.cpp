// Pure: no socket, clock, entropy, thread or callback.

#include "store/engine/numbers.h"

#include <sheaf/version.h>

namespace sheaf::store {

std::vector<Number> list_numbers(const EngineGauges& gauges, const EngineCounters& counters,
                                 const HostNumbers& host) {
  return {
      {"keys", gauges.keys},
      {"bytes", gauges.bytes},
      {"watches", gauges.watches},
      {"clients", host.clients},
      {"fences", gauges.fences},
      {"answers", gauges.answers},
      {"requests", counters.requests},
      {"inspections", counters.inspections},
      {"writes", counters.executed_writes},
      {"duplicates", counters.duplicates},
      {"dropped", counters.dropped},
      {"forbidden", counters.forbidden},
      {"errors", counters.errors},
      {"expired", counters.expired},
      {"notifications", counters.notifications},
      {"frozen", gauges.frozen ? 1u : 0u},
  };
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
