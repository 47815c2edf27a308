// Keys that lead anywhere: "/" to the search, "g" and a letter to a page, "?" to this list. They can be switched off (WCAG 2.1.4).
import { useEffect, useRef, useState } from "preact/hooks";
import { useLocation } from "wouter-preact";

function isWriting(target: EventTarget | null): boolean {
  return target instanceof Element && target.matches("input, select, textarea, [contenteditable]");
}

export function Shortcuts({ places }: { places: [string, string, string][] }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [isOn, setOn] = useState(localStorage.getItem("shortcuts") !== "off");
  const [, navigate] = useLocation();
  useEffect(() => {
    localStorage.setItem("shortcuts", isOn ? "on" : "off");
    if (!isOn) return;
    let isAfterG = false;
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.altKey || event.metaKey || isWriting(event.target)) return;
      if (event.key === "/") {
        event.preventDefault();
        document.getElementById("search")?.focus();
      } else if (event.key === "?") {
        dialog.current?.showModal();
      } else if (isAfterG) {
        const place = places.find(([, , letter]) => letter === event.key);
        if (place) navigate(place[0]);
      }
      isAfterG = event.key === "g" && !isAfterG;
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, [isOn, places, navigate]);
  return (
    <>
      <button class="plain keys" aria-label="Keyboard shortcuts" onClick={() => dialog.current?.showModal()}>?</button>
      <dialog ref={dialog} aria-label="Keyboard">
        <h2>Keyboard</h2>
        <dl class="keylist">
          <dt><kbd>/</kbd></dt><dd>search</dd>
          {places.map(([, title, letter]) => <><dt><kbd>g</kbd> <kbd>{letter}</kbd></dt><dd>{title}</dd></>)}
          <dt><kbd>↑</kbd> <kbd>↓</kbd></dt><dd>from row to row, or through a picture</dd>
          <dt><kbd>Enter</kbd></dt><dd>open what the cursor of a picture is on</dd>
        </dl>
        <label class="check"><input type="checkbox" checked={isOn} onChange={(event) => setOn(event.currentTarget.checked)} /> keys of one letter are on</label>
        <div class="choices"><button class="first" onClick={() => dialog.current?.close()}>Close</button></div>
      </dialog>
    </>
  );
}
