/** A sample with its name, labels and value. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const nameForm = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const sampleForm = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/;
const labelForm = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/y;
const unescaped: Readonly<Record<string, string>> = { '\\n': '\n', '\\"': '"', '\\\\': '\\' };

/**
 * Strictly parses Prometheus's text format, version 0.0.4.
 * @throws {Error} at the first invalid line, missing type, or repeated series
 */
export function parseExposition(text: string): { types: Map<string, string>; samples: Sample[] } {
  if (!text.endsWith('\n')) throw new Error('The last line must end with a line feed');
  const types = new Map<string, string>();
  const helped = new Set<string>();
  const samples: Sample[] = [];
  const series = new Set<string>();
  for (const line of text.slice(0, -1).split('\n')) {
    if (line === '') continue;
    const [, kind, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) ?(.*)$/.exec(line) ?? [];
    if (kind !== undefined) {
      const done = kind === 'HELP' ? helped.has(name) : types.has(name);
      if (done || !nameForm.test(name)) throw new Error(`${kind} comes twice or has no name: ${line}`);
      if (kind === 'HELP') helped.add(name);
      else types.set(name, rest);
      continue;
    }
    const sample = parseSample(line);
    if (!types.has(findFamily(sample.name, types))) throw new Error(`No type before ${line}`);
    const key = JSON.stringify([sample.name, Object.entries(sample.labels).sort()]);
    if (series.has(key)) throw new Error(`A series comes twice: ${line}`);
    series.add(key);
    samples.push(sample);
  }
  return { types, samples };
}

/** Returns the name of a sample's metric. For a histogram, it omits the suffix of the sample. */
function findFamily(name: string, types: ReadonlyMap<string, string>): string {
  const base = name.replace(/_(?:bucket|sum|count)$/, '');
  return types.get(base) === 'histogram' ? base : name;
}

function parseSample(line: string): Sample {
  const [, name, labels = '', value] = sampleForm.exec(line) ?? [];
  if (name === undefined || Number.isNaN(Number(value))) throw new Error(`No sample: ${line}`);
  return { name, labels: parseLabels(labels), value: Number(value) };
}

function parseLabels(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  for (let at = 0; at < text.length; at = labelForm.lastIndex) {
    labelForm.lastIndex = at;
    const [, name, value] = labelForm.exec(text) ?? [];
    if (name === undefined || name in labels) throw new Error(`No labels: ${text}`);
    labels[name] = value!.replace(/\\./g, (text) => unescaped[text]!);
  }
  return labels;
}
