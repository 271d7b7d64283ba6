import type { Field, FieldValue, Reading } from '../contract/shapes/option.ts';
import type { Api } from './api.ts';
import type { Given } from './command.ts';
import type { Context } from './context.ts';
import { findApplication, ownerIn, teamId, userId } from './find.ts';
import { UsageError } from './flags.ts';
import { readJsonFile, readSecretFile } from './secret-file.ts';
import { readLaterTime, readTime } from './time.ts';

/** Reads the values of fields. */
export class Reader {
  readonly #context: Context;
  readonly #api: Api;

  constructor(context: Context, api: Api) {
    this.#context = context;
    this.#api = api;
  }

  /** @param name of the flag, without dashes @throws {UsageError | Failure} */
  async value(text: string, { as, nullable }: FieldValue, name: string): Promise<unknown> {
    if (nullable && text === (as === 'number' ? 'default' : '')) return null;
    return as === undefined ? text : this.#readings[as](text, name);
  }

  /**
   * The fields of a request by their names: those whose flags were given, and those with a default.
   * @throws {UsageError | Failure}
   */
  async fields(fields: readonly Field[], given: Given): Promise<Record<string, unknown>> {
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

/** The fields of a request as the parameters of its query. */
export function queryOf(fields: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)]));
}

/** @throws {UsageError} */
function readNumber(text: string, name: string): number {
  if (/^\d{1,10}(\.\d{1,6})?$/.test(text)) return Number(text);
  throw new UsageError(`Cannot use --${name} ${text}: must be a number, or default`);
}

function camelCase(flagName: string): string {
  return flagName.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
