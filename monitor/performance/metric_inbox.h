// What one task reports of its performance: a Unix datagram socket and a file in its private folder.
//
// The folder is the task's: whatever it puts in place of socket and file, symbolic links and pipes among it,
// is not followed, not waited for, and harms only its own metric.
#pragma once

#include <kj/io.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/base/result.h"

namespace tarcil {

// Names in the private folder.
inline constexpr const char* kMetricSocketName = ".tarcil-metric.socket";
inline constexpr const char* kMetricFileName = ".tarcil-metric";

class MetricInbox final {
 public:
  // Makes the socket in `folder`, in place of one that a predecessor left; `scratch` is a folder of the
  // same file system that only root can write to. Any user may send to it: who gets to it is decided by
  // the folder.
  static Result<std::unique_ptr<MetricInbox>> open(const std::string& folder, const std::string& scratch);

  // The latest that the task has said since the last call; nullopt: nothing. Of more than 8 datagrams since
  // then the rest is thrown away; the kernel itself keeps no more than net.unix.max_dgram_qlen, and lets a
  // sender wait meanwhile.
  std::optional<double> take();

  // Datagrams that were thrown away.
  uint64_t dropped() const { return dropped_; }
  // Why something that was said could not be read; the first time only, then nullopt.
  std::optional<std::string> problem();

 private:
  MetricInbox(kj::AutoCloseFd folder, kj::AutoCloseFd socket);

  std::optional<double> takeDatagrams();
  std::optional<double> takeFile();
  std::optional<double> read(const char* from, std::string_view text);

  kj::AutoCloseFd folder_;
  kj::AutoCloseFd socket_;
  int64_t fileChanged_ = 0;  // when the file that was read last was written, in nanoseconds
  uint64_t dropped_ = 0;
  bool named_ = false;  // a problem was
  std::optional<std::string> problem_;
};

}  // namespace tarcil
