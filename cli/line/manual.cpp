// The manual page, in the macros of man(7).

#include <string>

#include <sheaf/version.h>

#include "cli/line/help.h"

namespace sheaf::cli {

namespace {

// Keeps a line from beginning with a macro; "-" is a minus sign, not a hyphen.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) {
      out.append("\\&").push_back(c);
    } else if (c == '\n') {
      out += "\n.PP\n";
    } else {
      out += c;
    }
  }
  return out;
}

std::string tagged(const std::string& tag, std::string_view text) {
  return ".TP\n" + tag + "\n" + roff(text) + "\n";
}

std::string bold(std::string_view text) { return "\\fB" + roff(text) + "\\fR"; }

std::string option(const OptionRow& row) {
  std::string tag = bold(row.name);
  if (!row.value.empty()) tag += " \\fI" + roff(row.value) + "\\fR";
  return tagged(tag, std::string(row.help) + ".");
}

std::string command(const CommandRow& row) {
  std::string out = ".SS " + bold(row.name) + " \\fI" + roff(row.arguments) + "\\fR\n";
  std::string purpose(row.purpose);
  out += roff(purpose) + ".\n";
  if (!row.text.empty()) out += ".PP\n" + roff(row.text) + "\n";
  for (const OptionRow& each : row.options) out += option(each);
  out += ".PP\nExamples:\n.PP\n.nf\n";
  for (const std::string_view example : row.examples)
    out += "    " + roff(std::string(example)) + "\n";
  return out + ".fi\n";
}

}  // namespace

std::string manual_page(CommandTable table) {
  std::string out = ".TH SHEAF 1 \"\" \"sheaf " SHEAF_VERSION "\"\n.SH NAME\n";
  out += "sheaf \\- reads and writes keys of state stores, memcached servers and Redis clusters\n";
  out += ".SH SYNOPSIS\n" + bold("sheaf") + " [\\fIOPTIONS\\fR] \\fICOMMAND\\fR\n";
  out += ".SH OPTIONS\nBefore or after the command.\n";
  for (const OptionRow& row : global_options()) out += option(row);
  out += tagged(bold("--"), "ends the options: all words after it are keys and values.");
  std::string_view group;
  for (const CommandRow& row : table) {
    if (row.group != group) out += ".SH \"" + std::string(row.group) + "\"\n";
    group = row.group;
    out += command(row);
  }
  out += ".SH ENVIRONMENT\n";
  for (const VariableRow& row : environment_variables())
    out += tagged(bold(row.name), std::string(row.meaning) + ".");
  out += ".SH FILES\n";
  out += tagged("\\fI~/.config/sheaf.json\\fR",
                "the servers, if no option and no variable of SHEAF names them.");
  out += ".SH \"EXIT STATUS\"\n";
  for (const ExitRow& row : exit_codes())
    out += tagged(bold(std::to_string(row.code)), std::string(row.meaning) + ".");
  return out;
}

}  // namespace sheaf::cli
