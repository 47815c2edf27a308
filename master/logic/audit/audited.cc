#include "master/logic/audit/audited.h"

#include <array>

#include "core/base/hex.h"
#include "core/base/text.h"
#include "core/base/units.h"
#include "identity/logic/member.h"

namespace tarcil::master {
namespace {

void add(EventContext& context, const audit::Requester& by, std::string action, std::string object,
         const Status& status, std::string detail = "") {
  context.audited.push_back({.time = context.now.wall,
                             .by = by,
                             .action = std::move(action),
                             .object = std::move(object),
                             .outcome = status ? audit::kAccepted : name(status.error().code),
                             .detail = std::move(detail)});
}

// By its number, where there is such a job.
std::string textOf(const EventContext& context, const JobId& id) {
  const Job* job = context.tables.jobs.find(id);
  return "job " + (job == nullptr ? toString(id) : std::to_string(job->record.number));
}

// Whose it is, where that is not who asks.
std::string ofWhom(const std::string& user, const audit::Requester& by) {
  return user.empty() || user == by.user ? "" : "of user " + user;
}

std::string ofWhom(const EventContext& context, const JobId& id, const audit::Requester& by) {
  const Job* job = context.tables.jobs.find(id);
  return job == nullptr ? "" : ofWhom(job->record.user, by);
}

// More of it than a name.
std::string describe(const JobRecord& job) {
  std::string text = "name " + job.spec.name + ", tasks " + std::to_string(job.spec.tasks);
  if (!job.runAs.empty()) text += ", runs as " + job.runAs;
  if (job.hasFiles) text += ", files of " + formatSize(job.fileBytes);
  return text;
}

constexpr std::array<const char*, 4> kJobChanges = {"job.hold", "job.release", "job.priority", "job.rerun"};
constexpr std::array<const char*, 4> kServerChanges = {"server.cordon", "server.uncordon", "server.drain",
                                                       "server.remove"};
constexpr std::array<const char*, 4> kCronChanges = {"cron.hold", "cron.release", "cron.run", "cron.remove"};

struct PeopleEntry {
  EventContext& context;
  const audit::Requester& by;
  const Status& status;

  void operator()(const UserSet& set) const {
    const UserRecord& user = set.next;
    add(context, by, set.seen ? "user.set" : "user.add", "user " + user.name, status,
        "role " + std::string(name(user.role)) + (user.account.empty() ? "" : ", account " + user.account) +
            (user.runAs.empty() ? "" : ", runs as " + joined(user.runAs, ",")));
  }
  void operator()(const UserRemoved& removed) const {
    add(context, by, "user.remove", "user " + removed.name, status);
  }
  void operator()(const AccountSet& set) const {
    const AccountBounds& bounds = set.next.bounds;
    std::string detail = "shares " + std::to_string(set.next.shares) + ", priority up to " +
                         std::to_string(bounds.highestPriority);
    if (bounds.runningUnits) detail += ", running units " + std::to_string(*bounds.runningUnits);
    if (bounds.waitingTasks) detail += ", waiting tasks " + std::to_string(*bounds.waitingTasks);
    if (bounds.specificationBytes) detail += ", jobs of " + formatSize(*bounds.specificationBytes);
    if (!bounds.mayOptOut) detail += ", no opt-out";
    add(context, by, set.seen ? "account.set" : "account.add", "account " + set.next.name, status, detail);
  }
  void operator()(const AccountRemoved& removed) const {
    add(context, by, "account.remove", "account " + removed.name, status);
  }
  void operator()(const TokenAdded& added) const {
    add(context, by, "token.add", "token " + hexOf(added.token.id), status,
        "user " + added.token.user + ", until " + formatTime(added.token.until));
  }
  void operator()(const TokenRevoked& revoked) const {
    add(context, by, "token.revoke", "token " + hexOf(revoked.id), status);
  }
  void operator()(const TokensRevoked& revoked) const {
    add(context, by, "token.revoke", "tokens of user " + revoked.user, status);
  }
};

struct SecretEntry {
  EventContext& context;
  const audit::Requester& by;
  const Status& status;

