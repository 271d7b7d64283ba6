import type { Outcome } from './outcome.ts';
import type { Spread } from './recommendation.ts';
import type { Combination } from './sweep.ts';
import { whole } from './table.ts';

/** A conclusion, with its heading. */
export interface Finding {
  readonly title: string;
  readonly text: string;
}

/** The conclusions of an outcome in words, the most important first. */
export function findingsOf(outcome: Outcome): readonly Finding[] {
  const { recommendation, bottleneck, sustained, saving, exact, notes, measurements } = outcome;
  const findings: Finding[] = [];
  if (recommendation !== undefined) {
    const { settings, reason, base, chosen } = recommendation;
    const flags = flagsOf(settings);
    const candidateName = flags === '' ? 'Best of the sweep' : 'Recommended';
    const spreads = [
      `Base: ${spreadText(base)}.`,
      ...(chosen ? [`${candidateName}: ${spreadText(chosen)}.`] : []),
    ];
    const title = flags === '' ? 'Keep the base settings' : `Use ${flags}`;
    findings.push({ title, text: [reason, ...spreads].join(' ') });
  }
  if (saving !== undefined)
    findings.push({ title: `Fewer writes: ${flagsOf(saving.settings)}`, text: saving.reason });
  if (bottleneck !== undefined)
    findings.push({
      title: `Bottleneck: ${bottleneck.limit}`,
      text: `${bottleneck.reason} ${bottleneck.remedy}`,
    });
  if (sustained !== undefined) {
    const disk =
      sustained.bytesPerDay === undefined
        ? ''
        : ` A day of it writes ${bytesText(sustained.bytesPerDay)} to the disk.`;
    const { share, p99, generatorP99 } = sustained;
    const own = `Delays of the generator itself are not included (99th percentile ${generatorP99.toFixed(1)} ms).`;
    const text = `The highest offered rate that was answered in full, ${Math.round(share * 100)} % of the ceiling, with 99 % of responses within ${p99.toFixed(1)} ms. ${own}${disk}`;
    findings.push({ title: `Sustained: ${whole(sustained.packetsPerSecond)} packets/s`, text });
  }
  if (measurements.length > 0 && exact)
    findings.push({ title: 'Exact', text: 'Every acknowledged packet is in the usage report, once.' });
  return [...findings, ...notes.map((text) => ({ title: 'Note', text }))];
}

/** The settings as flags of `serve`. */
export function flagsOf(settings: Combination): string {
  return Object.entries(settings)
    .map(([name, value]) => `--${name} ${value}`)
    .join(' ');
}

function spreadText({ median, lowest, highest, count }: Spread): string {
  if (count === 0) return 'no sound stage';
  if (count === 1) return `${whole(median)} packets/s, measured once`;
  return `${whole(median)} packets/s (${whole(lowest)} to ${whole(highest)} in ${count} stages)`;
}

/** Decimal units, as of disks and their endurance. */
function bytesText(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];
  const step = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)));
  return `${(bytes / 1000 ** step).toPrecision(3)} ${units[step]}`;
}
