// An etcd of some members on this machine, for tests: Debian's etcd-server, on ports of the loopback that are
// free.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "etcd/module.h"
#include "tests/support/process.h"
#include "tests/support/temporary_folder.h"

namespace tarcil {

struct EtcdPlan {
  uint32_t members = 1;
  uint64_t quota = uint64_t{2} << 30;       // bytes
  std::vector<std::string> arguments = {};  // more of each member
  std::string scheme = "http";              // towards clients
};

class EtcdCluster final {
 public:
  // Returns when it answers; throws where it does not within a minute.
  explicit EtcdCluster(const EtcdPlan& plan = {});

  const std::vector<std::string>& urls() const { return urls_; }
  // With commas between them, as --etcd takes it.
  std::string urlList() const;
  std::unique_ptr<etcd::Client> client() const { return client({.urls = urls_}); }
  static std::unique_ptr<etcd::Client> client(const etcd::Access& access);

  void kill(uint32_t member);
  void signal(uint32_t member, int number) { processes_.at(member)->signal(number); }
  // Again, on what it has left.
  void start(uint32_t member);
  void awaitAnswer() const;
  // etcd's own command, at all members or the one of `urls`; what it printed. Throws where it fails.
  std::string control(const std::vector<std::string>& words) const;

 private:
  const EtcdPlan plan_;
  const TemporaryFolder folder_;
  std::vector<std::string> urls_, peers_;
  std::vector<std::unique_ptr<Process>> processes_;
};

// Why no etcd can be run here; empty where one can.
std::string whyNoEtcd();

#define SKIP_WITHOUT_ETCD() \
  if (const std::string reason = whyNoEtcd(); !reason.empty()) GTEST_SKIP() << reason

}  // namespace tarcil