  void operator()(const SecretPut& put) const {
    const SecretRecord* secret = context.tables.secrets.find({put.owner, put.name});
    addEntry("secret.put", put,
             status && secret != nullptr ? "version " + std::to_string(secret->version) : "");
  }
  void operator()(const SecretResealed& resealed) const {
    addEntry("secret.rekey", resealed, "key " + resealed.value.key);
  }
  void operator()(const SecretGranted& granted) const {
    addEntry("secret.grant", granted, textOf(granted.grant));
  }
  void operator()(const SecretRevoked& revoked) const {
    addEntry("secret.revoke", revoked, textOf(revoked.grant));
  }
  void operator()(const SecretDeleted& deleted) const { addEntry("secret.delete", deleted, ""); }

  void addEntry(const char* action, const auto& change, std::string detail) const {
    add(context, by, action, "secret " + fullName(change.owner, change.name), status, std::move(detail));
  }
  static std::string textOf(const SecretGrant& grant) {
    return "user " + (grant.user.empty() ? "*" : grant.user) +
           (grant.application.empty() ? "" : ", application " + grant.application);
  }
};

// In whose name a monitor asks.
audit::Requester readerOf(const EventContext& context, const SecretsAsked& event, const Hold* hold) {
  audit::Requester by{.user = {}, .knownBy = "monitor", .agent = {}, .address = event.address};
  if (hold == nullptr) return by;
  by.user = hold->job->record.user;
  by.knownBy = "monitor of " + context.tables.servers.at(hold->server).record.facts.name;
  return by;
}

std::string textOf(const Hold& hold) {
  return "job " + std::to_string(hold.job->record.number) + "." + std::to_string(hold.task);
}

struct MemberEntry {
  EventContext& context;
  const audit::Requester& by;
  const Result<MemberRecord>& changed;
  const Status status = changed ? Status() : Status(changed.error());

  void operator()(const MemberInvited& invited) const {
    add(context, by, "member.invite", textOf(invited.role, invited.name), status);
  }
  // A word that lets nobody in names nobody.
  void operator()(const MemberJoined& joined) const {
    add(context, by, "member.join", changed ? textOf(changed->role, changed->name) : "", status,
        "certificate " + hexOf(joined.serial));
  }
  void operator()(const CertificateRenewed& renewed) const {
    add(context, by, "member.renew", textOf(renewed.shown.role, renewed.shown.name), status,
        "certificate " + hexOf(renewed.serial));
  }
  // Nobody asked for it.
  void operator()(const CertificateNoted&) const {}
  void operator()(const MemberRevoked& revoked) const {
    add(context, by, "member.revoke", textOf(revoked.role, revoked.name), status);
  }

