// One line for each event of each role, as the log of a virtual cluster shows it.
#pragma once

#include <string>

#include "agent/logic/events.h"
#include "master/logic/events.h"
#include "monitor/logic/events.h"

namespace tarcil::sim {

std::string text(const master::Event& event);
std::string text(const agent::Event& event);
std::string text(const monitor::Event& event);

}  // namespace tarcil::sim
