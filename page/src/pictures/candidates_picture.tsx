// Why here: the slots that a decision compared, by S (how far each satisfies the job) and Q (how tightly it fits), and why others were turned down.
import { useState } from "preact/hooks";
import { Link } from "wouter-preact";
import type { Candidate } from "../api/types";
import { type DecisionGroup, behindBy, turnedDown } from "../model/decisions";
import { paths } from "../model/paths";
import { greatest, least, shortTitleOf, titleOf } from "../model/resources";
import { counted, percent, ranges, signed } from "../model/text";
import { Bar } from "../parts/basics";
import { TableBox } from "../parts/table";

const kSide = 220, kRoom = 34;

function Scatter({ group, marked, onMark }: { group: DecisionGroup; marked: number | null; onMark: (i: number | null) => void }) {
  const at = (value: number) => Math.max(0, Math.min(1, value)) * (kSide - kRoom - 14);
  const x = (candidate: Candidate) => kRoom + at(candidate.s), y = (candidate: Candidate) => kSide - kRoom - at(candidate.q);
  const isTaken = (candidate: Candidate) => group.servers.some((each) => each.server === candidate.server);
  return (
    <svg class="scatter" viewBox={`0 0 ${kSide} ${kSide}`} role="img" aria-label="Candidates by S, to the right, and Q, upwards. The table beside it has the numbers.">
      {[0, 0.5, 1].map((value) => (
        <g class="axis">
          <line x1={kRoom + at(value)} x2={kRoom + at(value)} y1={14} y2={kSide - kRoom} />
          <line x1={kRoom} x2={kSide - 14} y1={kSide - kRoom - at(value)} y2={kSide - kRoom - at(value)} />
          <text x={kRoom + at(value)} y={kSide - kRoom + 14} text-anchor="middle">{value}</text>
          <text x={kRoom - 6} y={kSide - kRoom - at(value) + 4} text-anchor="end">{value}</text>
        </g>
      ))}
      <text class="name" x={kSide - 14} y={kSide - 5} text-anchor="end">S: satisfies →</text>
      <text class="name" x={2} y={9}>↑ Q: fits</text>
      {group.decision.best.map((candidate, i) => (
        <circle class={`${isTaken(candidate) ? "taken" : "left"}${marked === i ? " marked" : ""}`} cx={x(candidate)} cy={y(candidate)} r={marked === i ? 8 : 6}
          onMouseEnter={() => onMark(i)} onMouseLeave={() => onMark(null)}>
          <title>{`${candidate.server}: S ${candidate.s.toFixed(3)}, Q ${candidate.q.toFixed(3)}`}</title>
        </circle>
      ))}
    </svg>
  );
}

function Row({ candidate, isTaken, isMarked, onMark }: { candidate: Candidate; isTaken: boolean; isMarked: boolean; onMark: (is: boolean) => void }) {
  const slack = least(candidate.slack);
  const pressed = greatest(candidate.contention).slice(0, 3);
  return (
    <tr class={isMarked ? "marked" : ""} onMouseEnter={() => onMark(true)} onMouseLeave={() => onMark(false)}
      onFocusCapture={() => onMark(true)} onBlurCapture={() => onMark(false)}>
      <td><Link href={paths.server(candidate.server)}>{candidate.server}</Link>{isTaken && <span class="tag">taken</span>}</td>
      <td class="num">{candidate.s.toFixed(3)}</td>
      <td class="num">{candidate.q.toFixed(3)}</td>
      <td>{behindBy(candidate)}</td>
      <td>{slack === null ? "nobody to hurt" : `${shortTitleOf(slack.resource)} ${signed(slack.value)}`}</td>
      <td>{pressed.length === 0 ? "quiet" : pressed.map((each) => `${shortTitleOf(each.resource)} ${each.value}`).join(", ")}</td>
    </tr>
  );
}

export function CandidatesPicture({ group }: { group: DecisionGroup }) {
  const [marked, setMarked] = useState<number | null>(null);
  const { decision } = group;
  const reasons = turnedDown(decision.dropped);
  const most = Math.max(1, ...reasons.map((each) => each.count));
  return (
    <div class="why">
      <p>
        {group.servers.length > 0
          ? <>{group.tasks.length === 1 ? "Task" : "Tasks"} {ranges(group.tasks)}: placed on {group.servers.map((each, i) => (
              <>{i > 0 && ", "}<Link href={paths.server(each.server)}>{each.server}</Link>{each.tasks.length > 1 && ` (${each.tasks.length})`}</>))}. </>
          : <>{group.tasks.length === 1 ? "Task" : "Tasks"} {ranges(group.tasks)}: no slot was taken. </>}
        {decision.drawn !== null && <>
          {counted(decision.drawn, "free slot")} looked at, {percent(decision.p ?? 0)} of them acceptable; at most {decision.limit} would have been.
          {decision.guarantee !== null && <> Enough acceptable slots, where one in twenty is, are found with a probability of {percent(decision.guarantee)}.</>}
        </>}
      </p>
      <div class="columns">
        {decision.best.length > 0 && <Scatter group={group} marked={marked} onMark={setMarked} />}
        {decision.best.length > 0 && (
          <TableBox label="Candidates">
            <table>
              <thead><tr><th scope="col">Server</th><th scope="col" class="num">S</th><th scope="col" class="num">Q</th><th scope="col">Behind the one above by</th>
                <th scope="col">Neighbours' least slack</th><th scope="col">Contention there</th></tr></thead>
              <tbody>
                {decision.best.map((candidate, i) => (
                  <Row candidate={candidate} isTaken={group.servers.some((each) => each.server === candidate.server)} isMarked={marked === i}
                    onMark={(is) => setMarked(is ? i : null)} />
                ))}
              </tbody>
            </table>
          </TableBox>
        )}
      </div>
      {reasons.length > 0 && <>
        <h3>Turned down</h3>
        <ul class="reasons">
          {reasons.map((each) => <li><Bar parts={[{ value: each.count, tone: "warn" }]} total={most} /><span>{each.why}</span></li>)}
        </ul>
      </>}
      {decision.best.length > 0 && <p class="hint">S is 1 where the task runs undisturbed. Among slots that are good enough the tightest fit, the highest Q, is taken, so that quiet
        servers stay free for those who need them; {titleOf("llc")} and the like are pressures from 0 to 99.</p>}
    </div>
  );
}
