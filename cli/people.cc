#include "cli/people.h"

#include <algorithm>

#include "core/base/failure.h"
#include "rpc/errors.h"
#include "schema/convert_people.h"
#include "schema/convert_support.h"

namespace tarcil {
namespace {

template <typename T>
Json jsonOfBound(const std::optional<T>& bound) {
  return bound ? Json(*bound) : Json();
}

template <typename Record>
std::optional<Record> named(const std::vector<Record>& all, const std::string& name) {
  const auto found = std::ranges::find(all, name, &Record::name);
  if (found == all.end()) return std::nullopt;
  return *found;
}

}  // namespace

void throwIfBadInput(const kj::Exception& exception) {
  const Error error = fromException(exception);
  if (error.code == ErrorCode::kInvalid) throw badInput(error.message);
}

std::vector<UserRecord> usersOf(OperatorPort& master) {
  std::vector<UserRecord> users;
  std::string after;
  do {
    const auto answer = master.ask([&after](wire::UserPort::Client& port) {
      auto request = port.usersRequest();
      request.setAfter(convert::text(after));
      return request.send();
    });
    for (auto user : convert::elements(answer.getUsers())) users.push_back(read(user));
    after = convert::text(answer.getNext());
  } while (!after.empty());
  return users;
}

std::vector<AccountRecord> accountsOf(OperatorPort& master) {
  std::vector<AccountRecord> accounts;
  std::string after;
  do {
    const auto answer = master.ask([&after](wire::UserPort::Client& port) {
      auto request = port.accountsRequest();
      request.setAfter(convert::text(after));
      return request.send();
    });
    for (auto account : convert::elements(answer.getAccounts())) accounts.push_back(read(account));
    after = convert::text(answer.getNext());
  } while (!after.empty());
  return accounts;
}

std::optional<UserRecord> findUser(OperatorPort& master, const std::string& name) {
  return named(usersOf(master), name);
}

std::optional<AccountRecord> findAccount(OperatorPort& master, const std::string& name) {
  return named(accountsOf(master), name);
}

void setUser(OperatorPort& master, const std::optional<UserRecord>& seen, const UserRecord& next) {
  orBadInput([&]() {
    master.ask([&](wire::UserPort::Client& port) {
      auto request = port.setUserRequest();
      if (seen) write(*seen, request.initSeen());
      write(next, request.initNext());
      return request.send();
    });
  });
}

void setAccount(OperatorPort& master, const std::optional<AccountRecord>& seen, const AccountRecord& next) {
  orBadInput([&]() {
    master.ask([&](wire::UserPort::Client& port) {
      auto request = port.setAccountRequest();
      if (seen) write(*seen, request.initSeen());
      write(next, request.initNext());
      return request.send();
    });
  });
}

Json jsonOf(const UserRecord& user) {
  return {{"name", user.name},
          {"role", name(user.role)},
          {"account", user.account.empty() ? Json() : Json(user.account)},
          {"run_as", user.runAs},
          {"changed_by", user.changedBy}};
}

Json jsonOf(const AccountRecord& account) {
  const AccountBounds& bounds = account.bounds;
  return {{"name", account.name},
          {"shares", account.shares},
          {"max_running_units", jsonOfBound(bounds.runningUnits)},
          {"max_waiting_tasks", jsonOfBound(bounds.waitingTasks)},
          {"max_jobs_size", jsonOfBound(bounds.specificationBytes)},
          {"max_priority", bounds.highestPriority},
          {"allow_opt_out", bounds.mayOptOut},
          {"changed_by", account.changedBy}};
}

}  // namespace tarcil
