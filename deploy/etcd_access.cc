#include "deploy/etcd_access.h"

#include <unistd.h>

#include <array>

#include "core/base/failure.h"
#include "core/base/text.h"
#include "etcd/module.h"
#include "rpc/private_file.h"

namespace tarcil {
namespace {

constexpr size_t kMaxPrefix = 256;

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> words(1);
  for (const char c : list) {
    if (c == ',') {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  return words;
}

void requirePrefix(const std::string& prefix) {
  bool isGood =
      prefix.size() >= 2 && prefix.size() <= kMaxPrefix && prefix.front() == '/' && prefix.back() == '/';
  for (const char c : prefix) isGood = isGood && c > ' ' && c < 0x7f;
  if (!isGood) {
    throw badInput("--etcd-prefix: " + shown(prefix) +
                   " is none; write one that begins and ends with a slash, such as /tarcil/, of at most " +
                   std::to_string(kMaxPrefix) + " characters without blanks");
  }
}

}  // namespace

std::unique_ptr<etcd::Client> openEtcd(const EtcdFlags& flags) {
  requirePrefix(flags.store.prefix);
  etcd::Access access{split(flags.urls), flags.authority, flags.certificate, flags.key, flags.user, ""};
  if (flags.user.empty() != flags.passwordFile.empty()) {
    throw badInput("--etcd-user: needs --etcd-password-file, and that the user; give both");
  }
  if (!flags.user.empty()) {
    const auto text = readPrivateFile(flags.passwordFile);
    if (!text) throw badInput("--etcd-password-file: " + text.error().message);
    access.password = text->substr(0, text->find('\n'));
    if (access.password.empty())
      throw badInput("--etcd-password-file: " + flags.passwordFile + ": its first line is empty");
  }
  auto client = etcd::openClient(access);
  if (!client) throw badInput("--etcd: " + client.error().message);
  return std::move(*client);
}

std::string hostName() {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  return host.data();
}

std::string whoLeads(const std::string& address) {
  return hostName() + " " + address + " " + std::to_string(::getpid());
}

std::string addressOf(const Leader& leader) {
  const size_t begin = leader.who.find(' ') + 1, end = leader.who.rfind(' ');
  return end > begin ? leader.who.substr(begin, end - begin) : leader.who;
}

}  // namespace tarcil
