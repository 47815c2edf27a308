// Asks the gateway (docs/http.md) and tells what went wrong in words.
import type { Problem } from "./types";

const kPatience = 15_000; // ms until a question without an answer counts as lost

export class ApiError extends Error {
  constructor(
    readonly status: number, // 0: no answer
    readonly code: string,
    message: string,
    readonly problems: Problem[] = [],
  ) {
    super(message);
  }
}

async function failureOf(response: Response): Promise<ApiError> {
  const text = await response.text().catch(() => "");
  try {
    const { error } = JSON.parse(text);
    return new ApiError(response.status, String(error.code), String(error.message), error.problems ?? []);
  } catch {
    return new ApiError(response.status, "unknown", text.slice(0, 300) || `the gateway answered with status ${response.status}`);
  }
}

async function send(path: string, init: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(`/api/v1${path}`, { credentials: "same-origin", cache: "no-store", ...init });
  } catch (cause) {
    if (init.signal?.aborted && cause instanceof DOMException && cause.name === "AbortError") throw cause;
    throw new ApiError(0, "unreachable", "the gateway does not answer");
  }
  if (!response.ok) throw await failureOf(response);
  return response;
}

export async function get<T>(path: string): Promise<T> {
  const response = await send(path, { signal: AbortSignal.timeout(kPatience) });
  return (await response.json()) as T;
}

export async function getBytes(path: string): Promise<ArrayBuffer> {
  const response = await send(path, { signal: AbortSignal.timeout(kPatience) });
  return response.arrayBuffer();
}

// A stream that is read as it comes. The caller ends it by the signal.
export async function open(path: string, signal: AbortSignal, headers: Record<string, string> = {}): Promise<ReadableStream<Uint8Array>> {
  const response = await send(path, { signal, headers: { Accept: "text/event-stream", ...headers } });
  if (response.body === null) throw new ApiError(0, "unreachable", "the gateway sent no stream");
  return response.body;
}

export async function post<T>(path: string, body?: { json: unknown } | { text: string }): Promise<T> {
  const headers: Record<string, string> = { "X-Tarcil": "1" };
  let content: string | undefined;
  if (body !== undefined && "json" in body) {
    headers["Content-Type"] = "application/json";
    content = JSON.stringify(body.json);
  } else if (body !== undefined) {
    headers["Content-Type"] = "application/yaml";
    content = body.text;
  }
  const response = await send(path, { method: "POST", headers, body: content, signal: AbortSignal.timeout(kPatience) });
  return (await response.json()) as T;
}

export function query(parameters: Record<string, string | number | null | undefined>): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== null && value !== undefined && value !== "");
  return given.length === 0 ? "" : `?${new URLSearchParams(given.map(([key, value]) => [key, String(value)]))}`;
}
