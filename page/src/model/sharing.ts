// The tile: how many tasks perform as their jobs expect, and what sharing servers is worth.
import type { Sharing } from "../api/types";

export interface SharingFigures {
  atTarget: number; // share of running tasks that no violation is reported of; 1 where none runs
  gained: number; // units that whole servers for each job would have taken besides those in use
}

export function figuresOf(sharing: Sharing): SharingFigures {
  return {
    atTarget: sharing.tasks === 0 ? 1 : Math.max(0, sharing.tasks - sharing.degraded) / sharing.tasks,
    gained: Math.max(0, sharing.units_alone - sharing.units_used),
  };
}
