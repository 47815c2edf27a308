// Answers by address. What is shown is asked for anew when an event says that it may have changed: soon, but never so often that asking
// takes more than a fifth of the time. What could not be had for now is asked for again, by and by more patiently.
import { useEffect, useState } from "preact/hooks";
import { ApiError, get } from "./client";
import { type Topic, live } from "./live";

export interface Answer<T> {
  data: T | null;
  error: ApiError | null;
  at: number; // ms when `data` came; 0 before
}

// Which events make an answer old. A filter looks at what an event tells.
export type Topics = Partial<Record<Topic, true | ((data: any) => boolean)>>;

const kLeastPause = 400; // ms from one answer to the next question
const kFirstRetry = 1_000, kLongestRetry = 15_000; // ms
const kKept = 60; // answers nobody shows

// It may be otherwise when asked again.
function isPassing(error: ApiError): boolean {
  return error.status === 0 || error.status === 429 || error.status >= 500;
}

class Entry {
  answer: Answer<unknown> = { data: null, error: null, at: 0 };
  readonly watchers = new Set<() => void>();
  private isStale = true;
  private isAsking = false;
  private timer: number | undefined;
  private notBefore = 0;
  private failures = 0; // in a row

  constructor(private readonly load: () => Promise<unknown>, readonly topics: Topics) {}

  refresh(): void {
    this.isStale = true;
    this.schedule();
  }

  watch(watcher: () => void): () => void {
    this.watchers.add(watcher);
    if (this.isStale) this.schedule();
    return () => this.watchers.delete(watcher);
  }

  private schedule(): void {
    if (this.isAsking || this.watchers.size === 0 || this.timer !== undefined) return;
    this.timer = window.setTimeout(() => {
      this.timer = undefined;
      void this.ask();
    }, Math.max(0, this.notBefore - Date.now()));
  }

  private async ask(): Promise<void> {
    const began = Date.now();
    this.isAsking = true;
    this.isStale = false;
    try {
      this.answer = { data: await this.load(), error: null, at: Date.now() };
      this.failures = 0;
    } catch (cause) {
      const error = cause instanceof ApiError ? cause : new ApiError(0, "unknown", String(cause));
      this.answer = { ...this.answer, error, data: error.status === 404 || error.status === 403 ? null : this.answer.data };
      this.failures = isPassing(error) ? this.failures + 1 : 0;
    }
    this.isAsking = false;
    if (this.failures > 0) this.isStale = true;
    const pause = this.failures > 0 ? Math.min(kLongestRetry, kFirstRetry * 2 ** (this.failures - 1)) : Math.max(kLeastPause, 4 * (Date.now() - began));
    this.notBefore = Date.now() + pause;
    for (const watcher of this.watchers) watcher();
    if (this.isStale) this.schedule();
  }
}

const entries = new Map<string, Entry>();

function entryOf(key: string, load: () => Promise<unknown>, topics: Topics): Entry {
  let entry = entries.get(key);
  if (entry === undefined) {
    for (const [old, each] of entries) {
      if (entries.size < kKept) break;
      if (each.watchers.size === 0) entries.delete(old);
    }
    entries.set(key, (entry = new Entry(load, topics)));
  }
  return entry;
}

live.onEvent((topic, data) => {
  for (const entry of entries.values()) {
    const wanted = topic === "reset" ? true : entry.topics[topic];
    if (wanted === true || (wanted !== undefined && wanted(data))) entry.refresh();
  }
});

// After something was done, or a lost connection came back.
export function refreshAll(): void {
  for (const entry of entries.values()) entry.refresh();
}

export function forgetAll(): void {
  entries.clear();
}

const NOTHING: Answer<never> = { data: null, error: null, at: 0 };

// What `load` gives, kept under `key`; nothing for a null key.
export function useLoaded<T>(key: string | null, load: () => Promise<T>, topics: Topics = {}): Answer<T> {
  const [, setTurn] = useState(0);
  const entry = key === null ? null : entryOf(key, load, topics);
  useEffect(() => entry?.watch(() => setTurn((turn) => turn + 1)), [entry]);
  return entry === null ? NOTHING : (entry.answer as Answer<T>);
}

export function useAnswer<T>(path: string | null, topics: Topics = {}): Answer<T> {
  return useLoaded<T>(path, () => get<T>(path as string), topics);
}
