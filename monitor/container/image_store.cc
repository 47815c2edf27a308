#include "monitor/container/image_store.h"

#include <fcntl.h>
#include <kj/debug.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "core/base/units.h"
#include "core/base/whole_number.h"
#include "env/failpoint.h"
#include "monitor/container/image_process.h"
#include "monitor/container/own_files.h"
#include "monitor/container/root_policy.h"

namespace tarcil {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kAlgorithm = "sha256:", kFolder = "sha256-";

// As much as an image's configuration may hold, and a letter for each of its texts.
constexpr uint64_t kMaxConfigBytes = 8u << 20;

// A folder's name of an image; empty for other folders.
std::string digestInName(const std::string& folder) {
  if (!folder.starts_with(kFolder)) return {};
  std::string digest = std::string(kAlgorithm) + folder.substr(kFolder.size());
  return isImageDigest(digest) ? digest : std::string();
}

Error cannot(const std::string& what, const std::string& path) {
  return {ErrorCode::kInternal,
          "cannot " + what + " '" + path + "': " + std::generic_category().message(errno)};
}

Error ofImage(const std::string& image, const Error& error) {
  return {error.code, "image " + image + ": " + error.message};
}

void syncFolder(const std::string& path) {
  const int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  ::fsync(folder);
  ::close(folder);
}

}  // namespace

ImageStore::ImageStore(ImageOptions options, Place place, kj::UnixEventPort& port, const Clock& clock,
                       InUse inUse)
    : options_(std::move(options)),
      place_(std::move(place)),
      port_(port),
      clock_(clock),
      inUse_(std::move(inUse)) {
  std::error_code error;
  fs::create_directories(place_.folder, error);
  ::chmod(place_.folder.c_str(), 0700);
  for (const auto& entry : fs::directory_iterator(place_.folder, error)) {
    if (digestInName(entry.path().filename()).empty()) sweeper_.remove(entry.path());
  }
  // Names that a sweep of what a predecessor left could still be at are not used again.
  made_ = static_cast<uint64_t>(clock_.now().wall.time_since_epoch().count());
}

std::string ImageStore::folderOf(const std::string& digest) const {
  return place_.folder + "/" + std::string(kFolder) + digest.substr(kAlgorithm.size());
}

bool ImageStore::has(const std::string& digest) const {
  return isImageDigest(digest) && ::access(folderOf(digest).c_str(), F_OK) == 0;
}

std::vector<KeptImage> ImageStore::kept() const {
  std::vector<KeptImage> images;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(place_.folder, error)) {
    const std::string digest = digestInName(entry.path().filename());
    if (digest.empty()) continue;
    const auto bytes = readOwnFile(entry.path().string() + "/bytes");
    images.push_back(
        {digest, bytes ? wholeNumberIn<uint64_t>(*bytes).value_or(0) : 0, changedAt(entry.path())});
  }
  return images;
}

Result<ImageStore::Image> ImageStore::open(const std::string& digest) const {
  const std::string folder = folderOf(digest);
  const std::string file = folder + "/config";
  std::error_code error;
  const bool fits = fs::file_size(file, error) <= kMaxConfigBytes && !error;
  const auto bytes = fits ? readOwnFile(file) : std::nullopt;
  if (!bytes) return cannot("read", file);
  auto config = decodeImageConfig(*bytes);
  if (!config) return Error{ErrorCode::kInternal, file + " " + config.error().message};
  return Image{digest, folder + "/rootfs", std::move(*config)};
}

void ImageStore::touch(const std::string& digest) const {
  if (has(digest)) ::utimensat(AT_FDCWD, folderOf(digest).c_str(), nullptr, 0);
}

void ImageStore::throwAway(const std::string& path) {
  const std::string old = place_.folder + "/old-" + std::to_string(++made_);
  // What is not there needs no removal.
  if (::rename(path.c_str(), old.c_str()) == 0) sweeper_.remove(old);
}

void ImageStore::removeUnused() {
  for (const std::string& digest : imagesToRemove(kept(), inUse_(), options_.keep, clock_.now().wall))
    throwAway(folderOf(digest));
}

// A layout is a folder and may be one of those that tasks may have as their root; an archive is in one.
Result<ImageReference> ImageStore::allowed(const ImageReference& reference) const {
  if (!reference.isLocal()) return reference;
  ImageReference real = reference;
  const fs::path path = reference.location;
  const bool isFolder = reference.transport == ImageReference::Transport::kOci;
  std::error_code error;
  const fs::path target = isFolder ? path : fs::canonical(path, error);
  if (error) return notFound("'" + path.string() + "' cannot be found on this server: " + error.message());
  const auto folder = allowedRoot(isFolder ? target : target.parent_path(), options_.allowedRoots);
  if (!folder) return folder.error();
  real.location = isFolder ? *folder : *folder + "/" + target.filename().string();
  if (real.location.find(':') != std::string::npos)
    return invalid("'" + real.location + "' has a colon in it, and what follows would be its tag; rename it");
  return real;
}

