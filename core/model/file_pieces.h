// Input files in pieces of bounded size: as they travel and are stored where one message would hold others
// up.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/job.h"

namespace tarcil {

// Of one piece, by sizeOf(). Files that take no more go with the submission itself.
inline constexpr uint64_t kMaxPieceBytes = 1 << 20;

// Some files, whole or in part: one whose path is that of the file before it, also of the last one in the
// piece before, goes on with its content.
using FilePiece = std::vector<InputFile>;

// Pieces pass through several owners and are large: they are shared. Empty where there are no files.
using FilePieces = std::vector<std::shared_ptr<const FilePiece>>;

// Cuts files into pieces of at most so many bytes. A piece is larger only where a path alone is.
FilePieces inPieces(const std::vector<InputFile>& files, uint64_t most = kMaxPieceBytes);

// Of the files that the pieces make, by sizeOf().
uint64_t sizeOf(const FilePieces& pieces);

// Adds a piece to the files of those before it.
void append(std::vector<InputFile>& files, FilePiece piece);

// Holds the pieces of one job's files, as they come, against what was announced of them.
class PieceCounter {
 public:
  // kInvalid: more than a job may ship.
  static Status check(uint64_t announced);

  explicit PieceCounter(uint64_t announced) : announced_(announced) {}

  // kInvalid: the piece is empty or too large, has a file that no job may ship, or goes beyond what was
  // announced. Then it does not count.
  Status add(const FilePiece& piece);

  uint64_t announced() const { return announced_; }
  uint32_t pieces() const { return pieces_; }
  bool isWhole() const { return bytes_ == announced_; }

 private:
  uint64_t announced_;
  uint64_t bytes_ = 0;  // by sizeOf() of the files that they make
  uint32_t pieces_ = 0;
  std::string lastPath_;
};

}  // namespace tarcil
