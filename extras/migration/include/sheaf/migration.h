#pragma once

/// @file
/// MigratingCache: a cache of memcached that moves from one fleet to another while programs use it.
/// The programs read and write through a MigratingCache each; `sheaf migrate` carries the values
/// over and tells the programs, by a file, how far it is. docs/migration.md has the whole road.
///
///     auto cache = sheaf::MigratingCache::open(std::move(*old_fleet), std::move(*new_fleet),
///                                              "/etc/app/migration.json");
///     cache->set("user/17", profile);

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sheaf/client.h>

namespace sheaf {
inline namespace v0 {

/// How far a migration is. Two programs may be in neighbouring stages at the same time.
///
/// In every stage a fleet holds of each key its present value, or none; never an older one. So a
/// value that is found in either is right.
enum class MigrationStage : unsigned char {
  before,    ///< Only the old fleet is used.
  mirror,    ///< Reads from the old one. A write there removes the key's copy in the new one.
  switched,  ///< Reads from the new one, and what is missing from the old one. Writes as in mirror.
  drain,     ///< Reads as in switched. Writes to the new one, and removes from the old one.
  closing,   ///< Reads from the new fleet. Writes as in drain.
  restore,   ///< On the way back: reads as in switched; writes to the old one.
  after      ///< Only the new fleet is used.
};

/// "before", "mirror", ...
SHEAF_API std::string_view to_string(MigrationStage stage) noexcept;

/// What the file of a migration says.
struct Migration {
  MigrationStage stage = MigrationStage::before;  ///< See MigrationStage.
  /// The servers, as `host:port` or `host:port*weight`, in any order. Empty: it does not say.
  std::vector<std::string> from{};
  std::vector<std::string> to{};  ///< See `from`.
  /// How long `sheaf migrate` waits after a stage has begun; see MigrationOptions::settle.
  std::optional<std::chrono::milliseconds> settle{};
};

/// Reads the file of a migration. A file that does not exist says MigrationStage::before, if its
/// folder does. Errors: Outcome::invalid, Reason::bad_configuration for a file that cannot be read
/// or understood; the text names it.
SHEAF_API Result<Migration> read_migration(const std::string& file);
/// Writes the file of a migration, in one step: who reads it meanwhile finds the old text or the
/// new one. Links are followed. It is on the disk when this returns. Errors: as read_migration(),
/// also for what is there and is no regular file.
SHEAF_API Result<void> write_migration(const std::string& file, const Migration& migration);
/// The servers of a configuration as Migration names them.
SHEAF_API std::vector<std::string> migration_servers(const ClusterConfig& config);

/// Options of a MigratingCache.
struct MigrationOptions {
  /// When a new stage has been in the file for so long, no call acts by the one before it: a stage
  /// is read again every tenth of this, a call begins only by one that was read within the first
  /// half, and ends within the other half, also if its timeout is longer. 100 ms to 1 h. If the
  /// file names a shorter time, that one holds.
  std::chrono::milliseconds settle = std::chrono::seconds(10);
};

/// What the gets of one stage have found.
struct MigrationCounts {
  MigrationStage stage = MigrationStage::before;  ///< The stage.
  std::uint64_t gets = 0;                         ///< Keys that were read, and answered.
  std::uint64_t hits = 0;                         ///< Keys that were found.
  std::uint64_t second_hits = 0;                  ///< Hits in the fleet that is asked second.
};

/// A cache on two fleets of memcached servers of which one takes the place of the other.
///
/// It has what can be kept right on both: reads, unconditional writes, removals. A conditional
/// write, a count or a lock would compare what only one of the fleets has.
///
/// After a set or a remove has been acknowledged, no call of any program that takes part returns
/// what was there before. A write whose outcome is `unknown` may be seen or not, and may come to
/// light in a later stage: possibly_stale() has its key; write it again, or remove it.
///
/// Thread rule: any thread may call any member at any time, except that the destructor and moves
/// need that no other thread calls the object. The file is read on a caller's thread, within the
/// time of its call.
///
/// Errors, of all calls: those of the same call of Client, and Outcome::not_sent,
/// Reason::bad_configuration when the stage could not be read for half of `settle`, or when the
/// file names other servers than those of the two clients. A write that the client of any step
/// would refuse as Outcome::invalid is refused before the first step, so neither fleet changes;
/// under `protocol=auto`, keys and times to live are held to what the meta protocol takes.
class SHEAF_API MigratingCache {
 public:
  /// Says how far the migration is; called by one thread at a time, and never after the last
  /// MigratingCache that has it is gone. What it throws ends here: the stage was not read, and the
  /// text of the error names the type of the exception.
  using Reader = std::function<Result<Migration>()>;

  /// Reads the stage from a file, as read_migration(), now and whenever it is due; but a file that
  /// this cache has seen once and that has gone is an error until it is there again. Errors:
  /// Outcome::invalid, Reason::bad_argument for a `settle` out of range; Outcome::unsupported
  /// unless both clients are of memcached; Outcome::invalid, Reason::bad_configuration for a server
  /// that is in both fleets and for `failover=rehash`; else those of all calls.
  static Result<MigratingCache> open(Client from, Client to, const std::string& file,
                                     const MigrationOptions& options = {});
  /// The same; the stage comes from a function, for programs that are told in another way.
  static Result<MigratingCache> open(Client from, Client to, Reader reader,
                                     const MigrationOptions& options = {});

  /// What was moved from can only be destroyed and assigned to.
  MigratingCache(MigratingCache&&) noexcept;
  /// The cache that was here ends as by its destructor.
  MigratingCache& operator=(MigratingCache&&) noexcept;
  /// Closes both clients.
  ~MigratingCache();

  /// Reads a key. The value has no version: it would mean nothing to the other fleet.
  Result<GetResult> get(std::string_view key, const GetOptions& options = {});
  /// Reads many keys; as Client::get_many.
  std::vector<KeyResult<GetResult>> get_many(std::span<const std::string_view> keys,
                                             const BatchOptions& options = {});
  /// Writes a key. Errors: Outcome::unsupported for a condition or a fencing token.
  Result<SetResult> set(std::string_view key, std::string_view value,
                        const SetOptions& options = {});
  /// Writes many keys; as Client::set_many.
  std::vector<KeyResult<SetResult>> set_many(std::span<const SetItem> items,
                                             const BatchSetOptions& options = {});
  /// Removes a key from both fleets. Errors: Outcome::unsupported for a condition or a fencing
  /// token.
  Result<RemoveResult> remove(std::string_view key, const RemoveOptions& options = {});
  /// Removes many keys; as Client::remove_many.
  std::vector<KeyResult<RemoveResult>> remove_many(std::span<const std::string_view> keys,
                                                   const BatchOptions& options = {});

  /// The stage that calls act by now, as last read.
  MigrationStage stage() const;
  /// What gets have found, of each stage that any get has met.
  std::vector<MigrationCounts> counts() const;
  /// The keys of writes that ended as `unknown` since the last call of this, each once; at most the
  /// last 10,000.
  std::vector<std::string> possibly_stale();

  class State;  ///< Internal.

 private:
  explicit MigratingCache(std::unique_ptr<State> state) noexcept;
  std::unique_ptr<State> state_;
};

/// What became of a copy.
enum class Copied : unsigned char {
  copied,    ///< The value is in `to` now.
  kept,      ///< `to` had a value already; it stays.
  absent,    ///< `from` has no value.
  overtaken  ///< The key was written or removed meanwhile, several times: nothing was copied.
};

/// Copies one key as `sheaf migrate` does, for programs that know better which keys are worth it:
/// with its flags and the rest of its life (a `default_ttl` of `to` does not count), and never over
/// or after a write of a MigratingCache.
/// `from` must speak memcached's meta protocol. For the time of the copy `to` holds a placeholder,
/// which a MigratingCache takes for a miss. In the stages mirror, switched and drain `from` is the
/// old fleet; in restore it is the new one. `timeout` is that of each request: a copy makes up to
/// four attempts, of several requests each.
SHEAF_API Result<Copied> copy_for_migration(Client& from, Client& to, std::string_view key,
                                            Timeout timeout = {});
/// The same; then, where `to` has the value, `from` loses its own. For the stage drain only: while
/// other programs write to `from` it would take what they have written. `timeout` is that of each
/// request, as there.
SHEAF_API Result<Copied> move_for_migration(Client& from, Client& to, std::string_view key,
                                            Timeout timeout = {});
/// Removes the value of `copies` if it is not the one of `present`; with `absent_counts` also if
/// `present` has none. True: it was removed. No one may copy into `copies` meanwhile. `timeout` is
/// that of each of up to three requests.
SHEAF_API Result<bool> drop_stale_copy(Client& present, Client& copies, std::string_view key,
                                       bool absent_counts, Timeout timeout = {});

}  // namespace v0
}  // namespace sheaf
