#include "master/logic/secrets/secrets.h"

#include <optional>

#include "master/logic/audit/audited.h"

namespace tarcil::master {
namespace {

struct SecretChanger {
  EventContext& context;
  SecretTable& secrets = context.tables.secrets;

  Status operator()(const SecretPut& put) {
    return store(secrets.put({put.owner, put.name}, put.value, context.now.wall));
  }
  Status operator()(const SecretResealed& resealed) {
    return store(secrets.reseal({resealed.owner, resealed.name}, resealed.version, resealed.value));
  }
  Status operator()(const SecretGranted& granted) {
    const size_t before = grantsOf(granted.owner, granted.name);
    return store(secrets.grant({granted.owner, granted.name}, granted.grant), before);
  }
  Status operator()(const SecretRevoked& revoked) {
    const size_t before = grantsOf(revoked.owner, revoked.name);
    return store(secrets.revoke({revoked.owner, revoked.name}, revoked.grant), before);
  }
  Status operator()(const SecretDeleted& deleted) {
    if (Status done = secrets.remove({deleted.owner, deleted.name}); !done) return done;
    context.out.erase(EraseSecret{deleted.owner, deleted.name});
    return {};
  }

  // `grants`: that there were before, where nothing else may have changed.
  Status store(Result<SecretRecord> changed, std::optional<size_t> grants = {}) {
    if (!changed) return changed.error();
    if (grants != changed->grants.size()) context.out.put(std::move(*changed));
    return {};
  }

  size_t grantsOf(const std::string& owner, const std::string& name) const {
    const SecretRecord* secret = secrets.find({owner, name});
    return secret == nullptr ? 0 : secret->grants.size();
  }
};

Result<std::vector<const SecretRecord*>> secretsOf(const Tables& tables, const JobRecord& record) {
  std::vector<const SecretRecord*> secrets;
  for (const std::string& reference : record.spec.secrets) {
    const auto secret = tables.secrets.usable(reference, record.user, record.spec.profile.application);
    if (!secret) return secret.error();
    secrets.push_back(*secret);
  }
  return secrets;
}

// The task that is starting under the allocation, on a server that the session stands for.
Result<const Hold*> startingTask(const Tables& tables, const SecretsAsked& event) {
  const Hold* hold = tables.jobs.holder(event.allocation);
  const bool isThere = hold != nullptr && tables.servers.at(hold->server).session == event.session;
  if (isThere && hold->job->tasks.state(hold->task) == RunState::kStarting &&
      !hold->job->progress.cancelRequested)
    return hold;
  return denied("no task is starting under allocation " + std::to_string(event.allocation) +
                " on a server of this monitor");
}

}  // namespace

Status changeSecrets(EventContext& context, const SecretsChanged& event) {
  return std::visit(SecretChanger{context}, event.change);
}

std::string whyNotSecrets(const Tables& tables, const JobRecord& record) {
  const auto secrets = secretsOf(tables, record);
  return secrets ? "" : "secrets: " + secrets.error().message;
}

void handOutSecrets(EventContext& context, const SecretsAsked& event) {
  const auto hold = startingTask(context.tables, event);
  if (!hold) {
    auditRefused(context, event, nullptr, hold.error());
    context.out.send(AnswerSecrets{event.request, hold.error()});
    return;
  }
  const auto secrets = secretsOf(context.tables, (*hold)->job->record);
  if (!secrets) {
    auditRefused(context, event, *hold, secrets.error());
    context.out.send(AnswerSecrets{event.request, secrets.error()});
    return;
  }
  std::vector<SecretRecord> given;
  for (const SecretRecord* secret : *secrets) {
    auditRead(context, event, **hold, *secret);
    given.push_back(*secret);
  }
  context.out.send(AnswerSecrets{event.request, std::move(given)});
}

}  // namespace tarcil::master
