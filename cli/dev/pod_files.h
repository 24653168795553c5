#pragma once

// The files of `sheaf dev` with --tls or --token: a certificate and a list of tokens for brokers, a
// trust bundle and a token for programs.
//
// Thread rule: one thread.

#include <chrono>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <map>
#include <string>

#include "cli/dev/broker_files.h"
#include "cli/dev/certificates.h"
#include "cli/dev/mounted_folder.h"
#include "cli/dev/pod_environment.h"
#include "cli/dev/rotation.h"

namespace sheaf::cli {

class PodFiles {
 public:
  struct Wishes {
    bool tls = false;
    bool token = false;
    std::chrono::seconds period{0};  // 0: nothing is ever replaced
  };
  PodFiles(const Wishes& wishes, const std::filesystem::path& folder);

  // Makes what the step needs, and writes the brokers' files before those of clients. `now` is the
  // time since 1970. The error is one sentence.
  std::expected<void, std::string> write(const RotationStep& step, std::chrono::seconds now);

  BrokerLogin broker() const;
  PodSettings settings() const;

 private:
  std::expected<void, std::string> make_authorities(const RotationStep& step,
                                                    std::chrono::seconds now);
  void make_tokens(const RotationStep& step, std::chrono::seconds now);

  Wishes wishes_;
  MountedFolder broker_;
  MountedFolder trust_;
  MountedFolder token_;
  std::map<std::uint64_t, CertifiedKey> authorities_;
  std::map<std::uint64_t, std::string> tokens_;
};

}  // namespace sheaf::cli
