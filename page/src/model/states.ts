// States of jobs, tasks and servers: a sign besides the colour, so that neither is needed alone.
export type Tone = "active" | "good" | "bad" | "warn" | "quiet";

export interface StateLook {
  sign: string;
  tone: Tone;
}

const LOOKS: Record<string, StateLook> = {
  queued: { sign: "◌", tone: "warn" },
  starting: { sign: "◔", tone: "active" },
  running: { sign: "●", tone: "active" },
  done: { sign: "✓", tone: "good" },
  failed: { sign: "✕", tone: "bad" },
  cancelled: { sign: "⊘", tone: "quiet" },
  lost: { sign: "?", tone: "bad" },
  up: { sign: "●", tone: "good" },
  down: { sign: "✕", tone: "bad" },
  cordoned: { sign: "⊘", tone: "warn" },
  draining: { sign: "↘", tone: "warn" },
  drained: { sign: "⊘", tone: "warn" },
  quarantined: { sign: "!", tone: "bad" },
  shielded: { sign: "◇", tone: "warn" },
};

export function lookOf(state: string): StateLook {
  return LOOKS[state] ?? { sign: "·", tone: "quiet" };
}

export const FINAL_STATES: readonly string[] = ["done", "failed", "cancelled", "lost"];

export function isFinal(state: string): boolean {
  return FINAL_STATES.includes(state);
}
