import { type Html, html } from '../auth/browser/pages/html.ts';
import { computeMicros, formatCombination, formatCount, type Measurement, threadRoles } from './measurement.ts';
import { type BenchResult, listFindings } from './result.ts';
import { describeLoad, stageColumns, whole } from './table.ts';

/** Colours of the console, which are distinguishable without red and green. */
const style = `
:root { color-scheme: light dark; --ground: light-dark(#ffffff, #14161c); --raised: light-dark(#f6f7f9, #1c1f27);
  --line: light-dark(#dcdfe6, #323744); --text: light-dark(#1b1f29, #e6e8ee); --quiet: light-dark(#5a6274, #9aa3b5); }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 72rem; padding: 1rem; background: var(--ground); color: var(--text);
  font: 15px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; font-variant-numeric: tabular-nums; }
h1 { font-size: 1.4rem; margin: 0; } h2 { font-size: 1.1rem; margin: 0; } p { margin: .25rem 0; }
header p, figcaption p, .value { color: var(--quiet); }
dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(20rem, 100%), 1fr)); gap: .75rem; }
dl > div, figure { background: var(--raised); border: 1px solid var(--line); border-radius: 6px; padding: .75rem; }
dt { font-weight: 600; overflow-wrap: anywhere; } dd { margin: .25rem 0 0; overflow-wrap: anywhere; }
figure { margin: 1rem 0; }
.row { display: grid; grid-template-columns: 16rem 1fr 11rem; gap: .15rem .75rem; align-items: center; margin-top: .5rem; }
.row svg { width: 100%; height: 1.25rem; background: var(--ground); border-radius: 3px; } .value { text-align: right; }
.legend { display: flex; flex-wrap: wrap; gap: .25rem 1rem; list-style: none; padding: 0; margin: .5rem 0; }
.legend li::before { content: ""; display: inline-block; width: .8em; height: .8em; margin-right: .4em; background: currentColor; }
.legend li { color: var(--tone); } rect { fill: var(--tone); }
.tone-1 { --tone: light-dark(#0072b2, #56b4e9); } .tone-2 { --tone: light-dark(#b35900, #e69f00); }
.tone-3 { --tone: light-dark(#007a5c, #2bc49a); } .tone-4 { --tone: light-dark(#a3457f, #e08bc0); }
.tone-5 { --tone: light-dark(#6b7280, #9aa3b5); }
.scroll { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { padding: .3rem .6rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }
th.text, td.text { text-align: left; }
@media (max-width: 45rem) { .row { grid-template-columns: 1fr auto; } .row svg { grid-column: 1 / -1; grid-row: 2; } }
@media print { :root { color-scheme: light; } figure { break-inside: avoid; } }
`;

/** Returns the report as one HTML page without external resources. */
export function reportHtml(result: BenchResult): string {
  const { machine } = result;
  const memory = `${Math.round(machine.memory / 2 ** 30)} GiB`;
  const about = `${machine.cores} cores (${machine.processor}), ${memory} of memory, flagmeter ${machine.version}`;
  const page = html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>flagmeter bench</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>`;
  const rest = html`</style></head><body>
<header><h1>flagmeter bench</h1><p>${new Date(machine.at).toISOString()}: ${about}</p>
<p>${Object.keys(result.base).length === 0 ? 'A running server' : `Base: ${formatCombination(result.base)}`}</p></header>
<main><dl>${listFindings(result).map(({ title, text }) => html`<div><dt>${title}</dt><dd>${text}</dd></div>`)}</dl>
${createCharts(result).map(chart)}
<figure><figcaption><h2>Stages</h2><p>Generator p99: the generator's own share of the latencies. CPU of threads in µs per packet. Disk figures cover the whole device. Others: cores used by other processes.</p></figcaption>
${stageTable(result)}</figure></main></body></html>
`;
  return page.text + style + rest.text;
}

function createCharts({ measurements, base }: BenchResult): readonly Chart[] {
  const closed = measurements.filter(({ share }) => share === undefined);
  const open = measurements.filter(({ share }) => share !== undefined);
  const label = (each: Measurement) =>
    `${formatCombination(each.combination, base)}, ${formatCount(each.connections, 'connection')} (${each.transport}${each.isDisturbed ? ', disturbed' : ''})`;
  const charts: Chart[] = [
    {
      title: 'Ceiling',
      caption: 'Packets per second in a closed loop: each response is followed by the next packet.',
      kind: 'bars',
      rows: closed.map((each) => ({
        label: label(each),
        value: `${whole(each.packetsPerSecond)}/s`,
        segments: [{ name: 'packets/s', value: each.packetsPerSecond }],
      })),
    },
    {
      title: 'Latency',
      caption:
        'In ms on a logarithmic scale, from the time at which a packet was due (open loop). The last mark is the part of the generator.',
      kind: 'marks',
      rows: open.map((each) => ({
        label: `${formatCombination(each.combination, base)}, ${describeLoad(each)}`,
        value: [each.p50, each.p99, each.p999, each.generatorP99].map((ms) => ms.toFixed(1)).join(' · '),
        segments: [
          { name: 'p50', value: each.p50 },
          { name: 'p99', value: each.p99 },
          { name: 'p99.9', value: each.p999 },
          { name: 'generator p99', value: each.generatorP99 },
        ],
      })),
    },
    {
      title: 'CPU per packet',
      caption: 'In µs by thread of the server, at the ceiling.',
      kind: 'bars',
      rows: closed
        .filter(({ threads }) => threads.length > 0)
        .map((each) => {
          const segments = threadRoles.map((name) => ({ name, value: computeMicros(each, name) }));
          const total = segments.reduce((sum, { value }) => sum + value, 0);
          return { label: label(each), value: `${total.toFixed(1)} µs`, segments };
        }),
    },
  ];
  return charts.filter(({ rows }) => rows.length > 0);
}

function stageTable({ measurements, base }: BenchResult): Html {
  const cell = (isText: true | undefined) => (isText ? 'text' : 'number');
  const head = stageColumns.map(
    ({ title, unit, isText }) =>
      html`<th scope="col" class="${cell(isText)}">${unit === undefined ? title : `${title} ${unit}`}</th>`,
  );
  const rows = measurements.map(
    (each) =>
      html`<tr>${stageColumns.map(({ text, isText }) => html`<td class="${cell(isText)}">${text(each, base)}</td>`)}</tr>
`,
  );
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Stages"><table><thead><tr>${head}</tr></thead><tbody>${rows}</tbody></table></div>`;
}

