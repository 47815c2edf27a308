// Secrets of jobs (docs/secrets.md): what users change of them, which jobs may name them, and to which
// monitor they go for a task. What is in them the logic never sees: whoever seals and opens is
// master/server/secret_keeper.h.
#pragma once

#include <string>

#include "master/logic/tables.h"

namespace tarcil::master {

Status changeSecrets(EventContext& context, const SecretsChanged& event);

// Why a job like this is not taken of its user: a secret that it names is not there, or not granted; empty
// where it is.
std::string whyNotSecrets(const Tables& tables, const JobRecord& record);

// Answers with what a task that is starting on a server of the session gets, by the master's own record of
// its job, and has the audit log say of each that it was given.
void handOutSecrets(EventContext& context, const SecretsAsked& event);

}  // namespace tarcil::master
