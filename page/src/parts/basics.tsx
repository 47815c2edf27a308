// Small parts that every page is made of.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Link } from "wouter-preact";
import type { Answer } from "../api/cache";
import { paths } from "../model/paths";
import { lookOf } from "../model/states";
import { fullTime, relative } from "../model/text";

export function State({ state }: { state: string }) {
  const look = lookOf(state);
  return (
    <span class={`state ${look.tone}`}>
      <span class="sign" aria-hidden="true">{look.sign}</span>
      {state}
    </span>
  );
}

// The time of day as of the last second that matters to somebody who reads "3 s ago".
export function useNow(): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = window.setInterval(() => setNow(Date.now()), 1000);
    return () => window.clearInterval(timer);
  }, []);
  return now;
}

export function Time({ at, now }: { at: string | null; now: number }) {
  if (at === null) return null;
  return <time dateTime={at} title={fullTime(at)}>{relative(at, now)}</time>;
}

export function JobLink({ job }: { job: { number: number | null; id?: string; job?: string } }) {
  const name = job.number ?? job.id ?? job.job ?? "";
  return <Link class="number" href={paths.job(name)}>{typeof name === "string" ? name.slice(0, 8) : name}</Link>;
}

// The master may not say whose a task is (--hide-others).
export function TaskLink({ task }: { task: { job: string | null; number: number | null; task: number } }) {
  if (task.job === null) return <span class="dim">another user’s task</span>;
  return <><JobLink job={{ number: task.number, job: task.job }} />.{task.task}</>;
}

export function Panel({ title, aside, children, wide, id }: {
  title?: ComponentChildren; aside?: ComponentChildren; children: ComponentChildren; wide?: boolean; id?: string;
}) {
  return (
    <section class={wide ? "panel wide" : "panel"} id={id}>
      {title !== undefined && <header><h2>{title}</h2>{aside !== undefined && <div class="aside">{aside}</div>}</header>}
      {children}
    </section>
  );
}

// Names the browser's tab too.
export function Heading({ title, children }: { title: ComponentChildren; children?: ComponentChildren }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => { document.title = `${heading.current?.textContent ?? ""} · tarcil`; });
  return <div class="heading"><h1 ref={heading}>{title}</h1>{children !== undefined && <div class="beside">{children}</div>}</div>;
}

// What to do where there is nothing to see.
export function Empty({ children }: { children: ComponentChildren }) {
  return <p class="empty">{children}</p>;
}

// What was asked for, once it is there; before that that it is being fetched, or what went wrong. An error beside older data is shown above it.
export function Loaded<T>({ answer, children }: { answer: Answer<T>; children: (data: T) => ComponentChildren }) {
  if (answer.data === null) {
    return answer.error === null
      ? <p class="empty" role="status">Loading …</p>
      : <p class="problem" role="alert">{answer.error.message}</p>;
  }
  return (
    <>
      {answer.error !== null && answer.error.status !== 0 &&
        <p class="problem" role="alert">Not up to date: {answer.error.message}</p>}
      {children(answer.data)}
    </>
  );
}

export function Field({ name, children }: { name: string; children: ComponentChildren }) {
  return <div class="field"><dt>{name}</dt><dd>{children}</dd></div>;
}

// A bar of one or more parts of a whole; the numbers stand beside it in words.
export function Bar({ parts, total }: { parts: { value: number; tone: string }[]; total: number }) {
  let x = 0;
  return (
    <svg class="bar" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
      <rect class="track" width="100" height="6" />
      {parts.map((part) => {
        const width = total > 0 ? (100 * part.value) / total : 0;
        const rect = <rect class={`fill ${part.tone}`} x={x} width={width} height="6" />;
        x += width;
        return rect;
      })}
    </svg>
  );
}

export function Command({ children }: { children: string }) {
  return <code class="command">{children}</code>;
}
