// Whom the kernel ends first when the machine has no memory left.
#pragma once

namespace tarcil {

// Tasks (shim/init.cc), then what else the machine runs, and last this process and those that it starts from
// here on. Where it may not say so, for want of root, it counts like others.
void protectFromOomKiller();

}  // namespace tarcil