/** A section of a bar, in the units of its chart. */
export interface Segment {
  readonly name: string;
  readonly value: number;
}

/** One row of a chart: a stacked bar, or marks on an axis. */
export interface Row {
  readonly label: string;
  readonly value: string;
  readonly segments: readonly Segment[];
}

export interface Chart {
  readonly title: string;
  readonly caption: string;
  /** `bars`: sections are stacked from 0 on. `marks`: each section is a mark on a logarithmic axis. */
  readonly kind: 'bars' | 'marks';
  readonly rows: readonly Row[];
}

const width = 1000;
const height = 24;

/** Draws a chart of rows. Labels and values are HTML text, which stays readable on a phone; bars are scaled. */
export function chart({ title, caption, kind, rows }: Chart): Html {
  const names = [...new Set(rows.flatMap(({ segments }) => segments.map(({ name }) => name)))];
  const place = kind === 'bars' ? stackedPlaces(rows) : markPlaces(rows);
  const legend = names.length < 2 ? [] : names.map((name, index) => html`<li class="tone-${index + 1}">${name}</li>`);
  const drawn = rows.map(
    (row) => html`<div class="row"><span class="label">${row.label}</span>
<svg viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" role="img" aria-label="${describe(row)}">${place(
      row,
    ).map(
      ({ segment, x, length }) =>
        html`<rect class="tone-${names.indexOf(segment.name) + 1}" x="${x}" y="2" width="${length}" height="${height - 4}"><title>${segment.name}</title></rect>`,
    )}</svg>
<span class="value">${row.value}</span></div>
`,
  );
  return html`<figure><figcaption><h2>${title}</h2><p>${caption}</p></figcaption>
${legend.length === 0 ? undefined : html`<ul class="legend">${legend}</ul>`}
${drawn}</figure>
`;
}

interface PlacedSegment {
  readonly segment: Segment;
  readonly x: number;
  readonly length: number;
}

type SegmentLayout = (row: Row) => readonly PlacedSegment[];

function stackedPlaces(rows: readonly Row[]): SegmentLayout {
  const most = Math.max(...rows.map(({ segments }) => segments.reduce((sum, { value }) => sum + value, 0)), 1e-9);
  const scale = (value: number) => rounded((value / most) * width);
  return ({ segments }) => {
    let from = 0;
    return segments.map((segment) => {
      const x = scale(from);
      from += segment.value;
      return { segment, x, length: rounded(scale(from) - x) };
    });
  };
}

const markWidth = 10;

function markPlaces(rows: readonly Row[]): SegmentLayout {
  const values = rows.flatMap(({ segments }) => segments.map(({ value }) => value)).filter((value) => value > 0);
  const low = Math.log(Math.min(...values, 1));
  const high = Math.log(Math.max(...values, 10));
  return ({ segments }) =>
    segments.map((segment) => {
      const at = segment.value > 0 ? (Math.log(segment.value) - low) / (high - low) : 0;
      return { segment, x: rounded(at * (width - markWidth)), length: markWidth };
    });
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}

function describe({ label, value, segments }: Row): string {
  const all = segments.map((segment) => `${segment.name} ${segment.value.toFixed(1)}`).join(', ');
  return `${label}: ${value} (${all})`;
}
