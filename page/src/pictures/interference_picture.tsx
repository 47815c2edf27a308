// Application x application: a row suffers, a column causes it. The fill is what profiles predict that a task of the row loses beside one of the
// column; the dot is what was observed.
import { useId, useMemo, useState } from "preact/hooks";
import type { Interference, InterferencePair } from "../api/types";
import { LOSS_CLASSES, classOfLoss, matrixOf, observedLoss, predictedLoss, sentenceOf } from "../model/interference";
import { percent } from "../model/text";
import { CanvasPicture, type Cell, type Colour, useWidth } from "../parts/canvas";

const kMostCell = 52, kLeastCell = 12;
const kReadable = 34; // a cell of so many pixels has its number in it, and the dot in a corner

export function InterferencePicture({ data, order, chosen, onChoose }: {
  data: Interference; order: "tasks" | "suffers" | "name"; chosen: InterferencePair | null; onChoose: (pair: InterferencePair) => void;
}) {
  const [box, width] = useWidth();
  const [cursor, setCursor] = useState<Cell | null>(null);
  const readout = useId();
  const matrix = useMemo(() => matrixOf(data, order), [data, order]);
  const n = matrix.names.length;
  const longest = Math.min(16, Math.max(4, ...matrix.names.map((name) => name.length)));
  const left = Math.max(132, longest * 7 + 12), top = longest * 5.2 + 16;
  const step = Math.max(kLeastCell, Math.min(kMostCell, Math.floor((width - left - 40) / Math.max(1, n))));
  const size = { width: Math.max(width, left + n * step + 40), height: top + n * step + 4 };

  const draw = (context: CanvasRenderingContext2D, colour: Colour) => {
    context.font = "12px " + colour("font");
    context.textBaseline = "middle";
    context.fillStyle = colour("dim");
    context.textAlign = "right";
    context.fillText("suffers ↓  beside →", left - 8, top - 10);
    matrix.names.forEach((name, i) => {
      const isMarked = cursor !== null && (cursor.y === i || cursor.x === i);
      context.fillStyle = colour(isMarked && cursor?.y === i ? "ink" : "dim");
      context.textAlign = "right";
      context.fillText(short(name), left - 8, top + (i + 0.5) * step);
      context.save();
      context.translate(left + (i + 0.5) * step, top - 8);
      context.rotate(-Math.PI / 4);
      context.fillStyle = colour(isMarked && cursor?.x === i ? "ink" : "dim");
      context.textAlign = "left";
      context.fillText(short(name), 0, 0);
      context.restore();
    });
    for (let y = 0; y < n; ++y) {
      for (let x = 0; x < n; ++x) {
        const pair = matrix.at(y, x);
        const loss = pair === null ? 0 : predictedLoss(pair), level = classOfLoss(loss);
        const at = { x: left + x * step, y: top + y * step };
        context.fillStyle = colour(`loss-${level}`);
        context.fillRect(at.x, at.y, step - 1, step - 1);
        const seen = pair === null ? 0 : observedLoss(pair);
        if (step >= kReadable && loss > 0) {
          context.fillStyle = colour(`loss-ink-${level}`);
          context.textAlign = "center";
          context.fillText(percent(loss).replace(" ", ""), at.x + step / 2, at.y + (pair?.observed ? 0.68 : 0.5) * step);
        }
        if (pair !== null && pair.observed !== null) dot(context, at, step, seen, colour);
        if (chosen !== null && pair !== null && chosen.application === pair.application && chosen.beside === pair.beside) {
          context.strokeStyle = colour("accent");
          context.lineWidth = 2;
          context.strokeRect(at.x, at.y, step - 1, step - 1);
        }
      }
    }
    if (cursor !== null && cursor.x < n && cursor.y < n) {
      context.strokeStyle = colour("ink");
      context.lineWidth = 2;
      context.strokeRect(left + cursor.x * step - 1, top + cursor.y * step - 1, step + 1, step + 1);
    }
  };
  const cellAt = (x: number, y: number): Cell | null => {
    const cell = { x: Math.floor((x - left) / step), y: Math.floor((y - top) / step) };
    return x >= left && y >= top && cell.x < n && cell.y < n ? cell : null;
  };
  const under = cursor !== null && cursor.x < n && cursor.y < n ? matrix.at(cursor.y, cursor.x) : null;
  return (
    <div class="picture">
      <div class="sideways" ref={box} tabIndex={0} role="region" aria-label="Application by application">
        {width > 0 && (
          <CanvasPicture
            label={`What each of ${n} applications loses beside each. Rows suffer, columns cause it.`} size={size} columns={n} rows={n} draw={draw}
            cellAt={cellAt} cursor={cursor} onCursor={setCursor} describedBy={readout}
            onChoose={(cell) => { const pair = matrix.at(cell.y, cell.x); if (pair !== null) onChoose(pair); }} />
        )}
      </div>
      <p class="readout" id={readout} aria-live="polite">
        {under === null ? "A row suffers from a column. Point at a cell, or use the arrow keys; choose it for the tasks." : sentenceOf(under)}
      </p>
      <ul class="legend" aria-label="Colours">
        <li><i class="swatch loss-0" />loses nothing</li>
        {LOSS_CLASSES.map((bound, i) => (
          <li><i class={`swatch loss-${i + 1}`} />
            {i + 1 === LOSS_CLASSES.length ? `${percent(bound)} and more` : `${i === 0 ? "up" : percent(bound)} to ${percent(LOSS_CLASSES[i + 1])}`}</li>
        ))}
        <li><i class="swatch observed" />observed: the larger, the more is lost</li>
      </ul>
    </div>
  );
}

function short(name: string): string {
  return name.length > 16 ? name.slice(0, 15) + "…" : name;
}

function dot(context: CanvasRenderingContext2D, cell: Cell, step: number, loss: number, colour: Colour): void {
  const isInCorner = step >= kReadable;
  const most = isInCorner ? step / 5 : step / 2 - 3;
  const radius = Math.max(2.5, most * Math.sqrt(Math.min(1, loss / 0.6)));
  const [x, y] = isInCorner ? [cell.x + step - 3 - most, cell.y + 2 + most] : [cell.x + (step - 1) / 2, cell.y + (step - 1) / 2];
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.fillStyle = colour("observed");
  context.fill();
  context.lineWidth = 1.5;
  context.strokeStyle = colour("panel");
  context.stroke();
}
