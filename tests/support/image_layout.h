// OCI layouts for tests, as programs make them and as none should.
#pragma once

#include <string>
#include <vector>

#include "formats/json.h"

namespace tarcil {

// An entry of a layer, as it is written, whatever that is.
struct LayerFile {
  std::string path;
  std::string content = {};  // of a file; where a link leads
  char kind = 'f';           // (f)ile, fol(d)er, (s)ymbolic link, (h)ard link, (c)haracter device, (p)ipe
  uint32_t mode = 0755;
  uint64_t bytes = 0;  // of a file that says so many and has `content`
};

// A tar archive of these.
std::string layerOf(const std::vector<LayerFile>& files);

// A layout in `folder`, which is made, readable by everybody.
class ImageLayout final {
 public:
  explicit ImageLayout(std::string folder);

  // A further layer of the next image.
  void add(const std::string& layer);
  // What its configuration has under "config".
  Json config = Json::object();
  // Writes the image under this tag, in place of one that had it; its digest. Layers and config are those of
  // the next one, too.
  std::string tag(const std::string& name);

  const std::string& folder() const { return folder_; }
  std::string blob(const std::string& digest) const;
  const std::vector<std::string>& layers() const { return layers_; }  // digests

 private:
  std::string write(const std::string& bytes) const;

  const std::string folder_;
  std::vector<std::string> layers_;
  std::vector<size_t> sizes_;
  Json manifests_ = Json::array();
};

}  // namespace tarcil
