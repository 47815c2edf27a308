#include "core/model/file_pieces.h"

#include <algorithm>
#include <utility>

#include "core/base/units.h"
#include "core/model/job_check.h"
#include "core/model/job_size.h"

namespace tarcil {
namespace {

// Gathers parts of files until the next does not fit.
class Cutter {
 public:
  explicit Cutter(uint64_t most) : most_(most) {}

  void add(const InputFile& file) {
    size_t done = 0;
    do {
      const uint64_t room = roomFor(file);
      const size_t part = std::min<size_t>(file.content.size() - done, room);
      piece_.push_back({file.path, file.mode, file.content.substr(done, part)});
      bytes_ += sizeOf(piece_.back());
      done += part;
    } while (done < file.content.size());
  }

  FilePieces takeAll() {
    close();
    return std::move(pieces_);
  }

 private:
  // For content of the file, at least a byte; in a new piece where this one is full.
  uint64_t roomFor(const InputFile& file) {
    const uint64_t fixed = sizeOf(InputFile{file.path, file.mode, {}});
    if (bytes_ + fixed >= most_) close();
    return std::max(bytes_ + fixed + 1, most_) - bytes_ - fixed;
  }

  void close() {
    if (piece_.empty()) return;
    pieces_.push_back(std::make_shared<const FilePiece>(std::exchange(piece_, {})));
    bytes_ = 0;
  }

  const uint64_t most_;
  FilePieces pieces_;
  FilePiece piece_;
  uint64_t bytes_ = 0;
};

// What a piece adds to those before it, of which this is the last path; it becomes that of the piece.
uint64_t added(const FilePiece& piece, std::string& path) {
  uint64_t bytes = 0;
  for (const InputFile& file : piece) {
    bytes += file.path == path ? file.content.size() : sizeOf(file);
    path = file.path;
  }
  return bytes;
}

}  // namespace

FilePieces inPieces(const std::vector<InputFile>& files, uint64_t most) {
  Cutter cutter(most);
  for (const InputFile& file : files) cutter.add(file);
  return cutter.takeAll();
}

uint64_t sizeOf(const FilePieces& pieces) {
  uint64_t bytes = 0;
  std::string path;
  for (const auto& piece : pieces) bytes += added(*piece, path);
  return bytes;
}

void append(std::vector<InputFile>& files, FilePiece piece) {
  for (InputFile& file : piece) {
    if (!files.empty() && files.back().path == file.path) {
      files.back().content += file.content;
    } else {
      files.push_back(std::move(file));
    }
  }
}

Status PieceCounter::check(uint64_t announced) {
  if (announced <= kMaxInputBytes) return {};
  return invalid("files: would be " + formatSize(announced) + " in all, and at most " +
                 formatSize(kMaxInputBytes) +
                 " are shipped; put large data where the servers can read it and name its path");
}

Status PieceCounter::add(const FilePiece& piece) {
  if (piece.empty() || sizeOf(piece) > kMaxPieceBytes) {
    return invalid("files: a piece takes " + std::to_string(sizeOf(piece)) +
                   " bytes; send something, and at most " + formatSize(kMaxPieceBytes));
  }
  if (Status good = checkFiles(piece); !good) return good;
  std::string path = lastPath_;
  const uint64_t bytes = bytes_ + added(piece, path);
  if (bytes > announced_) {
    return invalid("files: are more than the " + std::to_string(announced_) + " bytes that were announced");
  }
  bytes_ = bytes;
  lastPath_ = std::move(path);
  ++pieces_;
  return {};
}

}  // namespace tarcil
