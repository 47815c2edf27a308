// What a task writes, as it writes it. The newest part is kept, so that a task that writes for days does not fill the browser.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { useSearch } from "wouter-preact";
import { ApiError, open, query } from "../api/client";
import type { JobStatus } from "../api/types";
import { EventParser } from "../model/sse";
import { isFinal } from "../model/states";
import { withoutEscapes } from "../model/text";
import { Empty, Panel } from "../parts/basics";

const kKept = 512 * 1024; // characters
const kPause = 2_000;

interface Output {
  text: string;
  isCut: boolean;
  state: "following" | "ended" | "waiting";
  problem: string | null;
}

const NOTHING: Output = { text: "", isCut: false, state: "following", problem: null };

function useOutput(job: string, task: number, stream: string): Output {
  const [output, setOutput] = useState<Output>(NOTHING);
  useEffect(() => {
    const stop = new AbortController();
    let offset = 0, timer = 0;
    setOutput(NOTHING);
    const take = (data: { offset?: number; text?: string }) => {
      const text = data.text ?? "";
      offset = (data.offset ?? offset) + new TextEncoder().encode(text).length;
      setOutput((known) => {
        const all = known.text + withoutEscapes(text);
        return { text: all.slice(-kKept), isCut: known.isCut || all.length > kKept, state: "following", problem: null };
      });
    };
    const follow = async () => {
      try {
        const body = await open(`/jobs/${encodeURIComponent(job)}/logs${query({ task, stream, offset, follow: "true" })}`, stop.signal);
        const reader = body.pipeThrough(new TextDecoderStream() as unknown as ReadableWritablePair<string, Uint8Array>).getReader();
        const parser = new EventParser();
        for (;;) {
          const { done, value } = await reader.read();
          if (done) break;
          for (const event of parser.feed(value)) {
            if (event.type === "output") take(JSON.parse(event.data));
            if (event.type === "ended") return setOutput((known) => ({ ...known, state: "ended", problem: null }));
          }
        }
        throw new ApiError(0, "ended", "the connection was lost");
      } catch (cause) {
        if (stop.signal.aborted) return;
        const error = cause instanceof ApiError ? cause : new ApiError(0, "lost", "the connection was lost");
        setOutput((known) => ({ ...known, state: "waiting", problem: error.message }));
        // What can never be had is not asked for again.
        if (error.status === 0 || error.status === 404 || error.status === 409 || error.status >= 429) timer = window.setTimeout(() => void follow(), kPause);
      }
    };
    void follow();
    return () => { stop.abort(); window.clearTimeout(timer); };
  }, [job, task, stream]);
  return output;
}

export function Logs({ job }: { job: JobStatus }) {
  const asked = Number(new URLSearchParams(useSearch()).get("task") ?? "0");
  const [task, setTask] = useState(Number.isInteger(asked) && asked >= 0 ? asked : 0);
  const [stream, setStream] = useState("stdout");
  const [isFollowing, setFollowing] = useState(true);
  const box = useRef<HTMLPreElement>(null);
  const output = useOutput(job.id, task, stream);
  useLayoutEffect(() => {
    if (isFollowing && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [output.text, isFollowing]);
  const state = job.tasks.find((each) => each.index === task)?.state;
  const onScroll = () => {
    const pre = box.current as HTMLPreElement;
    setFollowing(pre.scrollHeight - pre.scrollTop - pre.clientHeight < 40);
  };
  return (
    <Panel>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <label>Task <input type="number" min={0} max={(job.task_count ?? job.tasks.length) - 1} value={task} onChange={(event) => setTask(Math.max(0, Number(event.currentTarget.value)))} /></label>
        <label>Stream <select value={stream} onChange={(event) => setStream(event.currentTarget.value)}><option>stdout</option><option>stderr</option></select></label>
        <label class="check"><input type="checkbox" checked={isFollowing} onChange={(event) => setFollowing(event.currentTarget.checked)} /> keep the end in sight</label>
        <span class="dim" role="status">{output.state === "ended" ? "This is all." : output.state === "waiting" ? `Waiting: ${output.problem}` : "Following …"}</span>
      </form>
      {output.isCut && <p class="hint">Only the newest part is shown; <code>tarcil job logs {job.number ?? job.id}</code> prints all.</p>}
      {output.text === ""
        ? <Empty>{state === "queued" ? "The task has not started: it writes nothing yet." : state !== undefined && isFinal(state) ? `It wrote nothing to ${stream}. Look at the other stream.` : `Nothing on ${stream} so far.`}</Empty>
        : <pre class="log" ref={box} onScroll={onScroll} tabIndex={0} role="region" aria-label={`Output of task ${task}`}>{output.text}</pre>}
    </Panel>
  );
}
