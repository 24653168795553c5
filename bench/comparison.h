#pragma once

// Comparison: contestants in turn, round by round, on one piece of work, and the table of what they
// did. Also what the programs that compare have in common on their command lines.

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "bench/measure.h"

namespace bench {

struct Schedule {
  int rounds = 5;                         // of each contestant, after each opening
  int openings = 3;                       // how often all contestants are opened anew
  std::chrono::milliseconds length{200};  // of one round

  // What --quick is: does it still work?
  static Schedule quick() { return {2, 1, std::chrono::milliseconds(5)}; }
  // Takes --rounds, --openings and --milliseconds; false if the name is another.
  bool take(const std::string& name, const std::string& value);
};

// The parts between commas.
std::vector<std::string> split(const std::string& list);
// From 1 to `most`. Throws std::invalid_argument.
unsigned number(const std::string& text, unsigned most);
// Exit status 0; 2: `body` threw std::invalid_argument; 3: it threw something else.
int run_program(const char* name, const std::function<void()>& body);

// Thread rule: one thread.
class Comparison {
 public:
  // Runs all rounds. `open` makes the contestants, the same ones each time.
  Comparison(const Schedule& schedule, const std::function<std::vector<Contestant>()>& open);

  // The median of the ratios of rates within a round; 0 without one of them.
  double ratio(const std::string& mine, const std::string& other) const;

  // A column of ratios: its title, and the contestant beside whom all are put.
  struct Column {
    std::string title;
    std::string other;
  };
  // `keys`: of one operation.
  void print(unsigned keys, std::span<const Column> columns) const;

 private:
  struct Row {
    std::string name;
    std::vector<Round> rounds;
  };

  void run(const Schedule& schedule, const std::vector<Contestant>& peers);
  const Row* find(const std::string& name) const;

  std::vector<Row> rows_;
};

}  // namespace bench
