// One tile: how many tasks perform as their jobs expect, and what sharing servers gained over whole servers for each job.
import type { Sharing } from "../api/types";
import { figuresOf } from "../model/sharing";
import { counted, percent, whole } from "../model/text";
import { Bar } from "../parts/basics";

export function SharingTile({ sharing }: { sharing: Sharing }) {
  const { atTarget, gained } = figuresOf(sharing);
  return (
    <>
      <div class="tile">
        <h2>Tasks at or above target</h2>
        <p class="figure">{sharing.tasks === 0 ? "—" : percent(atTarget)}</p>
        <Bar parts={[{ value: sharing.tasks - sharing.degraded, tone: "good" }, { value: sharing.degraded, tone: "bad" }]} total={sharing.tasks} />
        <p class="note">{sharing.tasks === 0 ? "No task runs." : `${whole(sharing.degraded)} of ${counted(sharing.tasks, "running task")} below it`}</p>
      </div>
      <div class="tile">
        <h2>Cores gained by sharing</h2>
        <p class="figure">{whole(gained)}</p>
        <Bar parts={[{ value: sharing.units_used, tone: "active" }, { value: gained, tone: "gain" }]} total={Math.max(1, sharing.units_alone)} />
        <p class="note">{whole(sharing.units_used)} in use; whole servers for each job would take {whole(sharing.units_alone)}</p>
      </div>
    </>
  );
}
