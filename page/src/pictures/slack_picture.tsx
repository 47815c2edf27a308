// Servers x resources by the least slack: how much more pressure those who run there tolerate. Servers are columns, so that four and ten
// thousand are read in the same way: where they are too many for the width, several share a column, which shows the least of them.
import { useId, useMemo, useState } from "preact/hooks";
import { useLocation } from "wouter-preact";
import type { ContentionRow } from "../api/types";
import { paths } from "../model/paths";
import { RESOURCES, greatest, shortTitleOf, titleOf } from "../model/resources";
import { SLACK_CLASSES, type SlackOrder, classOfSlack, columnsOf, ordered } from "../model/slack";
import { counted, signed, whole } from "../model/text";
import { CanvasPicture, type Cell, type Colour, hatch, useWidth } from "../parts/canvas";

const kLeft = 70, kTop = 4, kBottom = 22, kLeastColumn = 3, kMostColumn = 150;

export function SlackPicture({ rows: all, order, rowHeight = 24, onZoom }: {
  rows: ContentionRow[]; order: SlackOrder; rowHeight?: number; onZoom?: (rows: ContentionRow[]) => void;
}) {
  const [box, width] = useWidth();
  const [cursor, setCursor] = useState<Cell | null>(null);
  const [, navigate] = useLocation();
  const readout = useId();
  const rows = useMemo(() => ordered(all, order), [all, order]);
  const room = Math.max(1, width - kLeft);
  const columns = useMemo(() => columnsOf(rows, room / kLeastColumn), [rows, room]);
  const step = Math.min(kMostColumn, room / Math.max(1, columns.length));
  const gap = step >= 8 ? 1 : 0;
  const height = kTop + RESOURCES.length * rowHeight + kBottom;

  const draw = (context: CanvasRenderingContext2D, colour: Colour) => {
    context.font = "12px " + colour("font");
    context.textBaseline = "middle";
    RESOURCES.forEach((resource, y) => {
      context.fillStyle = colour("dim");
      context.textAlign = "left";
      context.fillText(shortTitleOf(resource), 0, kTop + (y + 0.5) * rowHeight);
    });
    columns.forEach((column, x) => {
      const left = kLeft + x * step, wide = step - gap;
      RESOURCES.forEach((_, y) => {
        const top = kTop + y * rowHeight, tall = rowHeight - 1, slack = column.slack[y];
        const level = slack === null ? null : classOfSlack(slack);
        context.fillStyle = colour(level === null ? "slack-none" : `slack-${level}`);
        context.fillRect(left, top, wide, tall);
        if (column.isHatched[y]) hatch(context, left, top, wide, tall, colour("hatch"));
        if (slack !== null && step >= 30) {
          context.fillStyle = colour(`slack-ink-${level}`);
          context.textAlign = "center";
          context.fillText(signed(slack), left + wide / 2, top + tall / 2 + 0.5);
        }
      });
      if (step >= 44) {
        context.fillStyle = colour("dim");
        context.textAlign = "center";
        context.fillText(fitted(context, rows[column.first].name, wide - 2), left + wide / 2, height - kBottom / 2 + 2);
      }
    });
    if (step < 44 && columns.length > 0) {
      context.fillStyle = colour("dim");
      context.textAlign = "left";
      context.fillText(order === "slack" ? "least slack first →" : rows[0].name, kLeft, height - kBottom / 2 + 2);
      context.textAlign = "right";
      context.fillText(order === "slack" ? counted(rows.length, "server") : rows[rows.length - 1].name,
        kLeft + columns.length * step, height - kBottom / 2 + 2);
    }
    if (cursor !== null && cursor.x < columns.length) {
      context.strokeStyle = colour("ink");
      context.lineWidth = 2;
      context.strokeRect(kLeft + cursor.x * step - 1, kTop + cursor.y * rowHeight - 1, Math.max(4, step - gap + 2), rowHeight + 1);
    }
  };

  const cellAt = (x: number, y: number): Cell | null => {
    const cell = { x: Math.floor((x - kLeft) / step), y: Math.floor((y - kTop) / rowHeight) };
    return x >= kLeft && cell.x < columns.length && cell.y >= 0 && cell.y < RESOURCES.length ? cell : null;
  };
  const choose = (cell: Cell) => {
    const column = columns[cell.x];
    if (column.last > column.first) return onZoom?.(rows.slice(column.first, column.last + 1));
    const row = rows[column.first];
    const server = row.servers === 1 ? row.name : row.at[RESOURCES[cell.y]];
    if (server) navigate(paths.server(server));
  };

  return (
    <div class="picture" ref={box}>
      {width > 0 && (
        <CanvasPicture
          label={`Least slack of ${counted(rows.length, "server")} by resource.`} size={{ width, height }} columns={columns.length} rows={RESOURCES.length}
          draw={draw} cellAt={cellAt} cursor={cursor} onCursor={setCursor} onChoose={choose} describedBy={readout} />
      )}
      <p class="readout" id={readout} aria-live="polite">
        {cursor === null || cursor.x >= columns.length
          ? "Point at a cell, or use the arrow keys, for its numbers."
          : textOf(rows.slice(columns[cursor.x].first, columns[cursor.x].last + 1), cursor.y)}
      </p>
      <SlackLegend />
    </div>
  );
}

function fitted(context: CanvasRenderingContext2D, text: string, width: number): string {
  if (context.measureText(text).width <= width) return text;
  let end = text.length;
  while (end > 1 && context.measureText("…" + text.slice(-end)).width > width) --end;
  return "…" + text.slice(-end);
}

function textOf(rows: ContentionRow[], y: number): string {
  const resource = RESOURCES[y];
  const lowest = rows.reduce((a, b) => ((b.slack[resource] ?? 100) < (a.slack[resource] ?? 100) ? b : a));
  const slack = lowest.slack[resource];
  const servers = rows.reduce((sum, row) => sum + row.servers, 0);
  const unmeasured = rows.reduce((sum, row) => sum + (row.not_measured[resource] ?? 0), 0);
  const who = servers === 1 ? rows[0].name : `${counted(servers, "server")}, the least on ${lowest.at[resource] ?? lowest.name}`;
  const what = slack == null
    ? `nobody can be hurt through ${titleOf(resource)}`
    : slack < 0
      ? `${titleOf(resource)} ${signed(slack)}: some task has ${-slack} more than it tolerates`
      : `${titleOf(resource)} ${slack}: so much more is tolerated there`;
  const pressure = `pressure ${Math.max(...rows.map((row) => row.contention[resource] ?? 0))} of 99`;
  const free = `${whole(rows.reduce((sum, row) => sum + row.free_units, 0))} of ${whole(rows.reduce((sum, row) => sum + row.units, 0))} units free`;
  const measured = unmeasured === 0 ? "" : servers === 1 ? "; not measured, by profiles alone" : `; on ${unmeasured} not measured`;
  const most = greatest(lowest.contention).slice(0, 2).map((each) => `${shortTitleOf(each.resource)} ${each.value}`).join(", ");
  return `${who} · ${what} · ${pressure}${measured} · ${free}${most === "" ? "" : ` · most contended: ${most}`}`;
}

export function SlackLegend() {
  return (
    <ul class="legend" aria-label="Colours">
      {SLACK_CLASSES.map((each, i) => <li><i class={`swatch slack-${i}`} />{each.label}</li>)}
      <li><i class="swatch slack-none" />nobody can be hurt</li>
      <li><i class="swatch hatched" />not measured</li>
    </ul>
  );
}
