// Errors across RPC: an Error travels as a kj::Exception whose text starts with its code.
#pragma once

#include <kj/exception.h>

#include <functional>

#include "core/base/result.h"

namespace tarcil {

// The exception that carries this error to the caller: OVERLOADED for Exhausted, FAILED for every other code.
kj::Exception toException(const Error& error);

// The error that a call failed with: the one that was sent, Unavailable for a lost connection, Internal for
// the rest.
Error fromException(const kj::Exception& exception);

// Whether it carries an Error of the peer, and is no failure of the connection or of RPC itself.
bool wasSent(const kj::Exception& exception);

// Throws toException() unless ok.
void requireOk(const Status& status);

// What `act` says, or the error of what it throws: for threads, where nobody would catch that and the process
// would end without a word.
Status caught(const std::function<Status()>& act);

}  // namespace tarcil
