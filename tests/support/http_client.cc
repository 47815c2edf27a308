#include "tests/support/http_client.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <stdexcept>

namespace tarcil {
namespace {

constexpr timeval kSocketPatience{60, 0};

std::string inSmallLetters(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return text;
}

}  // namespace

Json HttpAnswer::json() const {
  Json json = Json::parse(body, nullptr, /*allow_exceptions=*/false);
  EXPECT_FALSE(json.is_discarded()) << status << ": " << body;
  return json;
}

HttpConnection::HttpConnection(const std::string& address) : address_(address) {
  const size_t colon = address.rfind(':');
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<uint16_t>(std::atoi(address.substr(colon + 1).c_str())));
  ::inet_pton(AF_INET, address.substr(0, colon).c_str(), &to.sin_addr);
  socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &kSocketPatience, sizeof kSocketPatience);
  ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &kSocketPatience, sizeof kSocketPatience);
  if (::connect(socket_, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0)
    throw std::runtime_error("nobody listens at " + address);
}

HttpConnection::~HttpConnection() {
  ::close(socket_);
}

void HttpConnection::send(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;  // the peer does not listen any more: what it answered tells
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
}

void HttpConnection::sendRequest(const std::string& method, const std::string& target,
                                 const HttpHeaders& headers, const std::string& body) const {
  std::string request = method + " " + target + " HTTP/1.1\r\n";
  if (!headers.contains("Host")) request += "Host: " + address_ + "\r\n";
  for (const auto& [name, value] : headers) request += name + ": " + value + "\r\n";
  if (method == "POST" || !body.empty()) request += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  send(request + "\r\n" + body);
}

bool HttpConnection::readMore() {
  char buffer[16384];
  const ssize_t got = ::recv(socket_, buffer, sizeof buffer, 0);
  EXPECT_FALSE(got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) << "nothing came for a minute";
  if (got <= 0) return false;
  received_.append(buffer, static_cast<size_t>(got));
  return true;
}

HttpAnswer HttpConnection::answer() {
  HttpAnswer answer;
  size_t end;
  while ((end = received_.find("\r\n\r\n")) == std::string::npos) {
    if (!readMore()) return answer;
  }
  const std::string head = received_.substr(0, end + 2);
  received_.erase(0, end + 4);
  answer.status = std::atoi(head.substr(head.find(' ') + 1).c_str());
  for (size_t start = head.find("\r\n") + 2; start < head.size();) {
    const size_t line = head.find("\r\n", start), colon = head.find(": ", start);
    answer.headers[inSmallLetters(head.substr(start, colon - start))] =
        head.substr(colon + 2, line - colon - 2);
    start = line + 2;
  }
  if (answer.headers["transfer-encoding"] == "chunked") {
    while (true) {
      while ((end = received_.find("\r\n")) == std::string::npos && readMore()) {
      }
      const size_t size = std::strtoul(received_.c_str(), nullptr, 16);
      while (received_.size() < end + 2 + size + 2 && readMore()) {
      }
      answer.body += received_.substr(end + 2, size);
      received_.erase(0, end + 2 + size + 2);
      if (size == 0) return answer;
    }
  }
  const size_t size = std::strtoul(answer.headers["content-length"].c_str(), nullptr, 10);
  while (received_.size() < size && readMore()) {
  }
  answer.body = received_.substr(0, size);
  received_.erase(0, size);
  return answer;
}

std::string HttpConnection::until(std::string_view text) {
  size_t found;
  while ((found = received_.find(text)) == std::string::npos) {
    if (!readMore()) {
      ADD_FAILURE() << "the connection ended before '" << text << "' came: " << received_;
      return received_;
    }
  }
  std::string all = received_.substr(0, found + text.size());
  received_.erase(0, found + text.size());
  return all;
}

bool HttpConnection::hasEnded() {
  while (readMore()) {
  }
  return true;
}

HttpAnswer requestHttp(const std::string& address, const std::string& method, const std::string& target,
                       const HttpHeaders& headers, const std::string& body) {
  HttpConnection connection(address);
  connection.sendRequest(method, target, headers, body);
  return connection.answer();
}

}  // namespace tarcil
