// The capabilities that a master hands out (schema/master.capnp). Thin: they check who calls, convert, and
// ask the server, which outlives them.
#pragma once

#include "master/server/master_server.h"
#include "schema/master.capnp.h"

namespace tarcil {

// The bootstrap capability of one connection.
wire::MasterGate::Client makeMasterGate(MasterServer& server, LetIn letIn);

// What is answered where certificates are asked for, and nobody makes any.
Error noAuthority();

// How a caller reached the master: over a Unix socket of its own machine, or otherwise, as all do who come
// through agents.
enum class Transport : uint8_t { kUnixSocket, kNetwork };

// What one caller asks of the shared state (user_port.cc).
// `shown`: what the caller logged in with. `requester`: as whom they stand in the audit log.
wire::UserPort::Client makeUserPort(MasterServer& server, Caller caller, const LoginProof& shown,
                                    audit::Requester requester, Transport transport);

}  // namespace tarcil
