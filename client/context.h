// Where a cluster is and with which token to log in: what `tarcil up` leaves behind and other commands
// look for.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"

namespace tarcil {

struct Context {
  std::vector<std::string> agents;  // addresses as in rpc/address.h
  std::string tokenFile;            // of the user; empty: the agents know whom the kernel says
  std::string name;                 // of the cluster; may be empty
  std::string page{};               // HOST:PORT of a gateway; empty where none is known
  // Not in the folder's file, but as the flags or what is beside it say:
  std::string authority{};  // file with the certificate of the cluster's authority; empty: none is known
  bool insecure = false;    // agents on other machines may be reached without TLS

  bool operator==(const Context&) const = default;
};

// What the command line says; empty where not given.
struct ContextFlags {
  std::string data;         // --data
  std::string cluster;      // --cluster, comma-separated
  std::string tokenFile;    // --token-file
  std::string authority{};  // --authority
  bool insecure = false;    // --insecure
};

// `flag` if given, else TARCIL_DATA, else tarcil/ below XDG_STATE_HOME or ~/.local/state. The folder need not
// exist. Invalid where nothing says where home is.
Result<std::string> dataFolder(const std::string& flag);

// A flag goes before an environment variable, naming addresses before naming a folder; a token file given by
// flag or TARCIL_TOKEN_FILE goes before the folder's. The authority's certificate is named by flag or
// TARCIL_AUTHORITY, else the one that `tarcil init` or `tarcil join` left in the folder. Over Unix sockets no
// token is needed: where nothing names a file, or the folder's is another user's, there is none. Unavailable,
// with what to do, where nothing leads to a cluster; Invalid where something that was given is wrong.
Result<Context> findContext(const ContextFlags& flags);

// <folder>/context.json: {"cluster": [address, ...], "token_file": path, "name": text, "page": address}, the
// last where it is known. It holds no secret. Unavailable where there is none, Invalid where it is malformed.
Result<Context> readContext(const std::string& folder);

// Replaces it in one step: a reader sees the old one or the new one.
Status writeContext(const std::string& folder, const Context& context);

}  // namespace tarcil
