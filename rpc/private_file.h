// Files that only their owner can read, and that are changed as a whole.
#pragma once

#include <kj/io.h>

#include <filesystem>
#include <string>

#include "core/base/result.h"

namespace tarcil {

// Invalid where it cannot be read, or others than its owner may read or write it.
Result<std::string> readPrivateFile(const std::string& path);

// Of what is no secret, but is believed: Invalid where others than its owner may write it.
Result<std::string> readTrustedFile(const std::string& path);

// Invalid where the file belongs to somebody who is neither this process' user nor root: what it says is not
// for them to say.
Status checkOwner(const std::string& path);

// Makes it, or writes over it; on disk when it returns. Invalid where it cannot be written.
Status writePrivateFile(const std::string& path, const std::string& text);

// The folder of a file, for as long as one process changes that; made for its owner only where it is missing.
Result<kj::AutoCloseFd> lockFolder(const std::filesystem::path& folder);

// All of it or nothing, and on disk; a file that is there stays its owner's. Requires: `folder`, of this
// file, is locked.
Status replacePrivateFile(const std::string& path, const std::string& text, const kj::AutoCloseFd& folder);

}  // namespace tarcil
