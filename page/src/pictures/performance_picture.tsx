// A task's performance against what is expected, over time, with every step that was taken for it.
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import type { Timeline } from "../model/performance";
import { fullTime, percent } from "../model/text";
import { colours, onSchemeChange, useWidth } from "../parts/canvas";

const kHeight = 220;

// As drawn: nothing before the first measure, and each up to the next.
function seriesOf(timeline: Timeline): [number[], (number | null)[]] {
  const times = [timeline.began], parts: (number | null)[] = [null];
  for (const measure of timeline.measures) times.push(measure.at), parts.push(100 * measure.part);
  times.push(timeline.now);
  parts.push(parts[parts.length - 1]);
  return [times.map((time) => time / 1000), parts];
}

function timeOfDay(seconds: number): string {
  const text = fullTime(new Date(1000 * seconds).toISOString());
  return text.endsWith(":00") ? text.slice(11, 16) : text.slice(11);
}

export function PerformancePicture({ timeline, deviation }: { timeline: Timeline; deviation: number }) {
  const [box, width] = useWidth();
  const plot = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (width === 0) return;
    const draw = () => {
      const target = plot.current as HTMLDivElement;
      target.replaceChildren();
      const colour = colours(target);
      const axis = { stroke: colour("dim"), grid: { stroke: colour("line"), width: 1 }, ticks: { stroke: colour("line") }, font: "12px " + colour("font") };
      new uPlot({
        width, height: kHeight, legend: { show: false }, cursor: { y: false },
        scales: { y: { range: [0, Math.max(110, ...timeline.measures.map((measure) => 105 * measure.part))] } },
        axes: [{ ...axis, space: 80, values: (_, times) => times.map(timeOfDay) }, { ...axis, values: (_, values) => values.map((value) => `${value} %`) }],
        series: [{}, {
          stroke: colour("accent"), width: 2, paths: uPlot.paths.stepped?.({ align: 1 }), points: { show: false },
        }],
        hooks: { draw: [(chart) => drawExpected(chart, timeline, deviation, colour)] },
      }, seriesOf(timeline), target);
    };
    draw();
    return onSchemeChange(draw);
  }, [width, timeline, deviation]);
  return (
    <div class="picture" ref={box}>
      <div ref={plot} role="img" aria-label={summaryOf(timeline)} />
      <p class="readout">{summaryOf(timeline)}</p>
      {timeline.steps.length > 0 && (
        <ol class="steps">
          {timeline.steps.map((step, i) => <li><b>{i + 1}</b><time>{fullTime(new Date(step.at).toISOString())}</time> {step.text}</li>)}
        </ol>
      )}
    </div>
  );
}

function drawExpected(chart: uPlot, timeline: Timeline, deviation: number, colour: (name: string) => string): void {
  const { ctx: context, bbox } = chart;
  const scale = window.devicePixelRatio || 1;
  const y = (value: number) => chart.valToPos(value, "y", true);
  context.save();
  context.fillStyle = colour("band");
  context.fillRect(bbox.left, y(100), bbox.width, y(100 * (1 - deviation)) - y(100));
  context.strokeStyle = colour("dim");
  context.setLineDash([4 * scale, 4 * scale]);
  context.beginPath();
  context.moveTo(bbox.left, y(100));
  context.lineTo(bbox.left + bbox.width, y(100));
  context.stroke();
  context.setLineDash([]);
  context.font = `${12 * scale}px ${colour("font")}`;
  timeline.steps.forEach((step, i) => {
    const x = chart.valToPos(step.at / 1000, "x", true);
    context.strokeStyle = colour("observed");
    context.beginPath();
    context.moveTo(x, bbox.top);
    context.lineTo(x, bbox.top + bbox.height);
    context.stroke();
    context.fillStyle = colour("observed");
    context.beginPath();
    context.arc(x, bbox.top + bbox.height - 10 * scale, 9 * scale, 0, 2 * Math.PI);
    context.fill();
    context.fillStyle = colour("panel");
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.fillText(String(i + 1), x, bbox.top + bbox.height - 10 * scale);
  });
  context.restore();
}

export function summaryOf(timeline: Timeline): string {
  const steps = timeline.steps.length === 0 ? "No step was taken for it." : timeline.steps.length === 1 ? "One step was taken for it." : `${timeline.steps.length} steps were taken for it.`;
  const last = timeline.measures[timeline.measures.length - 1];
  if (last === undefined) return `No violation is reported, and nothing is measured yet. ${steps}`;
  if (timeline.degradedSince === null) return `It reaches ${percent(last.part)} of what is expected: no violation is reported. ${steps}`;
  return `Since ${fullTime(new Date(timeline.degradedSince).toISOString())} it reaches ${percent(last.part)} of what is expected. ${steps}`;
}
