// The ten shared resources, in the order in which tarcil always names them.
export const RESOURCES = [
  "core", "l1i", "l1d", "l2", "llc", "memory_bandwidth", "memory_capacity", "tlb", "disk_bandwidth", "network_bandwidth",
] as const;

export type Resource = (typeof RESOURCES)[number];

const TITLES: Record<Resource, string> = {
  core: "core",
  l1i: "L1i cache",
  l1d: "L1d cache",
  l2: "L2 cache",
  llc: "last-level cache",
  memory_bandwidth: "memory bandwidth",
  memory_capacity: "memory capacity",
  tlb: "TLB",
  disk_bandwidth: "disk bandwidth",
  network_bandwidth: "network bandwidth",
};

const SHORT: Record<Resource, string> = {
  core: "core", l1i: "L1i", l1d: "L1d", l2: "L2", llc: "LLC",
  memory_bandwidth: "mem bw", memory_capacity: "mem cap", tlb: "TLB", disk_bandwidth: "disk", network_bandwidth: "net",
};

export function titleOf(resource: string): string {
  return TITLES[resource as Resource] ?? resource.replace(/_/g, " ");
}

export function shortTitleOf(resource: string): string {
  return SHORT[resource as Resource] ?? resource;
}

// The resource of the least value that is known, and that value; null where none is.
export function least(values: Partial<Record<Resource, number | null>>): { resource: Resource; value: number } | null {
  let found: { resource: Resource; value: number } | null = null;
  for (const resource of RESOURCES) {
    const value = values[resource];
    if (value != null && (found === null || value < found.value)) found = { resource, value };
  }
  return found;
}

// Those with a value above zero, the greatest first.
export function greatest(values: Partial<Record<Resource, number | null>>): { resource: Resource; value: number }[] {
  return RESOURCES.flatMap((resource) => {
    const value = values[resource];
    return value != null && value > 0 ? [{ resource, value }] : [];
  }).sort((a, b) => b.value - a.value);
}
