#pragma once

// The files of the trusted authorities: `tls_ca` names one, or a folder of them.
//
// Thread rule: any thread.

#include <string>
#include <vector>

namespace sheaf::socket::tls {

// The path itself if it is not a folder. Else the files of the folder, in the order of their names,
// without those of folders in it and without hidden ones: Kubernetes keeps each version of a mount
// in a hidden folder, and a symbolic link to each file of the present one.
std::vector<std::string> authority_files(const std::string& path);

}  // namespace sheaf::socket::tls
