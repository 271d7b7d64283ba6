import { type Html, html } from '../auth/pages/html.ts';

/** A part of a bar, in the units of its chart. */
export interface Part {
  readonly name: string;
  readonly value: number;
}

/** One row of a chart: a bar of parts, or marks on an axis. */
export interface Row {
  readonly label: string;
  readonly value: string;
  readonly parts: readonly Part[];
}

export interface Chart {
  readonly title: string;
  readonly caption: string;
  /** `bars`: parts are stacked from 0. `marks`: each part is a mark on a logarithmic axis. */
  readonly kind: 'bars' | 'marks';
  readonly rows: readonly Row[];
}

const width = 1000;
const height = 24;

/** A chart of rows: labels and values are text, so that they stay readable on a phone; the bars stretch. */
export function chart({ title, caption, kind, rows }: Chart): Html {
  const names = [...new Set(rows.flatMap(({ parts }) => parts.map(({ name }) => name)))];
  const place = kind === 'bars' ? stackedPlaces(rows) : markPlaces(rows);
  const legend =
    names.length < 2 ? [] : names.map((name, index) => html`<li class="tone-${index + 1}">${name}</li>`);
  const drawn = rows.map(
    (row) => html`<div class="row"><span class="label">${row.label}</span>
<svg viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" role="img" aria-label="${describe(row)}">${place(
      row,
    ).map(
      ({ part, x, length }) =>
        html`<rect class="tone-${names.indexOf(part.name) + 1}" x="${x}" y="2" width="${length}" height="${height - 4}"><title>${part.name}</title></rect>`,
    )}</svg>
<span class="value">${row.value}</span></div>
`,
  );
  return html`<figure><figcaption><h2>${title}</h2><p>${caption}</p></figcaption>
${legend.length === 0 ? undefined : html`<ul class="legend">${legend}</ul>`}
${drawn}</figure>
`;
}

interface Placed {
  readonly part: Part;
  readonly x: number;
  readonly length: number;
}

type Placing = (row: Row) => readonly Placed[];

function stackedPlaces(rows: readonly Row[]): Placing {
  const most = Math.max(...rows.map(({ parts }) => parts.reduce((sum, { value }) => sum + value, 0)), 1e-9);
  const scale = (value: number) => rounded((value / most) * width);
  return ({ parts }) => {
    let from = 0;
    return parts.map((part) => {
      const x = scale(from);
      from += part.value;
      return { part, x, length: rounded(scale(from) - x) };
    });
  };
}

const markWidth = 10;

function markPlaces(rows: readonly Row[]): Placing {
  const values = rows.flatMap(({ parts }) => parts.map(({ value }) => value)).filter((value) => value > 0);
  const low = Math.log(Math.min(...values, 1));
  const high = Math.log(Math.max(...values, 10));
  return ({ parts }) =>
    parts.map((part) => {
      const at = part.value > 0 ? (Math.log(part.value) - low) / (high - low) : 0;
      return { part, x: rounded(at * (width - markWidth)), length: markWidth };
    });
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}

function describe({ label, value, parts }: Row): string {
  const all = parts.map((part) => `${part.name} ${part.value.toFixed(1)}`).join(', ');
  return `${label}: ${value} (${all})`;
}
