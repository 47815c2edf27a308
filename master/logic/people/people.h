// What operators change of users, accounts and tokens, and who is let in (identity/logic/people_table.h).
#pragma once

#include "master/logic/people/vouching.h"
#include "master/logic/tables.h"

namespace tarcil::master {

// Tokens that expired are erased besides.
Status changePeople(EventContext& context, const PeopleChanged& event);

// As whom a user is let in of whom an agent says that its machine knows them so. Denied where that does not
// count, and for root always.
Result<Caller> vouchedFor(const PeopleTable& people, Vouching::Whom whom, const std::string& user);

}  // namespace tarcil::master
