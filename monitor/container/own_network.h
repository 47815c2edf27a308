// Whether this machine can give tasks a network of their own.
#pragma once

namespace tarcil {

// Tries it, in a process and a network namespace that end with the try: a pair of interfaces and a limit on
// each. Takes some ten milliseconds.
bool canMakeOwnNetworks();

}  // namespace tarcil
