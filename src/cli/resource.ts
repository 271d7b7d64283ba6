import type { Action, Resource } from '../contract/resources/resource.ts';
import { type Option, option, teamOption } from '../contract/shapes/option.ts';
import type { Syntax } from './command.ts';
import { appOption, formatOption, jsonOption, urlOption, yesOption } from './common-options.ts';
import { capital } from './show.ts';

export type Verb = 'list' | 'show' | 'create' | 'update' | 'act' | 'delete';

export interface VerbCommand {
  readonly verb: Verb;
  /** The second word of the command. It is empty for a log, whose only command lists entries. */
  readonly word: string;
  readonly command: Syntax;
  /** The action of the verb `act`. */
  readonly action?: Action;
}

export function createCommands(resource: Resource): readonly VerbCommand[] {
  const { name, one, many, create, update, remove, within, actions = [], sample = '', examples = {} } = resource;
  const isLog = create === undefined;
  const where = [...(within ? [{ app: appOption, team: teamOption }[within]] : []), urlOption];
  const operand = { name: one.split(' ').at(-1)!.toUpperCase(), description: describeHandles(resource) };
  const make = (verb: Verb, word: string, summary: string, more: Omit<Syntax, 'name' | 'summary' | 'examples'>) => {
    const options = [...more.options, ...where, jsonOption];
    const words = examples[word] ?? (more.operand === undefined ? '' : sample);
    const example = [name, word, words].filter((each) => each !== '').join(' ');
    return { verb, word, command: { ...more, name: `${name} ${word}`.trim(), summary, options, examples: [example] } };
  };
  const made = create?.word ?? 'create';
  const removed = remove?.word ?? 'delete';
  const a = articled(one);
  const all = [
    make('list', isLog ? '' : 'list', `List ${isLog ? '' : 'all '}${many}`, { options: listOptions(resource) }),
    create && make('show', 'show', `Show ${a}`, { operand, options: [] }),
    create && make('create', made, `${capital(made)} ${a}`, { operand: create.operand, options: create.fields }),
    update && make('update', 'update', `Change the given fields of ${a}`, { operand, options: update.fields }),
    ...actions.map((action) => ({
      ...make('act', action.word, action.summary, {
        operand,
        options: [...(action.options ?? []), ...(action.fields ?? []), ...(action.overlap ? [yesOption] : [])],
      }),
      action,
    })),
    remove && make('delete', removed, `${capital(removed)} ${a}`, { operand, options: [yesOption] }),
  ];
  return all.filter((each) => each !== undefined);
}

function listOptions({ filters = [], defaultLimit, inRows }: Resource): readonly Option[] {
  if (inRows) return [...filters, formatOption, failIfAnyOption];
  if (defaultLimit === undefined) return filters;
  return [...filters, option('limit N', 'Maximum number of entries', { more: `default: ${defaultLimit}` })];
}

/** An option that makes the command fail if the list is not empty. */
const failIfAnyOption = option('fail-if-any', 'Exit with code 8 if the list is not empty', { excludes: ['format'] });

function describeHandles({ one, key, alias }: Resource): string {
  const keyWord = key === 'clientId' ? 'client id' : key;
  const words = alias === undefined ? keyWord : `${keyWord} or ${alias === 'email' ? 'e-mail address' : alias}`;
  return `${capital(one)}: ${words}`;
}

/** Prefixes a noun with its article. */
export function articled(one: string): string {
  return `${/^[aeio]/i.test(one) ? 'an' : 'a'} ${one}`;
}
