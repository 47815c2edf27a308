// What the audit log says of what somebody asks of the master: who, what, of which job, server or user, and
// with which outcome. What the cluster does by itself (placements, reports, leases, news) is not in it.
#pragma once

#include "core/state/commit.h"
#include "master/logic/tables.h"

namespace tarcil::master {

// Of an event that has been handled; whether it changed anything is found out when it is concluded.
void audit(EventContext& context, const CancelRequested& event, const Status& status);
void audit(EventContext& context, const SettingsSet& event, const Status& status);
void audit(EventContext& context, const PlatformSet& event, const Status& status);
void audit(EventContext& context, const SharesSet& event, const Status& status);
void audit(EventContext& context, const ProfileStored& event, const Status& status);
void audit(EventContext& context, const ProfileDeleted& event, const Status& status);
void audit(EventContext& context, const ProfilePromoted& event, const Status& status);
void audit(EventContext& context, const ServersSteered& event, const Status& status);
void audit(EventContext& context, const JobSteered& event, const Status& status);
void audit(EventContext& context, const CronAdded& event, const Status& status);
void audit(EventContext& context, const CronSteered& event, const Status& status);
void audit(EventContext& context, const PeopleChanged& event, const Status& status);
void audit(EventContext& context, const MembersChanged& event, const Result<MemberRecord>& changed);
void audit(EventContext& context, const SecretsChanged& event, const Status& status);
// A monitor gets the secret for the task, or nothing; `hold`: null where there is no such task.
void auditRead(EventContext& context, const SecretsAsked& event, const Hold& hold,
               const SecretRecord& secret);
void auditRefused(EventContext& context, const SecretsAsked& event, const Hold* hold, const Error& why);
// Of a job's first commit; nothing where an agent is only to send something again.
void audit(EventContext& context, const CommitArrived& event, const CommitAnswer& answer);
// A cron has made a job.
void auditJobOf(EventContext& context, const Cron& cron, const JobRecord& job);

// What the event's entries come to: written now, or counted where nothing was changed
// (audit/logic/refusals.h). Called once per event, when everything that it changes has been put.
void concludeAudit(EventContext& context);

}  // namespace tarcil::master
