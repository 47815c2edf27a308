// A master that shows what its store holds and changes nothing (--read-only): for a store that does not fit
// the bounds, or that an operator only wants to look at.
#pragma once

#include "core/base/result.h"
#include "master/logic/tables.h"

namespace tarcil::master {

// What everybody is told who asks such a master for a change, or waits for one.
Error readOnlyError();

// Answers the event: whoever asks for something is refused, agents and monitors that want to attach among
// them. Nothing is changed, stored or told to others.
void refuse(EventContext& context, const Event& event);

}  // namespace tarcil::master
