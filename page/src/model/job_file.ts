// Job files as the page makes and changes them. YAML is text here: what people wrote stays as they wrote it.
import type { Explanation, JobStatus, Pressures, ServerTask } from "../api/types";
import { RESOURCES } from "./resources";

export const EXAMPLE = `name: hello                     # shown in lists
command: [sh, -c, "echo task $TARCIL_TASK of $TARCIL_TASKS"]
tasks: 2                        # TARCIL_TASK and TARCIL_TASKS tell them apart
rus_per_task: 1                 # resource units: cores with their share of the rest
quality: {target: 0.95}         # a slot is good enough if 95 % of the best speed can be expected there
timeout: 2m
`;

function pressuresOf(values: Pressures, unless: number): string {
  return RESOURCES.filter((resource) => values[resource] !== unless).map((resource) => `${resource}: ${values[resource]}`).join(", ");
}

// What of a job decides where its tasks go, as far as the cluster tells it: enough to plan it again. Commands do not matter for a plan.
export function draftOf(status: JobStatus, explanation: Explanation, there: ServerTask | null): string {
  const units = Math.max(1, ...status.tasks.map((task) => task.rus.length));
  const profile = [`caused: {${pressuresOf(explanation.declared, 0)}}`];
  if (there !== null) profile.push(`tolerated: {${pressuresOf(there.tolerated, 99)}}`);
  return `# What decides where the tasks of job ${status.number ?? status.id} go, as far as the cluster tells.\n` +
    `name: ${JSON.stringify(status.name)}\n` +
    `command: ["true"]               # a plan runs nothing\n` +
    `profile: {${profile.join(", ")}}\n` +
    `tasks: ${status.task_count ?? status.tasks.length}\n` +
    `rus_per_task: ${units}\n` +
    `quality: {target: 0.95}\n`;
}

// The text with a top-level field set, in its place or at the end.
export function withField(text: string, field: string, value: string): string {
  const line = `${field}: ${value}`;
  const pattern = new RegExp(`^${field}:.*$`, "m");
  if (pattern.test(text)) return text.replace(pattern, () => line);
  return text.replace(/\n*$/, "\n") + line + "\n";
}

// The whole number of a top-level field, or null.
export function numberOf(text: string, field: string): number | null {
  const found = new RegExp(`^${field}:\\s*(\\d+)`, "m").exec(text);
  return found ? Number(found[1]) : null;
}
