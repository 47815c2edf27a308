// Images on a server: each fetched once, and shared read-only by all tasks that run in it.
//
//   <data>/images/sha256-<digest>/   of an image's manifest; open to root only
//     rootfs/   its files, all of the user who fetches images
//     config    what it says of how to run a program (core/model/image_config.h)
//     bytes     of its files
//   <data>/images/new-<number>/      one that is being fetched
//   <data>/images/old-<number>/      one that is on its way out
//
// A folder of the first kind is whole: it is renamed to that name when all of it is on the disk and no
// process is left that could write into it. All others are removed at a start. When it was changed last is
// when a task began or ended in it last.
#pragma once

#include <kj/async-unix.h>
#include <kj/async.h>
#include <sys/types.h>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/image.h"
#include "core/model/image_config.h"
#include "env/clock.h"
#include "monitor/container/image_options.h"
#include "monitor/container/sweeper.h"
#include "monitor/logic/images/image_removal.h"
#include "rpc/fair_queue.h"

namespace tarcil {

namespace image {
struct Fetched;
}  // namespace image

// Lives on the thread of its event port. Fetches run in processes of their own, which end with it.
class ImageStore final {
 public:
  struct Image {
    std::string digest;
    std::string root;  // its files
    ImageConfig config;
  };
  struct Place {
    std::string folder;    // <data>/images
    std::string point;     // a folder on which those who fetch see theirs
    uint64_t reserve = 0;  // bytes to leave free on its disk
  };
  // Digests of images that tasks have, or are about to have.
  using InUse = std::function<std::set<std::string>()>;

  // Makes the folder. `port` and `clock` outlive it.
  ImageStore(ImageOptions options, Place place, kj::UnixEventPort& port, const Clock& clock, InUse inUse);

  // The image that the job of this user names, and which, where `digest` is not empty, has to be that one; at
  // once where it is there, else when it was fetched. Those who ask for the same wait for one fetch. The
  // error names the image. kInternal and kUnavailable: the server's fault; all others the job's.
  kj::Promise<Result<Image>> find(const std::string& user, const std::string& image,
                                  const std::string& digest);

  // Of an image that find() has given, and that is in use since.
  Result<Image> open(const std::string& digest) const;

  // A task begins or ends in it.
  void touch(const std::string& digest) const;

  // Removes what is not to stay (image_removal.h).
  void removeUnused();

 private:
  struct Wanted {
    ImageReference reference;
    std::string digest;  // that it has to be; empty: any
  };

  struct Fetching {
    kj::ForkedPromise<Result<Image>> outcome;
    std::shared_ptr<bool> isOver;
  };

  std::string folderOf(const std::string& digest) const;
  bool has(const std::string& digest) const;
  std::vector<KeptImage> kept() const;
  Result<ImageReference> allowed(const ImageReference& reference) const;
  kj::Promise<void> turnOf(const std::string& user);
  void giveTurn();
  kj::Promise<Result<Image>> fetch(const std::string& user, const Wanted& wanted);
  kj::Promise<Result<Image>> fetchNow(const Wanted& wanted);
  Result<Image> take(const std::string& stage, const image::Fetched& fetched);
  void throwAway(const std::string& path);

  const ImageOptions options_;
  const Place place_;
  kj::UnixEventPort& port_;
  const Clock& clock_;
  const InUse inUse_;
  uint64_t made_ = 0;  // folders, for names
  uint32_t fetching_ = 0;
  FairQueue<kj::Own<kj::PromiseFulfiller<void>>> waiting_;  // for their turn, by user
  Sweeper sweeper_;
  std::map<std::string, Fetching> underWay_;  // by image and digest; last: what it ends uses all of the above
};

}  // namespace tarcil
