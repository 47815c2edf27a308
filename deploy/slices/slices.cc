#include "deploy/slices/slices.h"

#include <algorithm>
#include <filesystem>

#include "core/base/units.h"
#include "deploy/slices/slice_disk.h"
#include "deploy/slices/slice_network.h"
#include "deploy/slices/tool.h"
#include "monitor/container/cpu_topology.h"

namespace tarcil {
namespace {

namespace fs = std::filesystem;

std::string foldersOf(const std::string& data) {
  return data + "/slices";
}

std::string mountedAt(const std::string& data, const std::string& name) {
  return data + "/monitors/" + name;
}

// Whole cores where there are enough, else single threads; as many for each slice, and the rest for nobody.
std::vector<std::vector<uint32_t>> coresOfEach(const std::vector<uint32_t>& threads, size_t slices) {
  const CpuTopology topology = cpuTopology("/sys", threads);
  const bool whole = slices <= topology.cores.size();
  const std::vector<CoreUnit> units =
      coreUnits(topology, static_cast<uint32_t>(whole ? topology.cores.size() : threads.size()));
  const size_t each = units.size() / slices;
  std::vector<std::vector<uint32_t>> cores(slices);
  for (size_t i = 0; i < each * slices; ++i) {
    auto& of = cores[i / each];
    of.insert(of.end(), units[i].threads.begin(), units[i].threads.end());
  }
  for (auto& of : cores) std::sort(of.begin(), of.end());
  return cores;
}

Status checkTools() {
  for (const auto& [tool, package] :
       {std::pair("losetup", "mount"), std::pair("mkfs.ext4", "e2fsprogs"), std::pair("ip", "iproute2"),
        std::pair("tc", "iproute2"), std::pair("nsenter", "util-linux")}) {
    if (pathOfTool(tool).empty()) {
      return invalid(std::string("--slices: there is no program ") + tool + ": install the package " +
                     package);
    }
  }
  for (const char* device : {"/dev/fuse", "/dev/loop-control"}) {
    if (!fs::exists(device)) {
      return invalid(std::string("--slices: this machine has no ") + device +
                     ": load the kernel module, or use --servers");
    }
  }
  return {};
}

// The images in it have the files of everybody's tasks.
Status makePrivateFolder(const std::string& folder) {
  std::error_code problem;
  fs::create_directories(folder, problem);
  if (!problem) fs::permissions(folder, fs::perms::owner_all, problem);
  if (problem) return Error{ErrorCode::kInternal, folder + ": cannot be made: " + problem.message()};
  return {};
}

Result<Slice> makeSlice(const SlicesPlan& plan, const SliceNetworks& networks, uint32_t number,
                        std::vector<uint32_t> cores) {
  Slice slice;
  slice.cores = std::move(cores);
  const std::string& name = plan.names[number];
  auto disk = makeSliceDisk({foldersOf(plan.data) + "/" + name, mountedAt(plan.data, name),
                             plan.size.diskBytes, plan.size.diskBytesPerSecond});
  if (!disk) return disk.error();
  slice.disk = std::move(*disk);
  if (Status made = networks.makeSlice(number, plan.size.networkBytesPerSecond); !made.ok())
    return made.error();
  slice.networkNamespace = networks.namespacePath(number);
  slice.interface = networks.interface(number);
  return slice;
}

Result<std::vector<Slice>> makeAll(const SlicesPlan& plan) {
  const SliceNetworks networks(plan.data);
  if (Status made = networks.make(); !made.ok()) return made.error();
  auto cores = coresOfEach(plan.cores, plan.names.size());
  std::vector<Slice> slices;
  for (uint32_t number = 0; number < plan.names.size(); ++number) {
    auto slice = makeSlice(plan, networks, number, std::move(cores[number]));
    if (!slice) return slice.error();
    slices.push_back(std::move(*slice));
  }
  return slices;
}

}  // namespace

Status checkSlices(const SlicesPlan& plan) {
  const size_t slices = plan.names.size();
  if (slices > plan.cores.size()) {
    return invalid("--slices: each slice has a core of its own, and there are " +
                   std::to_string(plan.cores.size()) + "; write at most that many, or --servers " +
                   std::to_string(slices) + " for servers that share cores");
  }
  if (Status tools = checkTools(); !tools.ok()) return tools;
  for (const std::string& name : plan.names) {
    const uint64_t there = imageBytes(foldersOf(plan.data) + "/" + name);
    if (there == 0 && fs::exists(mountedAt(plan.data, name) + "/identity")) {
      return invalid("--slices: in " + plan.data + " " + name +
                     " was a server without a slice; choose another folder with --data");
    }
    if (there != 0 && there != plan.size.diskBytes) {
      return invalid("--slice-disk: the disk of " + name + " was made with " + formatSize(there) +
                     "; write that, or remove " + foldersOf(plan.data) + " with what tasks left there");
    }
  }
  return {};
}

Result<std::vector<Slice>> makeSlices(const SlicesPlan& plan) {
  if (Status removed = removeSlices(plan.data); !removed.ok()) return removed.error();
  if (Status made = makePrivateFolder(foldersOf(plan.data)); !made.ok()) return made.error();
  auto slices = makeAll(plan);
  if (!slices) {
    if (const Status removed = removeSlices(plan.data); !removed.ok()) {
      return Error{slices.error().code, slices.error().message + "; and " + removed.error().message};
    }
  }
  return slices;
}

Status removeSlices(const std::string& data) {
  std::error_code problem;
  for (const auto& folder : fs::directory_iterator(foldersOf(data), problem)) {
    const std::string name = folder.path().filename();
    if (Status removed = removeSliceDisk(folder.path(), mountedAt(data, name)); !removed.ok()) return removed;
  }
  if (problem) return {};  // there never was one
  return SliceNetworks(data).remove();
}

}  // namespace tarcil
