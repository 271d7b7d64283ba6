import { type Field, type FieldValue, laterForms, type Reading, timeForms } from '../contract/shapes/option.ts';
import type { Api, Item } from './api.ts';
import type { Arguments } from './command.ts';
import type { Context } from './context.ts';
import { environmentIn, findApplication, ownerIn, teamId, userId } from './find.ts';
import { UsageError } from './options.ts';
import { readJsonFile, readSecretFile } from './secret-file.ts';

export class Reader {
  readonly #context: Context;
  readonly #api: Api;
  readonly #application: Item | undefined;

  constructor(context: Context, api: Api, application?: Item) {
    this.#context = context;
    this.#api = api;
    this.#application = application;
  }

  /** @param name name of the option, without dashes @throws {UsageError | Failure} */
  async value(text: string, { as, nullable }: FieldValue, name: string): Promise<unknown> {
    if (nullable && text === (as === 'number' ? 'default' : '')) return null;
    return as === undefined ? text : this.#readings[as](text, name);
  }

  /** Returns the fields whose options were given, and fields with a default. @throws {UsageError | Failure} */
  async fields(fields: readonly Field[], given: Arguments): Promise<Record<string, unknown>> {
    const all: Record<string, unknown> = {};
    for (const field of fields) {
      const { name, many, default: usual } = field;
      const texts = given.has(name) || usual === undefined ? given.all(name) : [usual];
      if (texts.length === 0) continue;
      const values = await Promise.all(texts.map((text) => this.value(text, field, name)));
      all[field.field ?? camelCase(name)] = many ? values : values.at(-1);
    }
    return all;
  }

  readonly #readings: Readonly<Record<Reading, (text: string, name: string) => unknown>> = {
    boolean: (text) => text === 'true',
    number: readNumber,
    time: (text, name) => readTime(text, name, this.#context.clock.now()),
    laterTime: (text, name) => readLaterTime(text, name, this.#context.clock.now()),
    applicationId: async (named) => (await findApplication(this.#api, named))['id'],
    environment: (named) => environmentIn(this.#application ?? {}, named),
    teamId: (named) => teamId(this.#api, named),
    userId: (named) => (named.includes('@') ? userId(this.#api, named) : named),
    owner: (text) => ownerIn(this.#api, text),
    secretFile: (path, name) => readSecretFile(name, path, this.#context),
    jsonFile: (path, name) => readJsonFile(name, path, this.#context),
    underscored: (text) => text.replaceAll('-', '_'),
    none: () => [],
    set: () => true,
  };
}

export function buildQuery(fields: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)]));
}

/** @throws {UsageError} */
function readNumber(text: string, name: string): number {
  if (/^\d{1,10}(\.\d{1,6})?$/.test(text)) return Number(text);
  throw new UsageError(`Cannot use --${name} ${text}: must be a number, or default`);
}

function camelCase(optionName: string): string {
  return optionName.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

const units: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

const date = /^\d{4}-\d\d-\d\d$/;

/** Pattern of a time in RFC 3339 or in the format that tables show. */
const dateTime = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d| UTC)$/i;

/**
 * Reads a duration before now, a day (which stands for its start in UTC), or a time.
 * @param now Unix ms
 * @returns RFC 3339 in UTC
 * @throws {UsageError}
 */
export function readTime(text: string, option: string, now: number): string {
  return readWith(text, option, { now, direction: -1, forms: timeForms });
}

/** Reads a time like `readTime`, but a duration counts from now into the future. @throws {UsageError} */
function readLaterTime(text: string, option: string, now: number): string {
  return readWith(text, option, { now, direction: 1, forms: laterForms });
}

interface TimeReading {
  readonly now: number;
  readonly direction: -1 | 1;
  readonly forms: string;
}

function readWith(text: string, option: string, reading: TimeReading): string {
  const at = parse(text, reading);
  if (at >= 0) return new Date(at).toISOString();
  throw new UsageError(`Cannot use --${option} ${text}: must be a time such as ${reading.forms}`);
}

/** Returns Unix ms; NaN if the text is not a time. */
function parse(text: string, { now, direction }: TimeReading): number {
  const [, count, unit = ''] = /^(\d{1,6})([mhdw])$/.exec(text) ?? [];
  if (count !== undefined) return now + direction * Number(count) * (units[unit] ?? Number.NaN);
  if (text === 'now') return now;
  if (!isDay(text.slice(0, 10))) return Number.NaN;
  if (date.test(text)) return Date.parse(`${text}T00:00:00Z`);
  return dateTime.test(text) ? Date.parse(text.toUpperCase().replace(/ UTC$/, 'Z').replace(' ', 'T')) : Number.NaN;
}

/** True if the text is a day that exists. `Date.parse` does not check this: it reads 30 February as 2 March. */
function isDay(text: string): boolean {
  const at = date.test(text) ? Date.parse(text) : Number.NaN;
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text);
}
