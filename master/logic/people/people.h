// What operators change of users, accounts and tokens, and who is let in (identity/logic/people_table.h).
#pragma once

#include "master/logic/people/vouching.h"
#include "master/logic/tables.h"

namespace tarcil::master {

// Tokens that expired are erased besides.
Status changePeople(EventContext& context, const PeopleChanged& event);

// As whom a user is let in of whom this agent says that its machine knows them so; an empty name stands for
// the master's own socket. Denied where that does not count, and for root always. An agent's word makes
// nobody an operator: they submit without a token.
Result<Caller> vouchedFor(const PeopleTable& people, const Vouching& rules, const std::string& agent,
                          const std::string& user);

}  // namespace tarcil::master
