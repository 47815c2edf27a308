// Users and accounts as operators see and change them; what a cluster finds wrong is bad input.
#pragma once

#include <kj/exception.h>

#include <optional>
#include <string>
#include <vector>

#include "cli/operator_port.h"
#include "cli/output/output.h"
#include "identity/logic/person.h"

namespace tarcil {

// As Failure with kExitBadInput where it is Invalid.
void throwIfBadInput(const kj::Exception& exception);

// Does what `ask()` does, whose Invalid answers name what was written wrong.
template <typename Ask>
auto orBadInput(Ask ask) {
  try {
    return ask();
  } catch (const kj::Exception& exception) {
    throwIfBadInput(exception);
    throw;
  }
}
// All that the caller may see, by name.
std::vector<UserRecord> usersOf(OperatorPort& master);
std::vector<AccountRecord> accountsOf(OperatorPort& master);

// Nothing: there is none of this name.
std::optional<UserRecord> findUser(OperatorPort& master, const std::string& name);
std::optional<AccountRecord> findAccount(OperatorPort& master, const std::string& name);

// Adds `next` where nothing was `seen`.
void setUser(OperatorPort& master, const std::optional<UserRecord>& seen, const UserRecord& next);
void setAccount(OperatorPort& master, const std::optional<AccountRecord>& seen, const AccountRecord& next);

Json jsonOf(const UserRecord& user);
Json jsonOf(const AccountRecord& account);

}  // namespace tarcil
