// Reads server-sent events from text as it comes (HTML Standard, 9.2.6).

export interface ServerEvent {
  id: string | null; // the last that was said, null before any
  type: string;
  data: string;
}

export class EventParser {
  private rest = "";
  private id: string | null = null;
  private type = "";
  private data: string[] = [];

  // The events that are whole now.
  feed(text: string): ServerEvent[] {
    const events: ServerEvent[] = [];
    const lines = (this.rest + text).split(/\r\n|\n|\r(?=.)/);
    this.rest = lines.pop() as string;
    for (const line of lines) {
      const event = this.take(line);
      if (event) events.push(event);
    }
    return events;
  }

  private take(line: string): ServerEvent | null {
    if (line === "") return this.finish();
    if (line.startsWith(":")) return null;
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") this.type = value;
    if (field === "data") this.data.push(value);
    if (field === "id" && !value.includes("\0")) this.id = value;
    return null;
  }

  private finish(): ServerEvent | null {
    const event = this.data.length === 0 ? null : { id: this.id, type: this.type || "message", data: this.data.join("\n") };
    this.type = "";
    this.data = [];
    return event;
  }
}
