// Tables whose rows can be walked through with the arrow keys. Long ones draw only what is in sight.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

export interface ColumnOf<T> {
  title: string;
  cell: (row: T) => ComponentChildren;
  class?: string;
}

function onArrows(event: KeyboardEvent): void {
  if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
  const row = (event.target as Element).closest("tr, [role=row]");
  const other = event.key === "ArrowDown" ? row?.nextElementSibling : row?.previousElementSibling;
  const link = other?.querySelector<HTMLElement>("a, button");
  if (!link) return;
  event.preventDefault();
  link.focus();
}

// Wider than the page it scrolls by itself.
export function TableBox({ label, children }: { label: string; children: ComponentChildren }) {
  return <div class="table" tabIndex={0} role="region" aria-label={label} onKeyDown={onArrows}>{children}</div>;
}

export function Table<T>({ label, columns, rows, keyOf }: {
  label: string; columns: ColumnOf<T>[]; rows: T[]; keyOf: (row: T) => string | number;
}) {
  return (
    <TableBox label={label}>
      <table>
        <thead><tr>{columns.map((column) => <th scope="col" class={column.class}>{column.title}</th>)}</tr></thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>{columns.map((column) => <td class={column.class} data-title={column.title}>{column.cell(row)}</td>)}</tr>
          ))}
        </tbody>
      </table>
    </TableBox>
  );
}

const kBeyond = 8; // rows above and below what is in sight

// Rows of one height. `onEnd` is called when the last is nearly in sight.
export function LongTable<T>({ label, columns, rows, keyOf, rowHeight, onEnd, total }: {
  label: string; columns: ColumnOf<T>[]; rows: T[]; keyOf: (row: T) => string | number; rowHeight: number;
  onEnd?: () => void; total?: number;
}) {
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 600 });
  const look = () => box.current && setView({ top: box.current.scrollTop, height: box.current.clientHeight });
  useEffect(() => {
    look();
    const observer = new ResizeObserver(look);
    observer.observe(box.current as Element);
    return () => observer.disconnect();
  }, []);
  const first = Math.max(0, Math.floor(view.top / rowHeight) - kBeyond);
  const end = Math.min(rows.length, Math.ceil((view.top + view.height) / rowHeight) + kBeyond);
  useEffect(() => {
    if (end > rows.length - 2 * kBeyond) onEnd?.();
  }, [end, rows.length, onEnd]);
  return (
    <div class="long" ref={box} onScroll={look} onKeyDown={onArrows} tabIndex={0} role="region" aria-label={label}>
      <div class="grid" role="table" aria-label={label} aria-rowcount={total ?? rows.length} style={{ height: `${(rows.length + 1) * rowHeight}px` }}>
        <div class="row head" role="row" style={{ height: `${rowHeight}px` }}>
          {columns.map((column) => <div role="columnheader" class={column.class}>{column.title}</div>)}
        </div>
        <div role="rowgroup" class="body" style={{ transform: `translateY(${first * rowHeight}px)` }}>
          {rows.slice(first, end).map((row, i) => (
            <div class="row" role="row" aria-rowindex={first + i + 2} key={keyOf(row)} style={{ height: `${rowHeight}px` }}>
              {columns.map((column) => <div role="cell" class={column.class}>{column.cell(row)}</div>)}
            </div>
          ))}
        </div>
      </div>
    </div>
  );
}
