#include "image/fetch.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <system_error>

#include "core/base/units.h"
#include "image/layer_reader.h"
#include "image/oci_layout.h"
#include "image/tool.h"

namespace tarcil::image {
namespace {

namespace fs = std::filesystem;

// In the working directory.
constexpr const char* kLayout = "layout";
constexpr const char* kRoot = "rootfs";
constexpr const char* kTemporary = "tmp";
constexpr const char* kConfig = "config";

// Over these a task's own are mounted (shim/mounts.h).
constexpr const char* kMountPoints[] = {"proc", "sys", "dev", "run", "tmp"};

constexpr const char* kPolicy = "/etc/containers/policy.json";

// Files that wait to be unpacked; programs that copy images make few.
constexpr size_t kMaxFetchedFiles = 100'000;

Error failure(const std::string& what) {
  return {ErrorCode::kInternal, "cannot " + what + ": " + std::generic_category().message(errno)};
}

// What has been fetched so far.
Status checkFetched(const LayerBounds& bounds) {
  uint64_t bytes = 0;
  size_t files = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator it(".", error), end; it != end; it.increment(error)) {
    std::error_code gone;
    const uint64_t size = it->is_regular_file(gone) ? fs::file_size(it->path(), gone) : 0;
    if (!gone) bytes += size;
    if (++files > kMaxFetchedFiles) return invalid("has too many parts to be fetched");
    if (bytes > bounds.bytes) {
      return invalid("has more than " + formatSize(bounds.bytes) +
                     " to fetch, the most that an image may have here; make a smaller one");
    }
    if (error) break;
  }
  return {};
}

Status checkFree(uint64_t reserve) {
  struct statvfs disk {};
  if (::statvfs(".", &disk) != 0 || uint64_t{disk.f_bavail} * disk.f_frsize >= reserve) return {};
  return invalid(
      "leaves less than " + formatSize(reserve) +
      " on its server's disk (--disk-reserve of its monitor); make room there, or a smaller image");
}

bool isInsecure(const Request& request) {
  const std::string& name = request.reference.location;
  const std::string host = name.substr(0, name.find('/'));
  return !request.reference.isLocal() &&
         std::ranges::find(request.insecureRegistries, host) != request.insecureRegistries.end();
}

// Where the server's operator says which signatures images must have, that holds.
std::vector<std::string> skopeo(const Request& request, std::vector<std::string> arguments) {
  std::vector<std::string> words = {request.skopeo, "--tmpdir", fs::absolute(kTemporary)};
  if (::access(kPolicy, R_OK) != 0) words.emplace_back("--insecure-policy");
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

// The manifest or index that the reference leads to, as it is there.
Result<std::string> rawManifest(const Request& request) {
  std::vector<std::string> arguments = {"inspect", "--raw"};
  if (isInsecure(request)) arguments.emplace_back("--tls-verify=false");
  arguments.push_back(sourceOf(request.reference, request.digest));
  return runTool(skopeo(request, arguments), kMaxJsonBytes,
                 [&request]() { return checkFetched(request.bounds); });
}

Status copy(const Request& request, const std::string& digest) {
  std::vector<std::string> arguments = {"copy", "--quiet", "--dest-oci-accept-uncompressed-layers"};
  if (isInsecure(request)) arguments.emplace_back("--src-tls-verify=false");
  arguments.push_back(sourceOf(request.reference, digest));
  arguments.push_back(std::string("oci:") + kLayout + ":image");
  const auto copied = runTool(skopeo(request, arguments), kMaxJsonBytes, [&request]() {
    Status free = checkFree(request.reserve);
    return free.ok() ? checkFetched(request.bounds) : free;
  });
  return copied ? Status() : Status(copied.error());
}

// A layout and an archive are copied by tag, which may lead elsewhere by then. What a registry sends is held
// against the digest by who copies it, and may be written anew as the layout has it.
Status checkSame(const Request& request, const Blob& manifest, const std::string& digest,
                 const std::string& raw) {
  if (!request.reference.isLocal() || manifest.digest == digest) return {};
  const auto listed = manifestsListedIn(raw);
  if (std::ranges::find(listed, manifest.digest) != listed.end()) return {};
  return invalid("changed while it was fetched: it was " + digest + " and is " + manifest.digest);
}

struct Contents {
  ImageConfig config;
  uint64_t bytes = 0;
};

// Of what was copied: whether it is whole, and may be unpacked.
Result<Contents> verify(const Request& request, const std::string& digest, const std::string& raw) {
  const auto index = readJsonFile(std::string(kLayout) + "/index.json");
  if (!index) return index.error();
  const auto named = manifestIn(*index);
  if (!named) return named.error();
  if (Status same = checkSame(request, *named, digest, raw); !same.ok()) return same.error();
  if (Status whole = verifyBlob(kLayout, *named); !whole.ok()) return whole.error();
  const auto text = readJsonFile(blobPath(kLayout, *named));
  if (!text) return text.error();
  const auto manifest = parseManifest(*text, request.bounds.bytes);
  if (!manifest) return manifest.error();
  if (Status whole = verifyBlob(kLayout, manifest->config); !whole.ok()) return whole.error();
  LayerRules rules(request.bounds);
  for (const Blob& layer : manifest->layers) {
    if (Status whole = verifyBlob(kLayout, layer); !whole.ok()) return whole.error();
    if (Status good = checkLayer(blobPath(kLayout, layer), rules); !good.ok())
      return invalid("layer " + layer.digest + " " + good.error().message);
  }
  const auto configText = readJsonFile(blobPath(kLayout, manifest->config));
  if (!configText) return configText.error();
  auto config = parseConfig(*configText);
  if (!config) return config.error();
  return Contents{std::move(*config), rules.bytes()};
}

int openWithin(int root, const std::string& path) {
  open_how how{};
  how.flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
  how.resolve = RESOLVE_IN_ROOT;
  return static_cast<int>(::syscall(SYS_openat2, root, path.c_str(), &how, sizeof how));
}

// With the folders above it; symbolic links on the way are followed as a task follows them. What is there
// already stays, whatever it is.
Status makeFolder(int root, const fs::path& path) {
  fs::path above = ".";
  for (const fs::path& part : path) {
    if (part.empty() || part == "/") continue;
    const int folder = openWithin(root, above);
    const bool made = folder >= 0 && (::mkdirat(folder, part.c_str(), 0755) == 0 || errno == EEXIST);
    const std::string why = std::generic_category().message(errno);
    if (folder >= 0) ::close(folder);
    if (!made) return invalid("has no folder '" + path.string() + "', and none can be made in it: " + why);
    above /= part;
  }
  return {};
}

Status unpack(const Request& request, const ImageConfig& config) {
  const auto unpacked = runTool(
      {request.umoci, "raw", "unpack", "--rootless", "--image", std::string(kLayout) + ":image", kRoot},
      kMaxJsonBytes, [&request]() { return checkFree(request.reserve); });
  if (!unpacked) return unpacked.error();
  const int root = ::open(kRoot, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (root < 0) return failure("open what was unpacked");
  // Tasks of all users enter it; what their rights are in it is for the image to say.
  Status made = ::fchmod(root, 0755) == 0 ? Status() : failure("open what was unpacked to tasks");
  for (const char* point : kMountPoints) {
    if (made.ok()) made = makeFolder(root, point);
  }
  if (made.ok() && !config.workdir.empty()) made = makeFolder(root, config.workdir);
  ::close(root);
  return made;
}

// Nothing else stays, and all of it is on the disk.
Status settle(const ImageConfig& config) {
  std::ofstream file(kConfig, std::ios::binary);
  file << encodeImageConfig(config);
  file.close();
  if (!file) return failure("write the image's configuration");
  std::error_code error;
  fs::remove_all(kLayout, error);
  if (!error) fs::remove_all(kTemporary, error);
  if (error) return Error{ErrorCode::kInternal, "cannot remove what was fetched: " + error.message()};
  const int folder = ::open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool synced = folder >= 0 && ::syncfs(folder) == 0;
  if (folder >= 0) ::close(folder);
  return synced ? Status() : failure("write the image to the disk");
}

}  // namespace

Result<Fetched> fetch(const Request& request) {
  if (::mkdir(kTemporary, 0700) != 0) return failure("make a folder");
  const auto raw = rawManifest(request);
  if (!raw) return raw.error();
  Fetched fetched{digestOf(*raw), false, 0};
  if (!request.digest.empty() && fetched.digest != request.digest) {
    return invalid("is " + fetched.digest + " on its server, and the job's image is " + request.digest +
                   "; have that one there, or submit the job anew");
  }
  if (request.have.contains(fetched.digest)) return fetched;
  if (Status copied = copy(request, fetched.digest); !copied.ok()) return copied.error();
  const auto contents = verify(request, fetched.digest, *raw);
  if (!contents) return contents.error();
  if (Status unpacked = unpack(request, contents->config); !unpacked.ok()) return unpacked.error();
  if (Status settled = settle(contents->config); !settled.ok()) return settled.error();
  fetched.isNew = true;
  fetched.bytes = contents->bytes;
  return fetched;
}

}  // namespace tarcil::image
