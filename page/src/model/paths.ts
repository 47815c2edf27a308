// Addresses of the page's places. All of them survive a reload and can be sent to others.
const part = encodeURIComponent;

export const paths = {
  overview: "/",
  queue: "/queue",
  jobs: "/jobs",
  job: (job: number | string, view?: JobView) => `/jobs/${part(String(job))}${view && view !== "tasks" ? `/${view}` : ""}`,
  servers: "/servers",
  server: (name: string) => `/servers/${part(name)}`,
  interference: "/interference",
  pair: (application: string, beside: string) => `/interference?application=${part(application)}&beside=${part(beside)}`,
  application: (name: string) => `/applications/${part(name)}`,
  users: "/users",
  settings: "/settings",
  submit: "/submit",
};

export const JOB_VIEWS = ["tasks", "why", "performance", "pressure", "logs", "files"] as const;
export type JobView = (typeof JOB_VIEWS)[number];

// The word of a sign-in address: what stands behind "#"; null where nothing usable does.
export function wordOf(hash: string): string | null {
  const word = hash.replace(/^#/, "");
  return /^[!-~]{8,4096}$/.test(word) ? word : null;
}

// The word in what somebody pasted: a whole address, or the word alone.
export function pastedWord(text: string): string | null {
  const trimmed = text.trim();
  const hash = trimmed.indexOf("#");
  return wordOf(hash >= 0 ? trimmed.slice(hash) : trimmed);
}
