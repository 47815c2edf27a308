// Files that are kept of tasks, from the cluster to where the browser saves them.
import { ApiError, getBytes, query } from "./client";
import type { KeptFile } from "./types";

// Piece by piece: a file may have 64 MiB, an answer has 1 MiB at most.
export async function saveFile(job: string, task: number, attempt: number, file: KeptFile): Promise<void> {
  const pieces: ArrayBuffer[] = [];
  for (let offset = 0; offset < file.bytes;) {
    const piece = await getBytes(`/jobs/${encodeURIComponent(job)}/file${query({ task, attempt, path: file.path, offset })}`);
    if (piece.byteLength === 0 || piece.byteLength > file.bytes - offset) throw new ApiError(0, "changed", `${file.path} is not as long as it was: it changed meanwhile, save it again`);
    pieces.push(piece);
    offset += piece.byteLength;
  }
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(pieces, { type: "application/octet-stream" }));
  link.download = file.path.split("/").pop() ?? "file";
  link.click();
  URL.revokeObjectURL(link.href);
}
