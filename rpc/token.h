// Tokens: secrets that name a user and a role (docs/guide.md). Files that hold them must be readable by their
// owner only.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/state/caller.h"
#include "identity/logic/token_text.h"

namespace tarcil {

// 256 random bits in hexadecimal.
std::string makeToken();

// Of a token that expires, and of its id, which is never 0.
TokenSecret makeTokenSecret();
uint64_t makeTokenId();

// Reads the one token in a file. Invalid where it is missing, empty, or others than its owner may read it.
Result<std::string> readTokenFile(const std::string& path);

// Writes it so that only its owner can read it.
Status writeTokenFile(const std::string& path, const std::string& token);

// Whom the master believes. One line per token: token user role [run-as,...]
class TokenTable {
 public:
  struct Entry {
    std::string token;
    Caller caller;
  };

  // As a master believes it: Invalid also where the file is neither its user's nor root's.
  static Result<TokenTable> readOwn(const std::string& path);
  static Result<TokenTable> read(const std::string& path);
  // As it stands in such a file, without the line's end.
  static std::string lineOf(const Entry& entry);
  static Status write(const std::string& path, const std::vector<Entry>& entries);
  // Adds a line to such a file. Makes the file and its folder where they are missing, for their owner only.
  // After a crash the file has the line or is as it was; one that adds at the same time waits. Invalid, and
  // nothing is changed, where read() would refuse the file, the user is in it already, or it cannot be
  // written.
  static Status add(const std::string& path, const Entry& entry);

  // Denied for an unknown token. Takes the same time whichever token is wrong.
  Result<Caller> check(std::string_view token) const;

  // Whether one of them is an operator's.
  bool hasOperator() const { return operatorToken() != nullptr; }
  // The first operator's; null where there is none.
  const std::string* operatorToken() const;

 private:
  std::vector<Entry> entries_;
};

}  // namespace tarcil
