// Whether this machine can give tasks a user namespace of their own.
#pragma once

namespace tarcil {

// Tries it, in a process that ends with the try.
bool canMakeOwnUsers();

}  // namespace tarcil
