#include "master/logic/people/people.h"

#include "core/base/names.h"
#include "core/base/text.h"
#include "master/logic/people/account_bounds.h"

namespace tarcil::master {
namespace {

struct PeopleChanger {
  EventContext& context;
  const PeopleChanged& event;
  PeopleTable& people = context.tables.people;

  Status operator()(const UserSet& set) {
    UserRecord next = set.next;
    next.changedBy = event.by;
    if (Status done = people.setUser(set.seen, next, event.hasOther); !done) return done;
    context.out.put(next);
    rearrange(next.name);
    context.out.send(PublishUser{next.name});
    return {};
  }
  Status operator()(const UserRemoved& removed) {
    const auto tokens = people.removeUser(removed.name, event.hasOther);
    if (!tokens) return tokens.error();
    context.out.erase(EraseUser{removed.name});
    erase(*tokens);
    rearrange(removed.name);
    context.out.send(PublishUser{removed.name});
    return {};
  }
  Status operator()(const AccountSet& set) {
    AccountRecord next = set.next;
    next.changedBy = event.by;
    if (Status done = people.setAccount(set.seen, next); !done) return done;
    context.out.put(next);
    placeAllInAccounts(context.tables);
    return {};
  }
  Status operator()(const AccountRemoved& removed) {
    if (Status done = people.removeAccount(removed.name); !done) return done;
    context.out.erase(EraseAccount{removed.name});
    placeAllInAccounts(context.tables);
    return {};
  }
  Status operator()(const TokenAdded& added) {
    if (Status done = people.addToken(added.token, context.now.wall); !done) return done;
    context.out.put(added.token);
    return {};
  }
  Status operator()(const TokenRevoked& revoked) {
    const auto found = people.tokens().find(revoked.id);
    const std::string user = found == people.tokens().end() ? "" : found->second.user;
    if (Status done = people.revokeToken(revoked.id, revoked.of); !done) return done;
    erase({revoked.id});
    context.out.send(PublishUser{user});
    return {};
  }
  Status operator()(const TokensRevoked& revoked) {
    erase(people.revokeTokensOf(revoked.user));
    context.out.send(PublishUser{revoked.user});
    return {};
  }

  // Jobs of the user may be in another account now.
  void rearrange(const std::string& user) {
    placeInAccount(context.tables, user);
    context.tables.jobs.queue().wakeUntriable();
  }
  void erase(const std::vector<uint64_t>& tokens) {
    for (const uint64_t id : tokens) context.out.erase(EraseToken{id});
  }
};

}  // namespace

Status changePeople(EventContext& context, const PeopleChanged& event) {
  PeopleChanger change{context, event};
  change.erase(context.tables.people.forgetExpired(context.now.wall));
  return std::visit(change, event.change);
}

Result<Caller> vouchedFor(const PeopleTable& people, const Vouching& rules, const std::string& agent,
                          const std::string& user) {
  const Vouching::Whom whom = rules.of(agent);
  if (user == "root") {
    return denied("root is let in by a token alone; give --token-file FILE or set TARCIL_TOKEN_FILE");
  }
  if (whom != Vouching::Whom::kNobody) {
    if (const UserRecord* known = people.user(user)) {
      Caller caller = callerOf(*known);
      if (!agent.empty() && caller.role == Role::kOperate) caller.role = Role::kSubmit;
      return caller;
    }
  }
  const Status named = checkName("the name of the user", user);
  if (whom == Vouching::Whom::kAll && named) return Caller{user, Role::kSubmit, {user}};
  if (whom == Vouching::Whom::kAll) return denied(named.error().message);
  if (whom == Vouching::Whom::kKnown) {
    return denied("user " + shown(user) + " is not known here; an operator adds them: tarcil user add " +
                  user);
  }
  return denied(
      "this cluster lets nobody in by their user id here (the master's --vouch); give --token-file "
      "FILE or set TARCIL_TOKEN_FILE");
}

}  // namespace tarcil::master
