// Numbers, times and counts as people read them.

export function counted(n: number, word: string, many = word + "s"): string {
  return `${whole(n)} ${n === 1 ? word : many}`;
}

export function whole(n: number): string {
  return Math.round(n).toLocaleString("en-GB");
}

// A share in [0, 1] as a percentage: "97 %", "99.95 %" where that is what tells it from all.
export function percent(share: number): string {
  const value = share * 100;
  const digits = value > 99 && value < 100 ? 2 : value > 0 && value < 1 ? 1 : 0;
  return `${Number(value.toFixed(digits))} %`;
}

// A slack or another signed whole number, with a real minus sign.
export function signed(n: number): string {
  return n < 0 ? `−${-n}` : String(n);
}

export function bytes(n: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let value = n, unit = 0;
  while (value >= 1024 && unit < units.length - 1) value /= 1024, ++unit;
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

// "4 s", "12 min", "3 h", "2 d".
export function duration(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) {
    const minutes = Math.floor((seconds % 3600) / 60);
    return `${Math.floor(seconds / 3600)} h${minutes > 0 && seconds < 36_000 ? ` ${minutes} min` : ""}`;
  }
  return `${Math.floor(seconds / 86_400)} d`;
}

// "3 min ago", "in 3 min", "now"; nothing for no time.
export function relative(time: string | null, now: number): string {
  if (time === null) return "";
  const away = Date.parse(time) - now;
  if (Math.abs(away) < 1000) return "now";
  return away < 0 ? `${duration(-away)} ago` : `in ${duration(away)}`;
}

// A time in full, by the reader's clock.
export function fullTime(time: string): string {
  const at = new Date(time);
  const two = (n: number) => String(n).padStart(2, "0");
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ` +
    `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

// Indices in few words: [0, 1, 2, 5] is "0-2, 5".
export function ranges(indices: number[]): string {
  const sorted = [...indices].sort((a, b) => a - b);
  const parts: string[] = [];
  for (let i = 0; i < sorted.length; ++i) {
    const first = sorted[i];
    while (i + 1 < sorted.length && sorted[i + 1] === sorted[i] + 1) ++i;
    parts.push(first === sorted[i] ? String(first) : `${first}-${sorted[i]}`);
  }
  return parts.join(", ");
}

// A number in the unit of a metric, with three digits that count: 1.2e9 is "1.2 G".
export function metricValue(value: number): string {
  const steps: [number, string][] = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];
  for (const [size, letter] of steps) if (Math.abs(value) >= size) return `${Number((value / size).toPrecision(3))} ${letter}`;
  return String(Number(value.toPrecision(3)));
}

// Text of a terminal without its colours and cursor movements.
export function withoutEscapes(text: string): string {
  return text.replace(/\u001b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\-_])/g, "").replace(/\r(?!\n)/g, "\n");
}
