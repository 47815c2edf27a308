#include "etcd/module.h"

#include <dlfcn.h>

#include <filesystem>
#include <string_view>

namespace tarcil::etcd {

Result<std::unique_ptr<Client>> openClient(const Access& access, const std::string& folder) {
  const std::string here =
      folder.empty() ? std::filesystem::read_symlink("/proc/self/exe").parent_path().string() : folder;
  const std::string path = here + "/" + kModuleFile;
  if (!std::filesystem::exists(path)) {
    return invalid(path +
                   ": is not there: this tarcil was built without etcd; install the package tarcil-etcd, or "
                   "build it with " +
                   "libgrpc++-dev, libprotobuf-dev and protobuf-compiler-grpc");
  }
  void* const module = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) return invalid(path + ": cannot be loaded: " + ::dlerror());
  const auto* version = static_cast<const char* const*>(::dlsym(module, kModuleVersionName));
  if (version == nullptr || std::string_view(*version) != TARCIL_VERSION) {
    return invalid(path + ": is of another version of tarcil, and this is " TARCIL_VERSION
                          "; install both of one version");
  }
  const auto* make = static_cast<const MakeClient*>(::dlsym(module, kMakeClientName));
  if (make == nullptr) return invalid(path + ": is no module of tarcil");
  return (*make)(access);
}

}  // namespace tarcil::etcd