  static std::string textOf(MemberRole role, const std::string& name) {
    return std::string(tarcil::name(role)) + " " + name;
  }
};

}  // namespace

void audit(EventContext& context, const CancelRequested& event, const Status& status) {
  add(context, event.requester, "job.cancel", textOf(context, event.job), status,
      ofWhom(context, event.job, event.requester));
}

void audit(EventContext& context, const SettingsSet& event, const Status& status) {
  const QualitySettings& settings = event.settings;
  std::string detail = "target " + std::to_string(settings.target) + ", rarity " +
                       std::to_string(settings.rarity) + ", confidence " +
                       std::to_string(settings.confidence);
  if (settings.cap) detail += ", cap " + std::to_string(*settings.cap);
  add(context, event.requester, "settings.set", "settings", status, std::move(detail));
}

void audit(EventContext& context, const PlatformSet& event, const Status& status) {
  add(context, event.requester, "platform.set", "platform " + event.platform, status);
}

void audit(EventContext& context, const SharesSet& event, const Status& status) {
  add(context, event.requester, "shares.set", "user " + event.user, status,
      "shares " + std::to_string(event.shares));
}

void audit(EventContext& context, const ProfileStored& event, const Status& status) {
  add(context, event.requester, "profile.store", "application " + event.profile.application, status);
}

void audit(EventContext& context, const ProfileDeleted& event, const Status& status) {
  add(context, event.requester, "profile.delete", "application " + event.application, status,
      ofWhom(event.user, event.requester));
}

void audit(EventContext& context, const ProfilePromoted& event, const Status& status) {
  add(context, event.requester, "profile.promote", "application " + event.application, status,
      ofWhom(event.user, event.requester));
}

// Each server has its own, so that none of a long list is cut off. What is refused is refused as a whole.
void audit(EventContext& context, const ServersSteered& event, const Status& status) {
  const char* const action = kServerChanges.at(static_cast<size_t>(event.change));
  const bool drains = event.change == ServerChange::kDrain;
  for (const std::string& server : event.servers) {
    add(context, event.requester, action, "server " + server, status,
        drains ? "within " + formatDuration(event.deadline) : "");
    if (!status) return;
  }
}

void audit(EventContext& context, const JobSteered& event, const Status& status) {
  std::string detail = ofWhom(context, event.job, event.requester);
  if (event.change == JobChange::kPriority)
    detail += (detail.empty() ? "priority " : ", priority ") + std::to_string(event.priority);
  add(context, event.requester, kJobChanges.at(static_cast<size_t>(event.change)), textOf(context, event.job),
      status, std::move(detail));
}

void audit(EventContext& context, const CronAdded& event, const Status& status) {
  add(context, event.requester, "cron.add", "cron " + event.cron.name, status,
      event.replaces ? "in place of one that there may have been" : "");
}

void audit(EventContext& context, const CronSteered& event, const Status& status) {
  add(context, event.requester, kCronChanges.at(static_cast<size_t>(event.change)), "cron " + event.name,
      status, ofWhom(event.user, event.requester));
}

void audit(EventContext& context, const PeopleChanged& event, const Status& status) {
  std::visit(PeopleEntry{context, event.requester, status}, event.change);
}

void audit(EventContext& context, const SecretsChanged& event, const Status& status) {
  std::visit(SecretEntry{context, event.requester, status}, event.change);
}

// Nothing else is stored, and yet it is no repeat of anything: each time stands by itself.
void auditRead(EventContext& context, const SecretsAsked& event, const Hold& hold,
               const SecretRecord& secret) {
  context.out.audit({.time = context.now.wall,
                     .by = readerOf(context, event, &hold),
                     .action = "secret.read",
                     .object = "secret " + fullName(secret.owner, secret.name),
                     .detail = "version " + std::to_string(secret.version) + ", for " + textOf(hold)});
}

void auditRefused(EventContext& context, const SecretsAsked& event, const Hold* hold, const Error& why) {
  add(context, readerOf(context, event, hold), "secret.read",
      hold == nullptr ? "allocation " + std::to_string(event.allocation) : textOf(*hold), why);
}

void audit(EventContext& context, const MembersChanged& event, const Result<MemberRecord>& changed) {
  std::visit(MemberEntry{context, event.requester, changed}, event.change);
}

void audit(EventContext& context, const CommitArrived& event, const CommitAnswer& answer) {
  Status status;
  switch (answer.outcome) {
    case CommitAnswer::Outcome::kOk:
    case CommitAnswer::Outcome::kJobExists:
      break;
    case CommitAnswer::Outcome::kRefused:
      status = invalid(answer.problem);
      break;
    case CommitAnswer::Outcome::kBusy:
      status = Error{ErrorCode::kExhausted, answer.problem};
      break;
    case CommitAnswer::Outcome::kJobOver:
    case CommitAnswer::Outcome::kSuperseded:
    case CommitAnswer::Outcome::kFilesMissing:
      return;
  }
  const JobRecord& record = event.commit.newJob->record;
  audit::Requester by = event.requester;
  by.user = record.user;
  add(context, by, "job.submit", textOf(context, event.commit.job), status, describe(record));
  // Its answer was stored, and nothing else.
  if (answer.outcome == CommitAnswer::Outcome::kJobExists) context.audited.back().outcome = audit::kUnchanged;
}

void auditJobOf(EventContext& context, const Cron& cron, const JobRecord& job) {
  add(context, {.user = cron.user, .knownBy = "cron " + cron.spec.name}, "job.submit",
      "job " + std::to_string(job.number), {}, describe(job));
}

void concludeAudit(EventContext& context) {
  const bool hasStored = context.out.hasStored();
  for (audit::Entry& entry : context.audited) {
    if (entry.outcome == audit::kAccepted && !hasStored) entry.outcome = audit::kUnchanged;
    if (entry.outcome == audit::kAccepted) {
      context.out.audit(std::move(entry));
    } else if (auto now = context.tables.refusals.take(std::move(entry), context.now.steady)) {
      context.out.audit(std::move(*now));
    }
  }
  context.audited.clear();
  for (audit::Entry& entry : context.tables.refusals.takeDue(context.now.steady))
    context.out.audit(std::move(entry));
}

}  // namespace tarcil::master
