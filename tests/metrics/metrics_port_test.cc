#include "metrics/metrics_port.h"

#include <gtest/gtest.h>
#include <kj/async-io.h>

#include "rpc/errors.h"

namespace tarcil::metrics_port_test {

class MetricsPort : public testing::Test {
 protected:
  ~MetricsPort() noexcept override = default;

  std::string listen(kj::Maybe<std::string> text) {
    Listener listener = listenAt(net_.network, net_.io, "127.0.0.1:0").wait(io_.waitScope);
    serving_ = serveMetrics(kj::mv(listener.receiver), net_.timer, [text]() -> kj::Promise<std::string> {
                 KJ_IF_MAYBE (known, text) {
                   return std::string(*known);
                 }
                 return toException({ErrorCode::kInternal, "no text"});
               }).eagerlyEvaluate(nullptr);
    return listener.address;
  }

  // What the server says to this request, until it closes the connection.
  std::string exchange(const std::string& address, const std::string& request) {
    auto stream = connectTo(net_.network, net_.io, address).wait(io_.waitScope);
    stream->write(request.data(), request.size()).wait(io_.waitScope);
    stream->shutdownWrite();
    const kj::String answer = stream->readAllText().wait(io_.waitScope);
    return answer.cStr();
  }

  kj::AsyncIoContext io_ = kj::setupAsyncIo();
  Net net_{io_.provider->getNetwork(), *io_.lowLevelProvider, io_.provider->getTimer()};
  kj::Promise<void> serving_ = nullptr;
};

TEST_F(MetricsPort, ServesTheTextToManyAtATime) {
  const std::string large(1 << 20, 'x');
  const std::string address = listen(large);
  auto first = fetchMetrics(net_, address), second = fetchMetrics(net_, address);
  EXPECT_EQ(second.wait(io_.waitScope), large);
  EXPECT_EQ(first.wait(io_.waitScope), large);
}

TEST_F(MetricsPort, AnswersNothingButReadingOfMetrics) {
  const std::string address = listen(std::string("a 1\n"));
  const std::string headers = " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
  EXPECT_TRUE(exchange(address, "GET /metrics?x=y" + headers).ends_with("\r\n\r\na 1\n"));
  EXPECT_TRUE(exchange(address, "GET /" + headers).starts_with("HTTP/1.1 404"));
  EXPECT_TRUE(exchange(address, "DELETE /metrics" + headers).starts_with("HTTP/1.1 405"));
  exchange(address, "\x01\x02 nonsense\r\n\r\n");
  EXPECT_EQ(fetchMetrics(net_, address).wait(io_.waitScope), "a 1\n");
}

TEST_F(MetricsPort, DisconnectsThoseWhoAreThereLongestWhereMoreCome) {
  const std::string address = listen(std::string("a 1\n"));
  kj::Vector<kj::Own<kj::AsyncIoStream>> silent;
  for (size_t i = 0; i < 2 * kMaxReaders; ++i)
    silent.add(connectTo(net_.network, net_.io, address).wait(io_.waitScope));
  EXPECT_EQ(fetchMetrics(net_, address).wait(io_.waitScope), "a 1\n");
  for (size_t i = 0; i <= kMaxReaders; ++i) EXPECT_EQ(silent[i]->readAllText().wait(io_.waitScope), "");
  const std::string request = "GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
  kj::AsyncIoStream& last = *silent.back();
  last.write(request.data(), request.size()).wait(io_.waitScope);
  EXPECT_TRUE(std::string(last.readAllText().wait(io_.waitScope).cStr()).ends_with("\r\n\r\na 1\n"));
}

TEST_F(MetricsPort, SaysWhenWhatListensServesNoMetrics) {
  const std::string address = listen(nullptr);
  try {
    fetchMetrics(net_, address).wait(io_.waitScope);
    FAIL() << "there was no text";
  } catch (const kj::Exception& exception) {
    EXPECT_EQ(fromException(exception).code, ErrorCode::kInternal);
  }
}

TEST_F(MetricsPort, IsUnavailableWhereNobodyListens) {
  const std::string address = listen(nullptr);
  serving_ = nullptr;
  try {
    fetchMetrics(net_, address).wait(io_.waitScope);
    FAIL() << "somebody listens";
  } catch (const kj::Exception& exception) {
    EXPECT_EQ(fromException(exception).code, ErrorCode::kUnavailable);
  }
}

}  // namespace tarcil::metrics_port_test
