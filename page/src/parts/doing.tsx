// Doing something to the cluster: a button that asks first where that is due, and says what came of it.
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError } from "../api/client";

interface Notice {
  text: string;
  isBad: boolean;
}

const watchers = new Set<(notice: Notice | null) => void>();

export function say(text: string, isBad = false): void {
  for (const watcher of watchers) watcher({ text, isBad });
}

// Runs it; says `done`, or what went wrong.
export async function attempt(doing: () => Promise<unknown>, done: string): Promise<boolean> {
  try {
    await doing();
    say(done);
    return true;
  } catch (cause) {
    say(cause instanceof ApiError ? cause.message : String(cause), true);
    return false;
  }
}

const kShown = 6_000;

export function Notices() {
  const [notice, setNotice] = useState<Notice | null>(null);
  useEffect(() => {
    watchers.add(setNotice);
    return () => void watchers.delete(setNotice);
  }, []);
  useEffect(() => {
    if (notice === null || notice.isBad) return;
    const timer = window.setTimeout(() => setNotice(null), kShown);
    return () => window.clearTimeout(timer);
  }, [notice]);
  return (
    <div class="notices" role="status" aria-live="polite">
      {notice !== null && (
        <div class={notice.isBad ? "notice bad" : "notice"}>
          <span>{notice.text}</span>
          <button class="plain" onClick={() => setNotice(null)} aria-label="Dismiss">✕</button>
        </div>
      )}
    </div>
  );
}

export function ActionButton({ label, question, done, doing, isGrave }: {
  label: string; question?: string; done: string; doing: () => Promise<unknown>; isGrave?: boolean;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [isBusy, setBusy] = useState(false);
  const run = async () => {
    dialog.current?.close();
    setBusy(true);
    await attempt(doing, done);
    setBusy(false);
  };
  return (
    <>
      <button class={isGrave ? "grave" : ""} disabled={isBusy} onClick={() => (question === undefined ? void run() : dialog.current?.showModal())}>
        {label}
      </button>
      {question !== undefined && (
        <dialog ref={dialog} aria-label={label}>
          <p>{question}</p>
          <div class="choices">
            <button onClick={() => dialog.current?.close()}>Leave it</button>
            <button class={isGrave ? "grave" : "first"} onClick={() => void run()}>{label}</button>
          </div>
        </dialog>
      )}
    </>
  );
}