kj::Promise<Result<ImageStore::Image>> ImageStore::find(const std::string& user, const std::string& image,
                                                        const std::string& digest) {
  const auto reference = parseImage(image);
  if (!reference) return Result<Image>(invalid("container.image: " + reference.error().message));
  Wanted wanted{*reference, digest.empty() ? reference->digest : digest};
  if (has(wanted.digest)) {
    auto found = open(wanted.digest);
    return found ? kj::mv(found) : Result<Image>(ofImage(image, found.error()));
  }
  if (options_.skopeo.empty() || options_.umoci.empty()) {
    return Result<Image>(notFound(
        "container.image takes skopeo and umoci, which this server does not have: install them there "
        "(Debian packages skopeo and umoci), or place the job with 'images = true'"));
  }
  const auto real = allowed(*reference);
  if (!real) return Result<Image>(ofImage(image, real.error()));
  wanted.reference = *real;
  const std::string key = image + " " + wanted.digest;
  std::erase_if(underWay_, [](const auto& entry) { return *entry.second.isOver; });
  if (const auto found = underWay_.find(key); found != underWay_.end())
    return found->second.outcome.addBranch();
  auto isOver = std::make_shared<bool>(false);
  auto fetched = fetch(user, wanted).then([image, isOver](Result<Image>&& outcome) -> Result<Image> {
    *isOver = true;
    if (!outcome) return ofImage(image, outcome.error());
    return kj::mv(outcome);
  });
  Fetching fetching{fetched.fork(), isOver};
  auto branch = fetching.outcome.addBranch();
  underWay_.emplace(key, kj::mv(fetching));
  return branch;
}

kj::Promise<void> ImageStore::turnOf(const std::string& user) {
  if (fetching_ < options_.atOnce) {
    ++fetching_;
    return kj::READY_NOW;
  }
  auto turn = kj::newPromiseAndFulfiller<void>();
  waiting_.push(user, kj::mv(turn.fulfiller));
  return kj::mv(turn.promise);
}

// To the next who still waits.
void ImageStore::giveTurn() {
  while (auto next = waiting_.pop()) {
    if (!next->item->isWaiting()) continue;
    next->item->fulfill();
    return;
  }
  --fetching_;
}

kj::Promise<Result<ImageStore::Image>> ImageStore::fetch(const std::string& user, const Wanted& wanted) {
  return turnOf(user).then([this, user, wanted] {
    const MonotonicTime began = clock_.now().steady;
    return fetchNow(wanted).attach(kj::defer([this, user, began] {
      waiting_.charge(user, clock_.now().steady - began);
      giveTurn();
    }));
  });
}

kj::Promise<Result<ImageStore::Image>> ImageStore::fetchNow(const Wanted& wanted) {
  removeUnused();
  uint64_t bytes = 0;
  std::set<std::string> have;
  for (const KeptImage& image : kept()) {
    bytes += image.bytes;
    have.insert(image.digest);
  }
  if (bytes >= options_.keep.bytes && !have.contains(wanted.digest)) {
    return Result<Image>(Error{ErrorCode::kUnavailable, "there is no room for it: images in use take " +
                                                            formatSize(bytes) + " of " +
                                                            formatSize(options_.keep.bytes) +
                                                            " (--image-disk of its server's monitor)"});
  }
  const std::string stage = place_.folder + "/new-" + std::to_string(++made_);
  if (::mkdir(stage.c_str(), 0700) != 0 || ::chown(stage.c_str(), options_.uid, options_.gid) != 0)
    return Result<Image>(cannot("make the folder", stage));
  image::Arguments arguments;
  arguments.sandbox = {stage,        place_.point,       options_.uid,
                       options_.gid, options_.mostBytes, static_cast<uint32_t>(::getpid())};
  arguments.request.reference = wanted.reference;
  arguments.request.digest = wanted.digest;
  arguments.request.have = std::move(have);
  arguments.request.skopeo = options_.skopeo;
  arguments.request.umoci = options_.umoci;
  arguments.request.insecureRegistries = options_.insecureRegistries;
  arguments.request.bounds = {options_.mostBytes, options_.mostEntries};
  arguments.request.reserve = place_.reserve;
  auto process = ImageProcess::start(options_.program, arguments, port_);
  if (!process) {
    throwAway(stage);
    return Result<Image>(process.error());
  }
  failpoint("monitor.image_fetching");
  auto outcome = (*process)->outcome(options_.timeout);
  return outcome
      .then([this, stage](Result<image::Fetched>&& fetched) -> Result<Image> {
        if (!fetched) return fetched.error();
        return take(stage, *fetched);
      })
      .attach(kj::mv(*process))
      .attach(kj::defer([this, stage] { throwAway(stage); }));
}

// Nobody is left who could write into the stage.
Result<ImageStore::Image> ImageStore::take(const std::string& stage, const image::Fetched& fetched) {
  const std::string folder = folderOf(fetched.digest);
  if (fetched.isNew && !has(fetched.digest)) {
    const std::string bytes = stage + "/bytes";
    const bool owned = ::chown(stage.c_str(), 0, 0) == 0 && (::unlink(bytes.c_str()) == 0 || errno == ENOENT);
    if (!owned || !writeOwnFile(bytes, std::to_string(fetched.bytes))) return cannot("take over", stage);
    failpoint("monitor.image_fetched");
    if (::rename(stage.c_str(), folder.c_str()) != 0) return cannot("make the folder", folder);
    syncFolder(place_.folder);
  }
  if (!has(fetched.digest)) {
    return Error{ErrorCode::kUnavailable, "was removed while it was looked for"};
  }
  touch(fetched.digest);
  return open(fetched.digest);
}

}  // namespace tarcil
