// A small HTTP client for tests: says what it is told to, also what nobody should say, and waits for the
// answer.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "formats/json.h"

namespace tarcil {

struct HttpAnswer {
  int status = 0;                              // 0: the connection ended without an answer
  std::map<std::string, std::string> headers;  // names in small letters
  std::string body;

  // Fails the test where the body is no JSON.
  Json json() const;
};

using HttpHeaders = std::map<std::string, std::string>;

// One connection to HOST:PORT, an IPv4 address. Whatever does not come within a minute ends the test.
class HttpConnection final {
 public:
  explicit HttpConnection(const std::string& address);
  ~HttpConnection();
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  void send(std::string_view bytes) const;
  // Host is added where it is not given.
  void sendRequest(const std::string& method, const std::string& target, const HttpHeaders& headers,
                   const std::string& body) const;
  // The whole of one answer; the connection goes on.
  HttpAnswer answer();
  // What comes, until `text` is there; all that has come. Fails the test where the connection ends before.
  std::string until(std::string_view text);
  // Whether the peer has ended the connection, after what it has said.
  bool hasEnded();

 private:
  bool readMore();

  const std::string address_;
  int socket_ = -1;
  std::string received_;
};

HttpAnswer requestHttp(const std::string& address, const std::string& method, const std::string& target,
                       const HttpHeaders& headers = {}, const std::string& body = "");

}  // namespace tarcil
