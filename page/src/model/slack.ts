// Servers x resources by least slack: classes of colour, the order of the columns, and how many servers share one of them
// where there are more than fit.
import type { ContentionRow } from "../api/types";
import { RESOURCES, type Resource, least } from "./resources";

// Class 0 is the worst. `below` is exclusive; slack that nothing bounds has no class.
export const SLACK_CLASSES = [
  { below: -9, label: "below −9: tasks suffer" },
  { below: 0, label: "−9 to −1: below target" },
  { below: 10, label: "0 to 9: hardly any" },
  { below: 30, label: "10 to 29" },
  { below: 60, label: "30 to 59" },
  { below: Infinity, label: "60 and more" },
] as const;

export function classOfSlack(slack: number): number {
  return SLACK_CLASSES.findIndex((each) => slack < each.below);
}

export type SlackOrder = "slack" | "name";

function worst(row: ContentionRow): number {
  return least(row.slack)?.value ?? 100;
}

export function ordered(rows: ContentionRow[], order: SlackOrder): ContentionRow[] {
  const byName = (a: ContentionRow, b: ContentionRow) => a.name.localeCompare(b.name, "en", { numeric: true });
  if (order === "name") return [...rows].sort(byName);
  return rows
    .map((row) => ({ row, worst: worst(row) }))
    .sort((a, b) => a.worst - b.worst || byName(a.row, b.row))
    .map((each) => each.row);
}

export interface Column {
  first: number;
  last: number; // rows of the column, both included
  slack: (number | null)[]; // by resource, the least of its rows
  isHatched: boolean[]; // by resource: of some of its rows it is not measured
}

// At most `most` columns for the rows, each with as many of them as the others, or one less.
export function columnsOf(rows: ContentionRow[], most: number): Column[] {
  const count = Math.min(rows.length, Math.max(1, Math.floor(most)));
  return Array.from({ length: count }, (_, i) => {
    const first = Math.floor((i * rows.length) / count);
    const last = Math.floor(((i + 1) * rows.length) / count) - 1;
    const members = rows.slice(first, last + 1);
    return {
      first,
      last,
      slack: RESOURCES.map((resource) =>
        members.reduce<number | null>((lowest, row) => {
          const value = row.slack[resource];
          return value == null ? lowest : lowest === null ? value : Math.min(lowest, value);
        }, null)),
      isHatched: RESOURCES.map((resource) => members.some((row) => (row.not_measured[resource] ?? 0) > 0)),
    };
  });
}

export interface Tightest {
  row: ContentionRow;
  resource: Resource;
  slack: number;
}

// Where a resident is nearest to its target, or furthest below it.
export function tightest(rows: ContentionRow[], most: number): Tightest[] {
  return rows
    .flatMap((row) => {
      const found = least(row.slack);
      return found === null ? [] : [{ row, resource: found.resource, slack: found.value }];
    })
    .sort((a, b) => a.slack - b.slack)
    .slice(0, most);
}
