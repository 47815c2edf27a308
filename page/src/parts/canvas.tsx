// A picture on a canvas that fits its box, is drawn anew when data, size or colours change, and has a cursor: under the mouse, or moved with the
// arrow keys once it has the focus.
import { useEffect, useRef, useState } from "preact/hooks";

export interface Cell {
  x: number;
  y: number;
}

export interface Size {
  width: number;
  height: number;
}

export type Colour = (name: string) => string;

// Colours are those of the style sheet, so that light and dark are written once.
export function colours(of: Element): Colour {
  const style = getComputedStyle(of);
  return (name) => style.getPropertyValue(`--${name}`).trim();
}

const schemeWatchers = new Set<() => void>();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => schemeWatchers.forEach((watcher) => watcher()));
export function schemeChanged(): void {
  schemeWatchers.forEach((watcher) => watcher());
}
export function onSchemeChange(watcher: () => void): () => void {
  schemeWatchers.add(watcher);
  return () => void schemeWatchers.delete(watcher);
}

export function useWidth(): [{ current: HTMLDivElement | null }, number] {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry.contentRect.width)));
    observer.observe(box.current as Element);
    return () => observer.disconnect();
  }, []);
  return [box, width];
}

// Diagonal lines over a rectangle.
export function hatch(context: CanvasRenderingContext2D, x: number, y: number, width: number, height: number, colour: string): void {
  context.save();
  context.beginPath();
  context.rect(x, y, width, height);
  context.clip();
  context.strokeStyle = colour;
  context.lineWidth = 1;
  context.beginPath();
  const gap = 6;
  const start = Math.floor((x - height) / gap) * gap;
  for (let at = start; at < x + width; at += gap) {
    context.moveTo(at, y + height);
    context.lineTo(at + height, y);
  }
  context.stroke();
  context.restore();
}

export function CanvasPicture({ label, size, columns, rows, draw, cellAt, cursor, onCursor, onChoose, describedBy }: {
  label: string;
  size: Size;
  columns: number;
  rows: number;
  draw: (context: CanvasRenderingContext2D, colour: Colour) => void;
  cellAt: (x: number, y: number) => Cell | null;
  cursor: Cell | null;
  onCursor: (cell: Cell | null) => void;
  onChoose: (cell: Cell) => void;
  describedBy: string;
}) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [, setScheme] = useState(0);
  useEffect(() => onSchemeChange(() => setScheme((n) => n + 1)), []);
  useEffect(() => {
    const target = canvas.current as HTMLCanvasElement;
    const scale = window.devicePixelRatio || 1;
    target.width = Math.round(size.width * scale);
    target.height = Math.round(size.height * scale);
    const context = target.getContext("2d") as CanvasRenderingContext2D;
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, size.width, size.height);
    draw(context, colours(target));
  });
  const at = (event: MouseEvent) => cellAt(event.offsetX, event.offsetY);
  const onKeyDown = (event: KeyboardEvent) => {
    const from = cursor ?? { x: 0, y: 0 };
    const far = event.shiftKey ? 10 : 1;
    const moves: Record<string, Cell> = {
      ArrowLeft: { x: from.x - far, y: from.y },
      ArrowRight: { x: from.x + far, y: from.y },
      ArrowUp: { x: from.x, y: from.y - 1 },
      ArrowDown: { x: from.x, y: from.y + 1 },
      Home: { x: 0, y: from.y },
      End: { x: columns - 1, y: from.y },
    };
    const move = moves[event.key];
    if (move !== undefined) {
      event.preventDefault();
      onCursor({ x: Math.min(columns - 1, Math.max(0, move.x)), y: Math.min(rows - 1, Math.max(0, move.y)) });
    } else if (event.key === "Enter" && cursor !== null) {
      onChoose(cursor);
    } else if (event.key === "Escape") {
      onCursor(null);
    }
  };
  return (
    <canvas
      ref={canvas} tabIndex={0} role="application" aria-roledescription="picture" aria-label={`${label} Arrow keys move, Enter opens.`}
      aria-describedby={describedBy} style={{ width: `${size.width}px`, height: `${size.height}px` }}
      onMouseMove={(event) => onCursor(at(event))} onMouseLeave={() => onCursor(null)}
      onClick={(event) => { const cell = at(event); if (cell !== null) onChoose(cell); }}
      onKeyDown={onKeyDown} onFocus={(event) => { if (cursor === null && (event.target as Element).matches(":focus-visible")) onCursor({ x: 0, y: 0 }); }}
    />
  );
}
