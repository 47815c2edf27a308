// What the page can do to the cluster.
import type { Plan, Replays } from "./types";
import { post } from "./client";
import { refreshAll } from "./cache";

const part = encodeURIComponent;

async function doing<T>(path: string, body?: { json: unknown } | { text: string }): Promise<T> {
  const answer = await post<T>(path, body);
  refreshAll();
  return answer;
}

export type JobVerb = "cancel" | "hold" | "release" | "rerun";
export type ServerVerb = "cordon" | "uncordon" | "drain";

export const steerJob = (job: string, verb: JobVerb) => doing<unknown>(`/jobs/${part(job)}/${verb}`);
export const setPriority = (job: string, priority: number) => doing<unknown>(`/jobs/${part(job)}/priority`, { json: { priority } });
export const steerServer = (name: string, verb: ServerVerb) => doing<unknown>(`/servers/${part(name)}/${verb}`);
export const submitJob = (text: string, isHeld: boolean) =>
  doing<{ job: string; number: number | null }>(`/jobs${isHeld ? "?hold=true" : ""}`, { text });
export const beginReplay = (changes: object) => doing<Replays>("/replay", { json: changes });
export const cancelReplay = () => doing<Replays>("/replay/cancel");
export const planJob = (text: string) => post<Plan>("/plan", { text });
