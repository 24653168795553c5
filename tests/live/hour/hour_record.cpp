#include "tests/live/hour/hour_record.h"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace sheaf::test {
namespace {

constexpr std::size_t sentences_of_a_kind = 5;

std::string row(const std::string& name, unsigned times, std::chrono::nanoseconds longest,
                unsigned late, unsigned not_back) {
  std::array<char, 128> text{};
  const double seconds = std::chrono::duration<double>(longest).count();
  const int size = std::snprintf(text.data(), text.size(), "%-32s %5u %17.2f s %5u %9u\n",
                                 name.c_str(), times, seconds, late, not_back);
  return {text.data(), static_cast<std::size_t>(std::max(size, 0))};
}

}  // namespace

void HourRecord::ended(std::string_view call, const Error* error) {
  std::string ending = "ok";
  if (error != nullptr) {
    ending = std::string(to_string(error->outcome)) + ", " + std::string(to_string(error->reason));
  }
  const std::lock_guard lock(mutex_);
  ++calls_[std::string(call)][ending];
}

void HourRecord::found(Breach breach, std::string sentence) {
  const std::lock_guard lock(mutex_);
  Breaches& those = breaches_.at(static_cast<std::size_t>(breach));
  ++those.count;
  if (those.first.size() < sentences_of_a_kind) those.first.push_back(std::move(sentence));
}

void HourRecord::back(const std::string& event, std::chrono::nanoseconds took,
                      std::chrono::nanoseconds limit) {
  const std::lock_guard lock(mutex_);
  Event& those = events_[event];
  ++those.times;
  those.longest = std::max(those.longest, took);
  if (took > limit) ++those.late;
}

void HourRecord::not_back(const std::string& event) {
  const std::lock_guard lock(mutex_);
  Event& those = events_[event];
  ++those.times;
  ++those.not_back;
}

void HourRecord::add_failures(std::uint64_t count, const std::string& sentences) {
  const std::lock_guard lock(mutex_);
  failures_ += count;
  failure_sentences_ += sentences;
}

std::string HourRecord::table() const {
  const std::lock_guard lock(mutex_);
  std::string all = "event                            times  longest until back  late  not back\n";
  for (const auto& [name, event] : events_) {
    all += row(name, event.times, event.longest, event.late, event.not_back);
  }
  for (const auto& [call, endings] : calls_) {
    all += call + ":";
    for (const auto& [ending, count] : endings) {
      all += " " + std::to_string(count) + " " + ending + ";";
    }
    all += '\n';
  }
  all += "breaches:";
  for (std::size_t i = 0; i < breaches_.size(); ++i) {
    all += std::string(" ") + name_of(static_cast<Breach>(i)) + " " +
           std::to_string(breaches_[i].count) + ",";
  }
  return all + " calls that failed or waited and should not " + std::to_string(failures_) + '\n';
}

std::string HourRecord::complaints() const {
  const std::lock_guard lock(mutex_);
  std::string all;
  for (const auto& [name, event] : events_) {
    if (event.late > 0) all += name + ": late " + std::to_string(event.late) + " times\n";
    if (event.not_back > 0) {
      all += name + ": not back " + std::to_string(event.not_back) + " times\n";
    }
  }
  for (std::size_t i = 0; i < breaches_.size(); ++i) {
    for (const std::string& sentence : breaches_[i].first) {
      all += std::string(name_of(static_cast<Breach>(i))) + ": " + sentence + '\n';
    }
  }
  return all + failure_sentences_;
}

}  // namespace sheaf::test
