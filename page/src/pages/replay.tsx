// The last day under other settings: what the gateway recorded, replayed as it is and with what is to be otherwise.
import { useState } from "preact/hooks";
import { beginReplay, cancelReplay } from "../api/actions";
import { useAnswer } from "../api/cache";
import type { Replay, Replays, Settings } from "../api/types";
import { NUMBERS, type ReplayedSettings, WORDS, changesOf, rowsOf } from "../model/replay";
import { promiseOf } from "../model/promise";
import { bytes, counted, duration, fullTime } from "../model/text";
import { Command, Empty, Loaded, Panel, useNow } from "../parts/basics";
import { ActionButton, attempt } from "../parts/doing";
import { Table } from "../parts/table";

export function LastDay({ settings }: { settings: Settings }) {
  const replays = useAnswer<Replays>("/replay", { replay: true });
  return (
    <Panel title="The last day under other settings">
      <Loaded answer={replays}>
        {(data) => (
          <>
            {data.recording === null
              ? <Empty>This gateway has recorded nothing: it keeps the last day where it is started with <Command>--recordings FOLDER</Command>, as <Command>tarcil up</Command> does.
                  By hand: <Command>{"tarcil record --for 24h day.rec.gz"}</Command>, then <Command>{"tarcil sim --replay day.rec.gz --target 0.9"}</Command></Empty>
              : <>
                  <p>Recorded: {fullTime(data.recording.from ?? "")} to {fullTime(data.recording.until ?? "")}, {bytes(data.recording.bytes)}. A replay takes the jobs that ran then through the cluster's own decisions,
                    with tasks as fast beside each other as their profiles say.</p>
                  <Chooser settings={settings} isRunning={data.replay?.state === "running"} />
                </>}
            {data.replay !== null && <Outcome replay={data.replay} settings={settings} />}
          </>
        )}
      </Loaded>
    </Panel>
  );
}

function Chooser({ settings, isRunning }: { settings: ReplayedSettings; isRunning: boolean }) {
  const [wanted, setWanted] = useState<Record<keyof ReplayedSettings, string>>({
    target: String(settings.target), rarity: String(settings.rarity), confidence: String(settings.confidence), margin: String(settings.margin),
    ranking: settings.ranking, contention: settings.contention,
  });
  const changes = changesOf(settings, wanted);
  return (
    <form class="filters" onSubmit={(event) => {
      event.preventDefault();
      if (changes !== null) void attempt(() => beginReplay(changes), "The replay has begun.");
    }}>
      {NUMBERS.map(({ name, title, step, least, most }) => (
        <label>{title} <input type="number" step={step} min={least} max={most} required value={wanted[name]} onInput={(event) => setWanted({ ...wanted, [name]: event.currentTarget.value })} /></label>
      ))}
      {WORDS.map(({ name, title, words }) => (
        <label>{title} <select value={wanted[name]} onChange={(event) => setWanted({ ...wanted, [name]: event.currentTarget.value })}>{words.map((each) => <option>{each}</option>)}</select></label>
      ))}
      <button class="first" type="submit" disabled={isRunning || changes === null}>Replay the last day</button>
      {changes === null && <span>Change a setting first.</span>}
    </form>
  );
}

const RUNS: Record<string, string> = { as_it_is: "First of two runs, with the settings as they were", changed: "Second of two runs, with what is to be otherwise" };

function progressText(progress: string): string {
  const [run = "", ...said] = progress.split(": ");
  return [RUNS[run] ?? run, said.join(": ").replace(/^tarcil: /, "")].filter((part) => part !== "").join(": ");
}

function Outcome({ replay, settings }: { replay: Replay; settings: Settings }) {
  const now = useNow();
  const wanted = Object.entries(replay.settings).map(([name, value]) => `${name} ${value}`).join(", ");
  if (replay.state === "running") {
    return (
      <div class="callout" role="status">
        <p><b>Replaying with {wanted}</b>, begun by {replay.user} {duration(now - Date.parse(replay.began ?? ""))} ago. {progressText(replay.progress)}.</p>
        <ActionButton label="Cancel the replay" done="Cancelled." doing={cancelReplay} />
      </div>
    );
  }
  if (replay.result === null) {
    return <p class={replay.state === "failed" ? "problem" : "callout"} role="status">The replay with {wanted} {replay.state === "failed" ? `failed: ${replay.problem ?? ""}` : "was cancelled."}</p>;
  }
  return (
    <>
      <p class="lead" role="status">With {wanted}, of {counted(replay.result.changed.jobs, "job")} that came and ended in that time:</p>
      <Table label="What would change" rows={rowsOf(replay.result)} keyOf={(row) => row.title} columns={[
        { title: "", class: "named", cell: (row) => row.title },
        { title: "What was", class: "num", cell: (row) => row.recorded },
        { title: "Replayed as it is", class: "num", cell: (row) => row.asItIs },
        { title: "Replayed with the change", class: "num", cell: (row) => row.changed },
        { title: "", cell: (row) => row.verdict },
      ]} />
      <p>Guarantee then: {promiseOf({ ...settings, ...replay.settings })}</p>
      <p>How far the second column is from the first is what the replay does not know; the third is to be held against the second. To set it: <Command>{`tarcil tune ${Object.entries(replay.settings).map(([name, value]) => `--${name} ${value}`).join(" ")}`}</Command></p>
    </>
  );
}
