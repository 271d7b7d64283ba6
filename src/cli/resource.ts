import type { Api, Item } from './api.ts';
import type { Command, Flag, Given } from './command.ts';
import { appFlag, formatFlag, jsonFlag, teamFlag, urlFlag, yesFlag } from './common-flags.ts';
import { type Field, flag, type OperandField } from './fields.ts';
import type { Naming } from './find.ts';
import { capital } from './show.ts';
import type { Heading } from './table.ts';

export interface Column extends Heading {
  /** The value of a cell, before `show` formats it. */
  of(item: Item): unknown;
}

/** A kind of thing that the command line lists and, unless it is a log, creates, changes and deletes. */
export interface Resource extends Naming {
  /** The command. */
  readonly name: string;
  readonly many: string;
  /** The flag that names its owner: an application or a team. */
  readonly within?: 'app' | 'team';
  /** The segment of its path. */
  readonly collection: string;
  readonly columns: readonly Column[];
  /** What narrows a list: parameters of its query. */
  readonly filters?: readonly Field[];
  /** Whether the list can be had in rows. */
  readonly inRows?: true;
  /** How many items are listed without `--limit`; by default all of them. */
  readonly defaultLimit?: number;
  readonly create?: Creation;
  readonly update?: Change;
  readonly remove?: Removal;
  /** What else can be done with one. */
  readonly actions?: readonly Action[];
}

/** A request below the path of one: a POST, whose answer is shown, or with `columns` a list. */
export interface Action {
  readonly word: string;
  readonly summary: string;
  readonly flags?: readonly Flag[];
  /** The segments behind the path of the one. */
  path(given: Given): readonly string[];
  readonly columns?: readonly Column[];
  /** How many are listed at most. */
  readonly most?: number;
  /** The field of the answer that is shown only once. */
  readonly secret?: string;
}

export interface Creation {
  /** The word of the command; `create` without. */
  readonly word?: string;
  /** Becomes the field `name` of the body, unless it names another one. */
  readonly operand: OperandField;
  /** The operand is the last segment of the path, and the request is a PUT. */
  readonly put?: true;
  readonly fields: readonly Field[];
  /** Refuses what the API would accept. @throws {Failure} */
  check?(api: Api, wanted: Item): Promise<void>;
  /** The field of the answer that is shown only once. */
  secretOf?(made: Item): string | undefined;
}

/** How one is changed. Fields that are not given stay as they are. */
export interface Change {
  readonly fields: readonly Field[];
  /** Refuses what the API would accept. @throws {Failure} */
  check?(api: Api, changes: Item, id: string): Promise<void>;
  /** The request replaces the whole item: these fields are sent unchanged unless they are given. */
  readonly whole?: readonly string[];
}

export interface Removal {
  /** The word of the command; `delete` without. */
  readonly word?: string;
  /** What is lost with it: part of the request for confirmation. */
  readonly loses?: string;
}

export type Verb = 'list' | 'show' | 'create' | 'update' | 'act' | 'delete';

export interface VerbCommand {
  readonly verb: Verb;
  /** The second word of the command; empty for a log, which can only be listed. */
  readonly word: string;
  readonly command: Command;
  /** Of `act`. */
  readonly action?: Action;
}

/** The commands of a resource. */
export function commandsOf(resource: Resource): readonly VerbCommand[] {
  const { name, one, many, create, update, remove, within, actions = [] } = resource;
  const isLog = create === undefined;
  const where = [...(within ? [{ app: appFlag, team: teamFlag }[within]] : []), urlFlag];
  const operand = { name: one.split(' ').at(-1)!.toUpperCase(), description: handlesOf(resource) };
  const make = (verb: Verb, word: string, summary: string, more: Omit<Command, 'name' | 'summary'>) => {
    const flags = [...more.flags, ...where, jsonFlag];
    return { verb, word, command: { ...more, name: `${name} ${word}`.trim(), summary, flags } };
  };
  const made = create?.word ?? 'create';
  const removed = remove?.word ?? 'delete';
  const a = articled(one);
  const all = [
    make('list', isLog ? '' : 'list', `List ${isLog ? '' : 'all '}${many}`, { flags: listFlags(resource) }),
    create && make('show', 'show', `Show ${a}`, { operand, flags: [] }),
    create &&
      make('create', made, `${capital(made)} ${a}`, { operand: create.operand, flags: create.fields }),
    update && make('update', 'update', `Change what is given of ${a}`, { operand, flags: update.fields }),
    ...actions.map((action) => ({
      ...make('act', action.word, action.summary, { operand, flags: action.flags ?? [] }),
      action,
    })),
    remove && make('delete', removed, `${capital(removed)} ${a}`, { operand, flags: [yesFlag] }),
  ];
  return all.filter((each) => each !== undefined);
}

function listFlags({ filters = [], defaultLimit, inRows }: Resource): readonly Flag[] {
  if (inRows) return [...filters, formatFlag, failIfAnyFlag];
  if (defaultLimit === undefined) return filters;
  return [...filters, flag('limit N', 'How many to list at most', { more: `default: ${defaultLimit}` })];
}

/** For pipelines: the exit code tells whether the filters left any. */
const failIfAnyFlag = flag('fail-if-any', 'Exit with 8 if there are any', { excludes: ['format'] });

/** What it can be called by. */
function handlesOf({ one, key, alias }: Resource): string {
  const keyWord = { id: 'id', clientId: 'client id' }[key] ?? key;
  const aliasWord = alias === 'email' ? 'e-mail address' : alias;
  const words = aliasWord === undefined ? `its ${keyWord}` : `its ${keyWord} or its ${aliasWord}`;
  return `${capital(one)}: ${words}`;
}

/** With the article in front. */
export function articled(one: string): string {
  return `${/^[aeio]/i.test(one) ? 'an' : 'a'} ${one}`;
}
