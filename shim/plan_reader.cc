#include "shim/plan_reader.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include "shim/sys.h"

namespace tarcil {
namespace {

// Walks over the plan's strings. After the first that is not there, all are null and `bad` is set.
class Cursor {
 public:
  Cursor(char* at, char* end) : at_(at), end_(end) {}

  char* next() {
    char* text = at_;
    while (at_ < end_ && *at_ != '\0') ++at_;
    if (at_ >= end_) {
      bad_ = true;
      return nullptr;
    }
    ++at_;
    return text;
  }

  void fill(char** into, uint32_t count) {
    for (uint32_t i = 0; i < count && !bad_; ++i) into[i] = next();
  }

  bool bad() const { return bad_; }

 private:
  char* at_;
  char* end_;
  bool bad_ = false;
};

// The plan's bytes, followed by room for its pointers; null if it cannot be read.
char* load(int fd, size_t& size, char**& pointers) {
  struct stat status {};
  if (sys::call(SYS_fstat, fd, &status) != 0) return nullptr;
  size = static_cast<size_t>(status.st_size);
  const size_t aligned = (size + 15) & ~size_t{15};
  // Untouched pages cost nothing.
  const size_t whole = aligned + pointersOf(size) * sizeof(char*);
  char* data = static_cast<char*>(sys::map(whole, MAP_PRIVATE));
  if (data == nullptr) return nullptr;
  for (size_t got = 0; got < size;) {
    const long count = sys::call(SYS_pread64, fd, data + got, size - got, got);
    if (count <= 0) return nullptr;
    got += static_cast<size_t>(count);
  }
  pointers = reinterpret_cast<char**>(data + aligned);
  return data;
}

}  // namespace

bool readPlan(int fd, Plan& plan) {
  size_t size = 0;
  char** pointers = nullptr;
  char* data = load(fd, size, pointers);
  return data != nullptr && parsePlan(data, size, pointers, plan);
}

bool parsePlan(char* data, size_t size, char** pointers, Plan& plan) {
  if (size < sizeof(PlanHeader)) return false;
  const auto* header = reinterpret_cast<const PlanHeader*>(data);
  const uint64_t strings = uint64_t{13} + header->arguments + header->variables + header->directories +
                           uint64_t{2} * header->settings + header->joins + header->outputJoins +
                           header->devices + header->shares + header->hidden;
  const uint64_t filterEnd = sizeof(PlanHeader) + uint64_t{header->filter} * kFilterInstruction;
  const uint64_t groups = filterEnd + uint64_t{header->deviceFilter} * kFilterInstruction;
  const uint64_t devices = groups + uint64_t{header->groups} * sizeof(uint32_t);
  const uint64_t fixed = devices + uint64_t{header->devices} * sizeof(PlanDevice);
  if (header->shares > kMaxViewPaths || header->hidden > kMaxViewPaths) return false;
  if (header->magic != kPlanMagic || header->arguments == 0 || fixed + strings > size) return false;

  plan.header = header;
  plan.filter = data + sizeof(PlanHeader);
  plan.deviceFilter = data + filterEnd;
  plan.groups = reinterpret_cast<const uint32_t*>(data + groups);
  plan.devices = reinterpret_cast<const PlanDevice*>(data + devices);
  Cursor cursor(data + fixed, data + size);
  plan.taskDirectory = cursor.next();
  plan.workPoint = cursor.next();
  plan.workDirectory = cursor.next();
  plan.root = cursor.next();
  plan.searchPath = cursor.next();
  plan.birthCgroup = cursor.next();
  plan.oomFile = cursor.next();
  plan.peakFile = cursor.next();
  plan.cpuFile = cursor.next();
  plan.leaseFile = cursor.next();
  plan.program = cursor.next();
  plan.outputFile = cursor.next();
  plan.errorFile = cursor.next();
  plan.fileRemedy = cursor.next();
  plan.inputFile = cursor.next();
  plan.arguments = pointers;
  cursor.fill(plan.arguments, header->arguments);
  plan.variables = plan.arguments + header->arguments + 1;
  cursor.fill(plan.variables, header->variables);
  plan.directories = plan.variables + header->variables + 1;
  cursor.fill(plan.directories, header->directories);
  plan.settings = reinterpret_cast<Setting*>(plan.directories + header->directories);
  for (uint32_t i = 0; i < header->settings && !cursor.bad(); ++i) {
    plan.settings[i].file = cursor.next();
    plan.settings[i].value = cursor.next();
  }
  plan.joins = reinterpret_cast<char**>(plan.settings + header->settings);
  cursor.fill(plan.joins, header->joins);
  plan.outputJoins = plan.joins + header->joins;
  cursor.fill(plan.outputJoins, header->outputJoins);
  plan.devicePaths = plan.outputJoins + header->outputJoins;
  cursor.fill(plan.devicePaths, header->devices);
  plan.shares = plan.devicePaths + header->devices;
  cursor.fill(plan.shares, header->shares);
  plan.hidden = plan.shares + header->shares;
  cursor.fill(plan.hidden, header->hidden);
  return !cursor.bad();
}

}  // namespace tarcil
