import type { Item } from './api.ts';
import type { Command, Flag, Given, Operand } from './command.ts';
import { jsonFlag, urlFlag } from './common-flags.ts';

/** A column of a list, for people. */
export interface Column {
  readonly title: string;
  /** What stands in it, as `show` writes values. */
  of(item: Item): unknown;
}

/** Something of the management API that the command line lists, creates and deletes. */
export interface Resource {
  /** The command. */
  readonly name: string;
  readonly one: string;
  readonly many: string;
  /** What each belongs to, a flag that names it: an application, or a team. */
  readonly within?: 'app' | 'team';
  /** The segment of its path. */
  readonly collection: string;
  /** The field that its path ends with. */
  readonly key: string;
  /** Another field that people may call it by. */
  readonly alias?: string;
  readonly columns: readonly Column[];
  /** What a list can be narrowed to: flags named like the parameters of the query. */
  readonly filters?: readonly Flag[];
  readonly create: Creation;
  /** What is lost with it, for the question whether it is to be deleted. */
  readonly loses?: string;
}

/** How one is made. */
export interface Creation {
  readonly operand: Operand;
  readonly flags: readonly Flag[];
  /** The body of the request; what is undefined is left out. */
  body(given: Given, read: BodyReader): object | Promise<object>;
  /** What in the answer is shown this once only. */
  secretOf?(made: Item): string | undefined;
  /** It is put where its name says, in place of what is there. */
  readonly put?: true;
}

/** What a body is made of that is not in the arguments themselves. */
export interface BodyReader {
  /** The first line of the file that a flag names. */
  secretFile(flag: string): string | undefined;
  /** The id of the team that is named so. */
  teamId(named: string): Promise<string>;
}

/** What is done with a resource. */
export type Verb = 'list' | 'create' | 'delete';

/** The commands of a resource. */
export function commandsOf(resource: Resource): Readonly<Record<Verb, Command>> {
  const { name, one, many, create } = resource;
  const where = [...(resource.within ? [withinFlags[resource.within]] : []), urlFlag];
  return {
    list: {
      name: `${name} list`,
      summary: `List all ${many}`,
      flags: [...(resource.filters ?? []), ...where, jsonFlag],
    },
    create: {
      name: `${name} create`,
      summary: `${create.put ? 'Declare' : 'Create'} ${articled(one)}`,
      operand: create.operand,
      flags: [...create.flags, ...where, jsonFlag],
    },
    delete: {
      name: `${name} delete`,
      summary: `Delete ${articled(one)}`,
      operand: { name: one.split(' ').at(-1)!.toUpperCase(), description: handlesOf(resource) },
      flags: [...where, { name: 'yes', description: 'Do not ask whether it is meant' }],
    },
  };
}

const withinFlags: Readonly<Record<NonNullable<Resource['within']>, Flag>> = {
  app: { name: 'app', value: 'APP', description: 'Application: its id or its name', required: true },
  team: {
    name: 'team',
    value: 'TEAM',
    description: 'Team: its id or its name',
    more: 'default: your primary team',
  },
};

/** What it can be called by. */
function handlesOf({ one, key, alias }: Resource): string {
  const keyWord = { id: 'id', clientId: 'client id' }[key] ?? key;
  const aliasWord = alias === 'email' ? 'e-mail address' : alias;
  const words = aliasWord === undefined ? `its ${keyWord}` : `its ${keyWord} or its ${aliasWord}`;
  return `${one[0]?.toUpperCase()}${one.slice(1)}: ${words}`;
}

/** With the article in front. */
export function articled(one: string): string {
  return `${/^[aeio]/i.test(one) ? 'an' : 'a'} ${one}`;
}
