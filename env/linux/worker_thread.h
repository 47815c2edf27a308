// A thread beside the event loop's.
#pragma once

#include <signal.h>

#include <thread>
#include <utility>

namespace tarcil {

// It takes no signals: those are the event loop's.
template <typename Function>
std::thread startWorker(Function function) {
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread(std::move(function));
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

}  // namespace tarcil
