// "Why here": what the decisions of a job say, once for the tasks that one decision placed.
import type { Candidate, Decision } from "../api/types";
import { titleOf } from "./resources";
import { counted } from "./text";

export interface DecisionGroup {
  decision: Decision;
  tasks: number[];
  servers: { server: string; tasks: number[] }[]; // where they were placed
}

export function groupsOf(decisions: Decision[]): DecisionGroup[] {
  const groups = new Map<string, DecisionGroup>();
  for (const each of decisions) {
    if (each.drawn === null && each.best.length === 0) continue;
    const key = each.decision != null ? `n${each.decision}` : `s${each.seed}`;
    let group = groups.get(key);
    if (!group) groups.set(key, (group = { decision: each, tasks: [], servers: [] }));
    group.tasks.push(each.task);
    const server = each.chosen?.server;
    if (server === undefined) continue;
    const there = group.servers.find((known) => known.server === server);
    if (there) there.tasks.push(each.task);
    else group.servers.push({ server, tasks: [each.task] });
  }
  return [...groups.values()];
}

// Why slots or servers were turned down, in words, the most frequent first.
export function turnedDown(dropped: Record<string, number>): { count: number; why: string }[] {
  return Object.entries(dropped)
    .map(([reason, count]) => ({ count, why: wordsOf(reason, count) }))
    .sort((a, b) => b.count - a.count);
}

function wordsOf(reason: string, n: number): string {
  const slots = counted(n, "slot"), servers = counted(n, "server");
  if (reason.startsWith("neighbour:")) return `${slots}: a task already there could not bear it on ${titleOf(reason.slice(10))}`;
  switch (reason) {
    case "constraint": return `${servers} ${n === 1 ? "does" : "do"} not meet its constraints`;
    case "not_enough_free": return `${servers} ${n === 1 ? "has" : "have"} fewer free units than a task needs`;
    case "spread": return `${slots}: placement.spread allows no more of its tasks there`;
    case "quality": return `${slots} below its target`;
    case "taken": return `${slots} good enough until its other tasks took their place`;
    case "memory": return `${slots}: less memory is left than a task claims`;
    case "disk": return `${slots}: less disk is left than a task claims`;
    default: return `${slots}: ${reason.replace(/_/g, " ")}`;
  }
}

// What put a candidate behind the one before it.
export function behindBy(candidate: Candidate): string {
  switch (candidate.after) {
    case "first": case "none": case "": return "best";
    case "standing": return "not acceptable, the one before is";
    case "preferred": return "not preferred by the job";
    case "performance": return "lower expected performance";
    case "q": return "looser fit (Q)";
    case "load": return "another load";
    case "chance": return "as good: chance decided";
    case "contention": return "more contended";
    default: return candidate.after;
  }
}
