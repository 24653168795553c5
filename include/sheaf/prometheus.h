#pragma once

/// @file
/// Metrics as text for Prometheus (text exposition format 0.0.4), which a program serves or writes
/// into a file for the textfile collector:
///
///     response.body = sheaf::prometheus_text(client.metrics(), {{"cluster", "sessions"}});
///
/// Thread rule: a free function without state.

#include <string>
#include <utility>
#include <vector>

#include <sheaf/metrics.h>

namespace sheaf {
inline namespace v0 {

/// Labels beside sheaf's own: `node`, `operation`, `outcome`, `health` and `le`. Names are
/// [A-Za-z_][A-Za-z0-9_]* and do not begin with `__`; values are any UTF-8.
using PrometheusLabels = std::vector<std::pair<std::string, std::string>>;

/// Every line ends with "\n"; the names begin with `sheaf_`. Durations are in seconds. Round trips
/// are histograms with bounds of 1, 2 and 5 times a power of ten, from 10 us to 50 s. A label whose
/// name is not allowed, is sheaf's own or was given before is left out.
SHEAF_API std::string prometheus_text(const Metrics& metrics, const PrometheusLabels& labels = {});

}  // namespace v0
}  // namespace sheaf
