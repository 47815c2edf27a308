#include "master/store/store.h"

namespace tarcil {

Result<std::vector<InputFile>> Store::files(const JobId& job) {
  std::vector<InputFile> files;
  for (uint32_t number = 0;; ++number) {
    Result<FilePiece> piece = filePiece(job, number);
    if (!piece.ok() || piece->empty()) return piece.ok() ? std::move(files) : std::move(piece);
    append(files, std::move(*piece));
  }
}

}  // namespace tarcil
