#pragma once

// Comparison: runs contestants one after the other, round by round, on one piece of work, and
// prints a table of the results, or adds them to a file. Each opening begins with a round in
// which only system calls and allocations are counted. Also the command-line helpers that these
// programs share.

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/measure.h"
#include "bench/round_order.h"
#include "bench/test_bed.h"

namespace bench {

struct Schedule {
  int rounds = 5;                         // for each contestant, after each opening
  int openings = 3;                       // how often all contestants are opened
  std::chrono::milliseconds length{200};  // length of one round

  // The schedule of --quick, which only checks that the program still works.
  static Schedule quick() { return {2, 1, std::chrono::milliseconds(5)}; }
  // Takes --rounds, --openings and --milliseconds. False if the name is not one of them.
  bool take(const std::string& name, const std::string& value);
};

// The options that these programs share.
struct Setup {
  Schedule schedule;
  TestBed::Options bed;
  std::string json;  // the file of --json; empty: none

  // Takes --json and the options of the other two. False if the name is none of them.
  bool take(const std::string& name, const std::string& value);
};

// What was measured, in --json.
struct Cell {
  const char* program;
  std::string work;
  unsigned servers;
  unsigned threads;
};

// Splits a list at its commas.
std::vector<std::string> split(const std::string& list);
// The value of an option: a number from `least` to `most`. Throws std::invalid_argument.
unsigned number(const std::string& option, const std::string& text, unsigned most,
                unsigned least = 1);
// Returns exit status 0; 2 if `body` threw std::invalid_argument; 3 if it threw anything else.
int run_program(const char* name, const std::function<void()>& body);

// Thread rule: one thread.
class Comparison {
 public:
  // Runs all rounds. `open` makes the same contestants each time.
  Comparison(const Schedule& schedule, const std::function<std::vector<Contestant>()>& open);

  // The median of the ratios of the rates within a round; 0 if either contestant is missing.
  double ratio(const std::string& mine, const std::string& other) const;

  // A column of ratios: its title, and the contestant that all others are compared with.
  struct Column {
    std::string title;
    std::string other;
  };
  // `keys` is the number of keys in one operation.
  void print(unsigned keys, std::span<const Column> columns) const;
  // Adds a line to the file of --json, if there is one.
  void append(const Setup& setup, const TestBed& bed, const Cell& cell,
              std::span<const Column> columns) const;

 private:
  struct Row {
    std::string name;
    std::vector<Round> rounds;
  };

  std::string json(const Row& row, std::span<const Column> columns) const;
  void run(const Schedule& schedule, const std::vector<Contestant>& peers);
  const Row* find(const std::string& name) const;

  std::vector<Row> rows_;
  std::optional<RoundOrder> order_;
};

}  // namespace bench
