// One line for each event of each role, as the log of a fake cluster shows it.
#pragma once

#include <string>

#include "agent/events.h"
#include "master/events.h"
#include "monitor/events.h"

namespace tarcil {

std::string text(const master::Event& event);
std::string text(const agent::Event& event);
std::string text(const monitor::Event& event);

}  // namespace tarcil
