// Input files that go ahead of their job, in pieces that are stored as they come: no batch and no message has
// them all, so nobody waits for them.
#pragma once

#include <string>

#include "master/logic/tables.h"

namespace tarcil::master {

// Stores the piece and answers it.
void takePiece(EventContext& context, const PieceArrived& event);

// Why no further input files of this size are taken now; empty where they are.
std::string tooManyFiles(const Tables& tables, const std::string& user, uint64_t bytes);

// Whether the session has sent all the files that this new job names.
bool hasUpload(Tables& tables, SessionId session, const JobRecord& job);
// The job has the files from now on. Requires: hasUpload().
void giveUpload(EventContext& context, const JobId& job);

// Erases what has come of the upload; nothing where there is none.
void dropUpload(EventContext& context, const JobId& job);
// Of all uploads of a session that is over.
void dropUploads(EventContext& context, SessionId session);
// Of those of which nothing came for too long, or that an earlier master left.
void dropOverdueUploads(EventContext& context);

}  // namespace tarcil::master
