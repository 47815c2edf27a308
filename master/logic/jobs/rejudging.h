// What is learned of an application counts for its jobs that have not ended, too: those whose profile the
// cluster knew when they were submitted (JobSpec::profileLookedUp) get it as it is known now. Those that wait
// are placed by it; tasks that run are charged for it where they are not measured, and their neighbours may
// do to them what it tolerates. Agents hear of it as of any change of a job and of a server.
#pragma once

#include <string>

#include "master/logic/tables.h"

namespace tarcil::master {

// Less is no news: tolerated or caused pressure of some resource, or hundredths of a platform's factor.
inline constexpr int kPointsThatMatter = 3;
// Between two rounds over a user's jobs of an application, so that no job changes more often while a master
// lives, whatever runs are like.
inline constexpr Duration kRejudgingInterval = std::chrono::minutes(10);
// Memory of the jobs that are judged at once, by bytesOf() (job_table.h), but for one job: a hundred small
// ones take a few milliseconds. The others follow with the timer, which fires at once.
inline constexpr size_t kBytesJudgedAtOnce = size_t{256} << 10;

// What is known of the user's application may have changed. If so by enough for the oldest of its jobs, all
// of them are due to be judged anew. O(log jobs).
void noteLearned(EventContext& context, const std::string& application, const std::string& user);
// The same for every user, and where other versions of the application have no profile of their own, of
// these. O(users of the application).
void noteLearnedForAll(EventContext& context, const std::string& application);

// A job has come, or is there at the master's start: its profile may have been looked up before something was
// learned. O(log jobs).
void noteFollower(EventContext& context, const Job& job);

// Goes on judging jobs that are due, the oldest first. A profile that differs by enough is replaced, except
// for the application that it names, and stored with its job. Where the job waits, all that wait are to be
// tried again: an attempt that is under way is by the profile that it had.
void judgeDue(EventContext& context);

}  // namespace tarcil::master
