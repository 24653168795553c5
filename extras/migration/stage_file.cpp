#include "extras/migration/stage_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "base/descriptor.h"
#include "base/local_error.h"
#include "base/strict_json.h"
#include "base/text.h"
#include "extras/migration/stage_rules.h"

namespace sheaf {
namespace migration {
namespace {

constexpr std::size_t most_bytes = 64u << 10;

Failure wrong(const std::string& file, const std::string& what) {
  return Failure(local_error(Outcome::invalid, Reason::bad_configuration,
                             "the migration file " + printable(file, 256) + ": " + what));
}

bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const auto written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

std::expected<std::vector<std::string>, std::string> names_in(const JsonValue& document,
                                                              std::string_view field) {
  std::vector<std::string> names;
  const JsonValue* const list = document.find(field);
  if (list == nullptr) return names;
  const auto bad = [&] {
    return std::unexpected(std::string(field) + " is not a list of servers");
  };
  if (!list->is_array()) return bad();
  for (const JsonValue& name : list->elements) {
    if (!name.is_text()) return bad();
    names.push_back(name.text);
  }
  return names;
}

void put_names(std::string& text, std::string_view field, const std::vector<std::string>& names) {
  text.append(",\n  \"").append(field).append("\": [");
  for (const std::string& name : names) {
    if (text.back() != '[') text.append(", ");
    text.append(1, '"');
    for (const char c : name) {  // hosts and paths, checked when configured
      if (c == '"' || c == '\\') text.append(1, '\\');
      text.append(1, c);
    }
    text.append(1, '"');
  }
  text.append(1, ']');
}

}  // namespace

std::expected<Migration, std::string> parse_migration(std::string_view text) {
  const auto document = parse_strict_json(text);
  if (!document) return std::unexpected(document.error());
  if (!document->is_object()) return std::unexpected("it is not a JSON object");
  const JsonValue* const name = document->find("stage");
  if (name == nullptr || !name->is_text()) return std::unexpected("it names no stage");
  const auto stage = stage_named(name->text);
  if (!stage) return std::unexpected("it names an unknown stage");
  Migration migration{.stage = *stage};
  auto from = names_in(*document, "from");
  if (!from) return std::unexpected(from.error());
  auto to = names_in(*document, "to");
  if (!to) return std::unexpected(to.error());
  migration.from = std::move(*from);
  migration.to = std::move(*to);
  if (const JsonValue* const settle = document->find("settle")) {
    const auto time = settle->is_text() ? parse_duration(settle->text) : std::nullopt;
    if (!time || time->count() < 1)
      return std::unexpected("settle is not a duration such as \"10s\"");
    migration.settle = *time;
  }
  return migration;
}

std::string migration_text(const Migration& migration) {
  std::string text = "{\n  \"stage\": \"";
  text.append(to_string(migration.stage)).append(1, '"');
  put_names(text, "from", migration.from);
  put_names(text, "to", migration.to);
  if (migration.settle) {
    text.append(",\n  \"settle\": \"").append(format_duration(*migration.settle)).append(1, '"');
  }
  return text.append("\n}\n");
}

namespace {

std::string folder_of(const std::string& file) {
  const std::size_t slash = file.rfind('/');
  return slash == file.npos ? "." : file.substr(0, slash + 1);
}

// The file that a rename must replace: links are followed, and it must be a regular file.
Result<std::string> target_of(const std::string& file) {
  struct stat found{};
  if (::lstat(file.c_str(), &found) != 0) return file;
  if (S_ISREG(found.st_mode)) return file;
  if (S_ISLNK(found.st_mode)) {
    const std::unique_ptr<char, void (*)(void*)> real(::realpath(file.c_str(), nullptr),
                                                      [](void* text) { std::free(text); });
    if (real == nullptr)
      return wrong(file, std::string("its link cannot be followed: ") + std::strerror(errno));
    if (::stat(real.get(), &found) == 0 && S_ISREG(found.st_mode)) return std::string(real.get());
  }
  return wrong(file, "it is not a regular file");
}

}  // namespace

Result<std::optional<Migration>> read_if_there(const std::string& file) {
  const Descriptor opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!opened.valid() && errno == ENOENT) {
    const std::string folder = folder_of(file);
    if (::access(folder.c_str(), F_OK) == 0) return std::optional<Migration>();
    return wrong(file, "its folder cannot be used: " + std::string(std::strerror(errno)));
  }
  if (!opened.valid()) return wrong(file, std::strerror(errno));
  std::string text(most_bytes + 1, '\0');
  const auto size = read_up_to(opened.get(), text);
  if (!size) return wrong(file, std::strerror(errno));
  if (*size > most_bytes) return wrong(file, "it has more than 64 KiB");
  auto migration = parse_migration(std::string_view(text).substr(0, *size));
  if (!migration) return wrong(file, migration.error());
  return std::optional(std::move(*migration));
}

}  // namespace migration

inline namespace v0 {

Result<Migration> read_migration(const std::string& file) {
  return migration::read_if_there(file).transform(
      [](std::optional<Migration>&& found) { return std::move(found).value_or(Migration{}); });
}

std::vector<std::string> migration_servers(const ClusterConfig& config) {
  std::vector<std::string> names;
  for (const NodeConfig& node : config.nodes) {
    std::string name = node.identity();
    if (node.weight != 1) name.append(1, '*').append(std::to_string(node.weight));
    names.push_back(std::move(name));
  }
  return names;
}

Result<void> write_migration(const std::string& file, const Migration& migration) {
  const std::string text = migration::migration_text(migration);
  if (text.size() > migration::most_bytes) {
    return migration::wrong(file, "cannot be written: it would have more than 64 KiB");
  }
  const auto target = migration::target_of(file);
  if (!target) return Failure(target.error());
  const std::string fresh = *target + ".new";
  {
    const Descriptor made(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (!made.valid() || !migration::write_all(made.get(), text) || ::fsync(made.get()) != 0) {
      return migration::wrong(file, std::string("cannot be written: ") + std::strerror(errno));
    }
  }
  if (std::rename(fresh.c_str(), target->c_str()) != 0) {
    return migration::wrong(file, std::string("cannot be replaced: ") + std::strerror(errno));
  }
  const std::string folder = migration::folder_of(*target);
  const Descriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened.valid() || ::fsync(opened.get()) != 0) {
    return migration::wrong(
        file, std::string("its folder cannot be written to the disk: ") + std::strerror(errno));
  }
  return {};
}

}  // namespace v0
}  // namespace sheaf
