#include "rpc/token.h"

#include <kj/encoding.h>
#include <sys/random.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "core/base/text.h"
#include "rpc/private_file.h"

namespace tarcil {
namespace {

bool sameSecret(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (size_t i = 0; i < a.size(); ++i)
    difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  return difference == 0;
}

// Up to 256 random bytes, which are never cut short.
void fill(void* to, size_t size) {
  if (::getrandom(to, size, 0) != static_cast<ssize_t>(size)) std::abort();
}

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> parts;
  std::stringstream in(list);
  for (std::string part; std::getline(in, part, ',');) parts.push_back(part);
  return parts;
}

}  // namespace

std::string makeToken() {
  unsigned char bytes[32];
  fill(bytes, sizeof bytes);
  return kj::encodeHex(bytes).cStr();
}

TokenSecret makeTokenSecret() {
  TokenSecret secret;
  fill(secret.data(), secret.size());
  return secret;
}

uint64_t makeTokenId() {
  uint64_t id = 0;
  while (id == 0) fill(&id, sizeof id);
  return id;
}

Result<std::string> readTokenFile(const std::string& path) {
  Result<std::string> text = readPrivateFile(path);
  if (!text) return text.error();
  std::string token;
  std::stringstream(*text) >> token;
  if (token.empty()) return invalid(path + ": holds no token");
  return token;
}

Status writeTokenFile(const std::string& path, const std::string& token) {
  return writePrivateFile(path, token + "\n");
}

namespace {

// What is wrong with a line of these words; empty where nothing is. The token is nobody's to see.
std::string problemOf(const std::string& token, const std::string& role, bool isKnownRole,
                      const std::string& more) {
  constexpr size_t kShortestToken = 32;
  if (token.size() < kShortestToken) {
    return "token: has " + std::to_string(token.size()) + " characters; write at least " +
           std::to_string(kShortestToken);
  }
  if (role.empty()) return "role: is missing; write one of submit, operate, read, agent, monitor";
  if (!isKnownRole)
    return "role: " + shown(role) + " is none; write one of submit, operate, read, agent, monitor";
  if (!more.empty()) {
    return "there is more behind RUN-AS, from " + shown(more) +
           " on: write users with commas between them, " + "without spaces";
  }
  return "";
}

}  // namespace

Result<TokenTable> TokenTable::readOwn(const std::string& path) {
  if (const Status own = checkOwner(path); !own) return own.error();
  return read(path);
}

Result<TokenTable> TokenTable::read(const std::string& path) {
  Result<std::string> text = readPrivateFile(path);
  if (!text) return text.error();
  TokenTable table;
  std::stringstream lines(*text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.empty() || line[0] == '#') continue;
    std::stringstream words(line);
    std::string token, user, role, runAs, more;
    words >> token >> user >> role >> runAs >> more;
    const auto known = roleNamed(role);
    if (const std::string problem = problemOf(token, role, known.has_value(), more); !problem.empty()) {
      return invalid(path + ":" + std::to_string(number) + ": " + problem +
                     "; a line is TOKEN USER ROLE [RUN-AS,...]");
    }
    table.entries_.push_back({token, {user, *known, split(runAs)}});
  }
  return table;
}

std::string TokenTable::lineOf(const Entry& entry) {
  std::string line = entry.token + " " + entry.caller.user + " " + std::string(name(entry.caller.role));
  for (size_t i = 0; i < entry.caller.runAs.size(); ++i) line += (i == 0 ? " " : ",") + entry.caller.runAs[i];
  return line;
}

Status TokenTable::write(const std::string& path, const std::vector<Entry>& entries) {
  std::string text = "# token user role run-as\n";
  for (const Entry& entry : entries) text += lineOf(entry) + "\n";
  return writePrivateFile(path, text);
}

Status TokenTable::add(const std::string& path, const Entry& entry) {
  std::error_code problem;
  // What a link names is replaced, not the link.
  const std::filesystem::path file =
      std::filesystem::weakly_canonical(std::filesystem::absolute(path), problem);
  if (problem || !file.has_filename()) return invalid(path + ": is no path of a file; name one");
  const auto folder = lockFolder(file.parent_path());
  if (!folder) return folder.error();
  std::string text = "# token user role run-as\n";
  if (std::filesystem::exists(file, problem)) {
    const auto table = read(file);
    if (!table) return table.error();
    for (const Entry& known : table->entries_) {
      if (known.caller.user != entry.caller.user) continue;
      return invalid(path + ": has a token of " + shown(entry.caller.user) +
                     "; name another user, or take that line out first");
    }
    const auto whole = readPrivateFile(file);
    if (!whole) return whole.error();
    text = *whole;
    if (!text.empty() && text.back() != '\n') text += '\n';
  }
  return replacePrivateFile(file, text + lineOf(entry) + "\n", *folder);
}

Result<Caller> TokenTable::check(std::string_view token) const {
  const Entry* found = nullptr;
  for (const Entry& entry : entries_) {
    if (sameSecret(entry.token, token)) found = &entry;
  }
  if (found == nullptr) return denied("the token is not one of this cluster's");
  return found->caller;
}

const std::string* TokenTable::operatorToken() const {
  const auto found =
      std::ranges::find_if(entries_, [](const Entry& entry) { return entry.caller.role == Role::kOperate; });
  return found == entries_.end() ? nullptr : &found->token;
}

}  // namespace tarcil
