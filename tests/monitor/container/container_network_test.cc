// Tasks with a network of their own.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <net/if.h>
#include <sys/socket.h>

#include <thread>

#include "tests/monitor/container/container_fixture.h"
#include "tests/monitor/container/root_image.h"

namespace tarcil::container_network_test {

using testing::HasSubstr;

class ContainerNetworkTest : public testing::Test {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_CONTAINERS();
    containers_.emplace(optionsIn(folder_.path()));
  }
  Containers& containers() { return *containers_; }

  LaunchSpec within(Container::Network network, const std::string& text) {
    LaunchSpec spec = taskOf(++last_, {"bash", "-c", text});
    spec.container.network = network;
    return spec;
  }
  std::string outputOf(const LaunchSpec& spec) {
    const TaskEnd end = containers().run(spec);
    EXPECT_EQ(end.cause, EndCause::kExited) << end.problem;
    return containers().out(spec.allocation) + containers().err(spec.allocation);
  }

 private:
  TemporaryFolder folder_;
  std::optional<Containers> containers_;
  AllocationId last_ = 0;
};

// Serves one connection on any address of this machine: says `greeting`.
class Greeter {
 public:
  explicit Greeter(const std::string& greeting) {
    sockaddr_in any{};
    any.sin_family = AF_INET;
    EXPECT_EQ(::bind(socket_, reinterpret_cast<sockaddr*>(&any), sizeof any), 0);
    ::listen(socket_, 1);
    thread_ = std::thread([this, greeting] {
      const int connection = ::accept(socket_, nullptr, nullptr);
      if (connection < 0) return;
      ::send(connection, greeting.data(), greeting.size(), MSG_NOSIGNAL);
      ::close(connection);
    });
  }
  ~Greeter() {
    ::shutdown(socket_, SHUT_RDWR);
    thread_.join();
    ::close(socket_);
  }
  std::string port() const {
    sockaddr_in address{};
    socklen_t size = sizeof address;
    ::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size);
    return std::to_string(ntohs(address.sin_port));
  }

 private:
  const int socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  std::thread thread_;
};

// Of the default route; written by the kernel in the order of the network, as a number of the machine.
constexpr const char* kGateway =
    "read -r _ _ hex _ < <(grep -m1 -P '\\t00000000\\t' /proc/net/route); "
    "gateway=$((16#${hex:6:2})).$((16#${hex:4:2})).$((16#${hex:2:2})).$((16#${hex:0:2})); ";

TEST_F(ContainerNetworkTest, WithoutANetworkThereIsLoopbackAndNothingElse) {
  const Greeter greeter("hello");
  const std::string interfaces = "tail -n +3 /proc/net/dev | cut -d: -f1; ";
  EXPECT_EQ(outputOf(within(Container::Network::kNone,
                            interfaces +
                                "ping -c1 127.0.0.1 >/dev/null 2>&1; cat /sys/class/net/lo/operstate; "
                                "(exec 3<>/dev/tcp/127.0.0.1/" +
                                greeter.port() + ") 2>/dev/null; echo $?")),
            "    lo\nunknown\n1\n");
}

TEST_F(ContainerNetworkTest, LoopbackOfATaskWorks) {
  EXPECT_EQ(
      outputOf(within(Container::Network::kNone,
                      "perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new(Listen => 1, LocalAddr => "
                      "\"127.0.0.1\") or die; $c = IO::Socket::INET->new(PeerAddr => \"127.0.0.1\", PeerPort "
                      "=> $s->sockport) or die; print \"connected\\n\"'")),
      "connected\n");
}

TEST_F(ContainerNetworkTest, ANetworkOfItsOwnReachesTheHost) {
  const Greeter greeter("hello\n");
  EXPECT_EQ(outputOf(within(Container::Network::kOwn, std::string(kGateway) + "exec 3<>/dev/tcp/$gateway/" +
                                                          greeter.port() + "; cat <&3")),
            "hello\n");
}

TEST_F(ContainerNetworkTest, ItsInterfacesGoWithTheTask) {
  containers().start(within(Container::Network::kOwn,
                            std::string(kGateway) + "echo $gateway ready; read -r never < <(sleep 1000)"));
  containers().untilOutput(1, "ready");
  // The host's end is named by its number, which chose the net.
  const std::string out = containers().out(1);
  const uint32_t gateway = ntohl(::inet_addr(out.substr(0, out.find(' ')).c_str()));
  const uint32_t interface = (gateway - (100u << 24 | 64u << 16)) / 4;
  char name[IF_NAMESIZE] = {};
  ASSERT_NE(::if_indextoname(interface, name), nullptr) << out;
  EXPECT_EQ(std::string(name).find("tarcil"), 0u);
  containers().executor().signal(1, SIGKILL);
  containers().endOf(1);
  // The kernel takes a namespace apart when it has time to.
  while (::if_indextoname(interface, name) != nullptr) ::usleep(1000);
}

TEST_F(ContainerNetworkTest, EachEndSendsNoFasterThanTheLimit) {
  if (::access("/usr/sbin/tc", X_OK) != 0 && ::access("/sbin/tc", X_OK) != 0)
    GTEST_SKIP() << "no tc to look with";
  LaunchSpec spec = within(Container::Network::kOwn,
                           "PATH=$PATH:/sbin:/usr/sbin; tc qdisc show dev eth0; tc qdisc del "
                           "dev eth0 root 2>&1; echo ready; read -r never < <(sleep 1000)");
  spec.limits.networkBytesPerSecond = 1'000'000;
  containers().start(spec);
  containers().untilOutput(1, "ready");
  const std::string out = containers().out(1);
  EXPECT_THAT(out, HasSubstr("qdisc tbf"));
  EXPECT_THAT(out, HasSubstr("rate 8Mbit"));
  EXPECT_THAT(out, HasSubstr("Operation not permitted"));
  const std::string host = printedBy("tc qdisc show");
  EXPECT_THAT(host, HasSubstr("dev tarcil"));
  EXPECT_THAT(host, HasSubstr("rate 8Mbit"));
  containers().executor().signal(1, SIGKILL);
  containers().endOf(1);
}

TEST_F(ContainerNetworkTest, TheHostsNetworkIsTheRule) {
  EXPECT_EQ(outputOf(within(Container::Network::kHost, "readlink /proc/self/ns/net")),
            std::filesystem::read_symlink("/proc/self/ns/net").string() + "\n");
}

}  // namespace tarcil::container_network_test
