import type { Item } from './api.ts';
import type { Command, Flag } from './command.ts';
import { appFlag, jsonFlag, teamFlag, urlFlag } from './common-flags.ts';
import { type Field, flag, type OperandField } from './fields.ts';
import type { Called } from './lookup.ts';
import type { Heading } from './table.ts';

/** A column of a list, for people. */
export interface Column extends Heading {
  /** What stands in it, as `show` writes values. */
  of(item: Item): unknown;
}

/** Something of the management API that the command line lists and, unless it is a log, makes, changes and deletes. */
export interface Resource extends Called {
  /** The command. */
  readonly name: string;
  readonly many: string;
  /** What each belongs to, a flag that names it: an application, or a team. */
  readonly within?: 'app' | 'team';
  /** The segment of its path. */
  readonly collection: string;
  readonly columns: readonly Column[];
  /** What narrows a list: parameters of its query. */
  readonly filters?: readonly Field[];
  /** How many items are listed without `--limit`; all of them without. */
  readonly defaultLimit?: number;
  /** Whether one can be read at a path of its own; else it is found in the list. */
  readonly single?: true;
  readonly create?: Creation;
  readonly update?: Change;
  readonly remove?: Removal;
}

/** How one is made. */
export interface Creation {
  /** The word of the command; `create` without. */
  readonly word?: string;
  /** The field `name` of the body, unless it says another. */
  readonly operand: OperandField;
  /** The operand is the last segment of its path instead, and what is there is replaced. */
  readonly put?: true;
  readonly fields: readonly Field[];
  /** What in the answer is shown this once only. */
  secretOf?(made: Item): string | undefined;
}

/** How one is changed. A field that is not given stays as it is. */
export interface Change {
  readonly fields: readonly Field[];
  /** The request replaces all of it: these fields are sent as they are unless they are changed. */
  readonly whole?: readonly string[];
}

/** How one is deleted. */
export interface Removal {
  /** The word of the command; `delete` without. */
  readonly word?: string;
  /** What is lost with it, for the question whether it is meant. */
  readonly loses?: string;
}

/** What is done with a resource. */
export type Verb = 'list' | 'show' | 'create' | 'update' | 'delete';

/** A command on a resource. */
export interface VerbCommand {
  readonly verb: Verb;
  /** What comes after the name of the resource; empty for a log, which can only be listed. */
  readonly word: string;
  readonly command: Command;
}

/** The commands of a resource. */
export function commandsOf(resource: Resource): readonly VerbCommand[] {
  const { name, one, many, create, update, remove, within } = resource;
  const isLog = create === undefined;
  const where = [...(within ? [{ app: appFlag, team: teamFlag }[within]] : []), urlFlag];
  const operand = { name: one.split(' ').at(-1)!.toUpperCase(), description: handlesOf(resource) };
  const make = (verb: Verb, word: string, summary: string, more: Omit<Command, 'name' | 'summary'>) => {
    const flags = [...more.flags, ...where, jsonFlag];
    return { verb, word, command: { ...more, name: `${name} ${word}`.trim(), summary, flags } };
  };
  const made = create?.word ?? 'create';
  const removed = remove?.word ?? 'delete';
  return [
    make('list', isLog ? '' : 'list', `List ${isLog ? '' : 'all '}${many}`, { flags: listFlags(resource) }),
    ...(isLog ? [] : [make('show', 'show', `Show ${articled(one)}`, { operand, flags: [] })]),
    ...(create
      ? [
          make('create', made, `${capital(made)} ${articled(one)}`, {
            operand: create.operand,
            flags: create.fields,
          }),
        ]
      : []),
    ...(update
      ? [
          make('update', 'update', `Change what is given of ${articled(one)}`, {
            operand,
            flags: update.fields,
          }),
        ]
      : []),
    ...(remove
      ? [make('delete', removed, `${capital(removed)} ${articled(one)}`, { operand, flags: [yesFlag] })]
      : []),
  ];
}

const yesFlag = flag('yes', 'Do not ask for confirmation');

function listFlags({ filters = [], defaultLimit }: Resource): readonly Flag[] {
  if (defaultLimit === undefined) return filters;
  return [...filters, flag('limit N', 'How many to list at most', { more: `default: ${defaultLimit}` })];
}

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

/** With a capital letter. */
export function capital(words: string): string {
  return `${words[0]?.toUpperCase()}${words.slice(1)}`;
}
