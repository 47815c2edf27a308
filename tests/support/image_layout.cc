#include "tests/support/image_layout.h"

#include <archive.h>
#include <archive_entry.h>
#include <sys/sysmacros.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <utility>

#include "image/oci_layout.h"

namespace tarcil {
namespace {

namespace fs = std::filesystem;

la_ssize_t append(archive*, void* text, const void* bytes, size_t count) {
  static_cast<std::string*>(text)->append(static_cast<const char*>(bytes), count);
  return static_cast<la_ssize_t>(count);
}

void setKind(archive_entry* entry, const LayerFile& file) {
  const auto type = [entry](mode_t mode) { ::archive_entry_set_filetype(entry, mode); };
  switch (file.kind) {
    case 'd':
      return type(AE_IFDIR);
    case 's':
      type(AE_IFLNK);
      return ::archive_entry_set_symlink(entry, file.content.c_str());
    case 'h':
      return ::archive_entry_set_hardlink(entry, file.content.c_str());
    case 'c':
      type(AE_IFCHR);
      return ::archive_entry_set_rdev(entry, makedev(1, 3));
    case 'p':
      return type(AE_IFIFO);
    default:
      type(AE_IFREG);
      ::archive_entry_set_size(entry,
                               static_cast<la_int64_t>(std::max<uint64_t>(file.bytes, file.content.size())));
  }
}

}  // namespace

std::string layerOf(const std::vector<LayerFile>& files) {
  std::string text;
  archive* writer = ::archive_write_new();
  ::archive_write_set_format_pax_restricted(writer);
  ::archive_write_open(writer, &text, nullptr, append, nullptr);
  for (const LayerFile& file : files) {
    archive_entry* entry = ::archive_entry_new();
    ::archive_entry_set_pathname(entry, file.path.c_str());
    ::archive_entry_set_perm(entry, file.mode);
    setKind(entry, file);
    ::archive_write_header(writer, entry);
    if (file.kind == 'f') ::archive_write_data(writer, file.content.data(), file.content.size());
    ::archive_entry_free(entry);
  }
  ::archive_write_close(writer);
  ::archive_write_free(writer);
  return text;
}

ImageLayout::ImageLayout(std::string folder) : folder_(std::move(folder)) {
  fs::create_directories(folder_ + "/blobs/sha256");
  std::ofstream(folder_ + "/oci-layout") << R"({"imageLayoutVersion":"1.0.0"})";
}

std::string ImageLayout::blob(const std::string& digest) const {
  return image::blobPath(folder_, {digest, 0});
}

std::string ImageLayout::write(const std::string& bytes) const {
  std::string digest = image::digestOf(bytes);
  std::ofstream(blob(digest), std::ios::binary) << bytes;
  return digest;
}

void ImageLayout::add(const std::string& layer) {
  layers_.push_back(write(layer));
  sizes_.push_back(layer.size());
}

std::string ImageLayout::tag(const std::string& name) {
  Json layers = Json::array();
  for (size_t i = 0; i < layers_.size(); ++i) {
    layers.push_back({{"mediaType", "application/vnd.oci.image.layer.v1.tar"},
                      {"digest", layers_[i]},
                      {"size", sizes_[i]}});
  }
  // Not compressed: the digest of what is in them is their own.
  const std::string about = Json{{"architecture", "amd64"},
                                 {"os", "linux"},
                                 {"config", config},
                                 {"rootfs", {{"type", "layers"}, {"diff_ids", layers_}}}}
                                .dump();
  const std::string manifest = Json{
      {"schemaVersion", 2},
      {"mediaType", "application/vnd.oci.image.manifest.v1+json"},
      {"config",
       {{"mediaType", "application/vnd.oci.image.config.v1+json"},
        {"digest", write(about)},
        {"size", about.size()}}},
      {"layers", layers}}.dump();
  std::string digest = write(manifest);
  Json kept = Json::array();
  for (const Json& one : manifests_) {
    if (one["annotations"]["org.opencontainers.image.ref.name"] != name) kept.push_back(one);
  }
  kept.push_back({{"mediaType", "application/vnd.oci.image.manifest.v1+json"},
                  {"digest", digest},
                  {"size", manifest.size()},
                  {"annotations", {{"org.opencontainers.image.ref.name", name}}}});
  manifests_ = kept;
  std::ofstream(folder_ + "/index.json") << Json{{"schemaVersion", 2}, {"manifests", manifests_}}.dump();
  return digest;
}

}  // namespace tarcil
