/** Reading the cells of a line. */

const quotedCell = /(?:"((?:[^"]|"")*)"|([^",]*))(,|$)/y;

/** The cells of a line of CSV (RFC 4180); `undefined` if its quotes are wrong. */
export function cellsOf(line: string): readonly string[] | undefined {
  if (!line.includes('"')) return line.split(',');
  const cells: string[] = [];
  quotedCell.lastIndex = 0;
  for (;;) {
    const found = quotedCell.exec(line);
    if (found === null) return undefined;
    const [, quoted, plain = '', end] = found;
    cells.push(quoted?.replaceAll('""', '"') ?? plain);
    if (end === '') return cells;
  }
}

const maxDigits = 16;

/** An integer from 0; -1 if the text is anything else. */
export function wholeOf(text: string): number {
  const { length } = text;
  if (length === 0 || length > maxDigits) return -1;
  let value = 0;
  for (let at = 0; at < length; at += 1) {
    const digit = text.charCodeAt(at) - 48;
    if (digit < 0 || digit > 9) return -1;
    value = value * 10 + digit;
  }
  return Number.isSafeInteger(value) ? value : -1;
}

const numberPattern = /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i;

/** A number as JSON has it; NaN if the text is anything else. */
export function numberOf(text: string): number {
  return numberPattern.test(text) ? Number(text) : Number.NaN;
}

/** RFC 3339, or the format of PostgreSQL. Without an offset, UTC is assumed. */
const timePattern =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(\.\d+)?)?(?:Z|([+-])(\d\d)(?::?(\d\d))?)?)?$/i;

/** Reads times, most of which repeat. */
export class TimeReader {
  readonly #known = new Map<string, number>();
  #lastText = '';
  #last = Number.NaN;

  /** Unix seconds; NaN if the text is not a time. */
  read(text: string): number {
    if (text === this.#lastText) return this.#last;
    this.#last = this.#known.get(text) ?? this.#add(text);
    this.#lastText = text;
    return this.#last;
  }

  #add(text: string): number {
    const at = Math.floor(timeOf(text) / 1000);
    if (this.#known.size >= maxTimes) this.#known.clear();
    this.#known.set(text, at);
    return at;
  }
}

const maxTimes = 10_000;

/** Unix ms; NaN if the text is not a time. */
export function timeOf(text: string): number {
  const found = timePattern.exec(text);
  if (found === null) return Number.NaN;
  const [year, month, day, hour = '0', minute = '0', second = '0', fraction = '.0'] = found.slice(1);
  const [sign, offsetHour = '0', offsetMinute = '0'] = found.slice(8);
  const date = Date.UTC(Number(year), Number(month) - 1, Number(day));
  const isDay = new Date(date).toISOString().startsWith(text.slice(0, 10));
  if (!isDay || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60) return Number.NaN;
  const offset = (sign === '-' ? -60 : 60) * (Number(offsetHour) * 60 + Number(offsetMinute));
  const seconds = Number(hour) * 3600 + Number(minute) * 60 + Number(second) - offset;
  const at = date + seconds * 1000 + Number(fraction.slice(1, 4).padEnd(3, '0'));
  return at >= 0 ? at : Number.NaN;
}
