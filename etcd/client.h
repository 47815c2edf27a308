// What is asked of an etcd cluster, without how: the real one is a module of its own (etcd/module.h), so that
// nobody links gRPC who does not use it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/base/time.h"

namespace tarcil::etcd {

struct KeyValue {
  std::string key, value;
  int64_t created = 0;   // revision at which the key was made ...
  int64_t modified = 0;  // ... and at which it was put last
};

// Holds where the key was made, or last put, at this revision; 0: there is no such key.
struct Compare {
  enum class What : uint8_t { kCreated, kModified };
  What what = What::kCreated;
  std::string key;
  int64_t revision = 0;
};

struct Operation {
  enum class What : uint8_t { kPut, kErase, kGet };
  What what = What::kGet;
  std::string key;
  std::string end{};    // kErase, kGet: all keys before this one, too; empty: the key alone
  std::string value{};  // kPut
  int64_t lease = 0;    // kPut: which ends the key; 0: none
};

// As many operations, and as many comparisons, as etcd takes in one transaction by default.
inline constexpr size_t kMaxOperations = 128;
// Bytes of one transaction, with room for what is around them: etcd takes 1.5 MiB by default.
inline constexpr size_t kMaxTransactionBytes = 1400 << 10;

struct Transaction {
  std::vector<Compare> compares;
  std::vector<Operation> then, otherwise;  // where all of them hold; where one does not
};

struct Outcome {
  bool held = false;                           // which of the two was carried out
  int64_t revision = 0;                        // of etcd after it
  std::vector<std::vector<KeyValue>> found{};  // for each operation, empty but for kGet
};

struct Range {
  std::string key;
  std::string end{};     // as in Operation
  int64_t limit = 0;     // keys; 0: all
  int64_t revision = 0;  // as it was then; 0: now
  bool keysOnly = false;
};

struct Found {
  std::vector<KeyValue> records;  // in order of their keys
  bool more = false;              // there are others behind them
  int64_t revision = 0;           // at which this was so
};

struct Lease {
  int64_t id = 0;
  Duration life{};  // that etcd gave it, from some moment after the question; zero: it has ended
};

struct Event {
  bool erased = false;
  KeyValue record;
};

struct Size {
  uint64_t onDisk = 0;  // what etcd holds against its quota
  uint64_t inUse = 0;
};

// Each call asks once, at one of the members, and waits at most so long; the next call asks another where one
// does not answer. Errors: Unavailable: no answer, and what was asked may happen all the same, also later.
// Exhausted: etcd's space is used up, and nothing was written. Conflict: what was asked for has been
// compacted away. Denied: wrong user, password or certificate, or not allowed there. Invalid: etcd refuses it
// as it stands. Safe from any thread.
class Client {
 public:
  virtual ~Client() = default;

  virtual Result<Outcome> commit(const Transaction& transaction, Duration atMost) = 0;
  virtual Result<Found> get(const Range& range, Duration atMost) = 0;

  virtual Result<Lease> grant(Duration life, Duration atMost) = 0;
  virtual Result<Lease> renew(int64_t lease, Duration atMost) = 0;
  // Erases the keys that are put with it.
  virtual Status revoke(int64_t lease, Duration atMost) = 0;

  // Tells what happens to the keys of a range, from a revision on, until `take` returns false or the time is
  // over, which is no error. Events of one revision come together.
  virtual Status watch(const Range& range, Duration atMost,
                       const std::function<bool(const std::vector<Event>&, int64_t revision)>& take) = 0;

  // Forgets what was before this revision, for everybody who uses this etcd.
  virtual Status compact(int64_t revision, Duration atMost) = 0;
  virtual Result<Size> size(Duration atMost) = 0;
};

// The first key that does not begin with `prefix`, which holds a byte that is not 0xff.
std::string endOf(std::string prefix);

}  // namespace tarcil::etcd
