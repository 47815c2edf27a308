// What is done for tasks that fall short of what their jobs expect (Tarcil section 5.1): first
// nobody else is placed on their server; a task that uses up its own cores or memory gets more units there,
// if its job allows, and no job waits that could use them; at last it is moved to a place that is enough
// better, or has the units that it needs, if its job allows.
//
// One step at a time for a task, with a pause between two. When its monitor says that the trouble is over,
// and it stays so for a while, what was done is undone; a while that doubles when the trouble comes back.
// Steps are listed with the job, and are not stored: a restart of the master forgets them and what was told,
// which monitors tell again.
#pragma once

#include "master/logic/tables.h"

namespace tarcil::master {

// Takes what a monitor tells of tasks on the servers that its current session stands for.
void takeViolations(EventContext& context, const ViolationsReported& event);

// A monitor has given a task other units, or cannot.
void takeResized(EventContext& context, const TaskResized& event);

// Takes the steps, and undoes the steps, whose time has come.
void adjustDue(EventContext& context);

// To be called before the attempt's units are freed: accounts for those it got beyond what it asked for.
void noteAdjustedEnds(EventContext& context, const Hold& hold);

// To be called when an attempt is over: a task that was ended to have more units elsewhere starts there, if
// they are still to be had.
void placeMoved(EventContext& context, Job& job, TaskIndex task);

// The monitor of this server attaches: it tells anew who is in trouble, and is told anew of tasks that have
// more units than they were launched with.
void resumeAdjusting(EventContext& context, const Server& server);

// At a start: tasks that have more units than they asked for.
void restoreAdjusting(EventContext& context);

// Tasks take new places there again, whatever it was kept free for.
void endAutoCordon(EventContext& context, Server& server);

// The task's trouble, for people; nullopt where it is in none.
std::optional<TaskViolation> violationOf(const Tables& tables, const Hold& hold);

}  // namespace tarcil::master
