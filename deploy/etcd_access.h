// How a master, or who looks after its store, reaches etcd: what the options of a command say.
#pragma once

#include <memory>
#include <string>

#include "etcd/client.h"
#include "master/store/etcd/etcd_store.h"

namespace tarcil {

struct EtcdFlags {
  std::string urls;                         // with commas between them; empty: the store is not in etcd
  std::string authority, certificate, key;  // files
  std::string user, passwordFile;
  EtcdStoreOptions store;

  bool isGiven() const { return !urls.empty(); }
};

// Bad input, naming the option, where something is wrong with them. Nothing is asked of etcd yet.
std::unique_ptr<etcd::Client> openEtcd(const EtcdFlags& flags);

// Of this machine.
std::string hostName();
// Its host, address and process, as `leader` in etcd shows it.
std::string whoLeads(const std::string& address);
// The address in that.
std::string addressOf(const Leader& leader);

}  // namespace tarcil
