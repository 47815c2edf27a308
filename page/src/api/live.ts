// The stream of events of the cluster, and whether it stands. A stream that says nothing for longer than two of its heartbeats is taken to
// be lost; it is opened again, by and by more patiently, and goes on behind the last event it told.
import { EventParser } from "../model/sse";
import { ApiError, open } from "./client";

export type Topic = "job" | "server" | "queue" | "violation" | "replay";
export type Listener = (topic: Topic | "reset", data: unknown) => void;

export interface Connection {
  state: "connecting" | "live" | "lost" | "refused";
  since: number; // ms
  retryAt: number | null;
  why: string;
}

const kSilence = 25_000; // the gateway says something each 10 s
const kLongestPause = 15_000;

export class Live {
  connection: Connection = { state: "connecting", since: Date.now(), retryAt: null, why: "" };
  private readonly listeners = new Set<Listener>();
  private readonly watchers = new Set<() => void>();
  private lastId: string | null = null;
  private failures = 0;
  private stream: AbortController | null = null;
  private retry: number | undefined;
  private silence: number | undefined;
  private isRunning = false;

  start(): void {
    if (this.isRunning) return;
    this.isRunning = true;
    void this.connect();
  }

  stop(): void {
    this.isRunning = false;
    this.lastId = null;
    window.clearTimeout(this.retry);
    window.clearTimeout(this.silence);
    this.stream?.abort();
  }

  // Does not wait for the pause to pass.
  tryNow(): void {
    if (!this.isRunning || this.connection.state === "live") return;
    window.clearTimeout(this.retry);
    this.stream?.abort();
    void this.connect();
  }

  onEvent(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  onConnection(watcher: () => void): () => void {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  }

  private say(connection: Partial<Connection>): void {
    const since = connection.state !== undefined && connection.state !== this.connection.state ? Date.now() : this.connection.since;
    this.connection = { ...this.connection, retryAt: null, ...connection, since };
    for (const watcher of this.watchers) watcher();
  }

  private tell(topic: Topic | "reset", data: unknown): void {
    for (const listener of this.listeners) listener(topic, data);
  }

  private heard(): void {
    window.clearTimeout(this.silence);
    this.silence = window.setTimeout(() => this.stream?.abort(), kSilence);
  }

  private async connect(): Promise<void> {
    const stream = new AbortController();
    this.stream = stream;
    try {
      this.heard();
      const body = await open("/events", stream.signal, this.lastId === null ? {} : { "Last-Event-ID": this.lastId });
      const isReturn = this.connection.state === "lost";
      this.failures = 0;
      this.say({ state: "live", why: "" });
      // What happened meanwhile comes as events where the gateway still knows them; answers may be older than that.
      if (isReturn) this.tell("reset", null);
      await this.read(body);
      throw new ApiError(0, "ended", "the gateway closed the stream of events");
    } catch (cause) {
      if (this.stream === stream && this.isRunning) this.failed(cause);
    }
  }

  private async read(body: ReadableStream<Uint8Array>): Promise<void> {
    const reader = body.pipeThrough(new TextDecoderStream() as unknown as ReadableWritablePair<string, Uint8Array>).getReader();
    const parser = new EventParser();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      this.heard();
      for (const event of parser.feed(value)) {
        if (event.id !== null) this.lastId = event.id;
        if (event.type === "message") continue;
        this.tell(event.type as Topic | "reset", event.data === "" ? null : JSON.parse(event.data));
      }
    }
  }

  private failed(cause: unknown): void {
    window.clearTimeout(this.silence);
    if (cause instanceof ApiError && cause.status === 401) return this.say({ state: "refused", why: "the session has ended" });
    if (cause instanceof ApiError && cause.status === 400) this.lastId = null;
    const pause = Math.min(kLongestPause, 500 * 2 ** this.failures++);
    const why = cause instanceof ApiError ? cause.message : "nothing was heard of the gateway";
    this.say({ state: "lost", why, retryAt: Date.now() + pause });
    this.retry = window.setTimeout(() => void this.connect(), pause);
  }
}

export const live = new Live();
