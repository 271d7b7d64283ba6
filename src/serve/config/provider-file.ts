import { dirname, resolve } from 'node:path';
import Type, { type Static } from 'typebox';
import type { Accounts } from '../../accounts/accounts.ts';
import { completeProvider, maxProviders } from '../../accounts/identity-providers.ts';
import type { ConfiguredProviders } from '../../auth/sso/providers.ts';
import { UsageError } from '../../cli/options.ts';
import { Refusal } from '../../contract/errors.ts';
import { nearestKnown } from '../../contract/nearest.ts';
import { NewIdentityProvider } from '../../contract/shapes/identity-provider.ts';
import { shapeError } from '../../http/json-body.ts';
import type { Clock } from '../../runtime/clock.ts';
import { compiled } from '../../runtime/compiled.ts';
import { readTextFile } from '../../runtime/files.ts';
import type { Log } from '../../runtime/log.ts';
import { type Config, readJsonFile } from './config.ts';

const option = 'identity-providers';

const { clientSecret: _, ...fields } = NewIdentityProvider.properties;

/**
 * An entry of the file. It has the fields of the API, except that a file path replaces the client secret. Unlike an id
 * of the API, its id cannot contain `_`.
 */
const Entry = Type.Object(
  { ...fields, id: Type.String(), clientSecretFile: Type.Optional(Type.String()) },
  { additionalProperties: false },
);
type Entry = Static<typeof Entry>;

const checker = compiled(Entry);

/** @throws {UsageError} with the file, the entry and the field */
export function readProviderFile(
  {
    identityProviders: file,
    issuerAllowPrivate: allowPrivate,
  }: Pick<Config, 'identityProviders' | 'issuerAllowPrivate'>,
  clock: Pick<Clock, 'now'>,
): ConfiguredProviders {
  if (file === undefined) return { file: '', providers: [] };
  const refuse = (why: string) => new UsageError(`Cannot use --${option} ${file}: ${why}`);
  const object = readJsonFile(option, file, readTextFile);
  checkNames('', object, ['providers'], refuse);
  const { providers } = object as { readonly providers?: unknown };
  if (!Array.isArray(providers)) throw refuse('providers must be a list');
  if (providers.length > maxProviders) throw refuse(`providers must have at most ${maxProviders} entries`);
  const now = clock.now();
  const ids = new Set<string>();
  const read = providers.map((value: unknown, number) => {
    const refuseEntry = (why: string) => refuse(`providers[${number}]${showProviderId(value)}${why}`);
    const { id, clientSecretFile, ...wanted } = checkEntry(value, refuseEntry);
    if (!/^[a-z0-9-]{1,40}$/.test(id)) throw refuseEntry('.id must be 1 to 40 lower-case letters, digits and hyphens');
    if (ids.has(id)) throw refuseEntry('.id is used by another entry');
    ids.add(id);
    try {
      const clientSecret = clientSecretFile === undefined ? null : readSecret(resolve(dirname(file), clientSecretFile));
      const settings = completeProvider({ ...wanted, clientSecret }, { allowPrivate });
      return { id, number, ...settings, createdAt: now, updatedAt: now };
    } catch (error) {
      if (!(error instanceof Refusal || error instanceof UsageError)) throw error;
      throw refuseEntry(`: ${error.message.replaceAll('`', '')}`);
    }
  });
  return { file, providers: read };
}

/** Logs rules whose team does not exist. Such rules have no effect. */
export function warnOfUnknownTeams(
  { providers }: ConfiguredProviders,
  { teams }: Pick<Accounts, 'teams'>,
  log: Log,
): void {
  for (const { id, defaultTeam, claimRules } of providers) {
    const named = [...(defaultTeam === null ? [] : [defaultTeam]), ...claimRules.map(({ team }) => team)];
    const missing = [...new Set(named)].filter((team) => !teams.has(team));
    if (missing.length > 0) log.warn(`--${option} names teams that do not exist`, { provider: id, teams: missing });
  }
}

type Refuse = (why: string) => UsageError;

function checkEntry(value: unknown, refuse: Refuse): Entry {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw refuse(' must be an object');
  checkNames('.', value, Object.keys(Entry.properties), refuse);
  if (checker().Check(value)) return value;
  const { message } = shapeError(checker().Errors(value), { describePlace: (pointer) => `: ${pointer.slice(1, 100)}` });
  throw refuse(message.replace(/^The body/, ''));
}

/** Rejects unknown fields, which might be misspellings. */
function checkNames(prefix: string, object: object, known: readonly string[], refuse: Refuse): void {
  const unknown = Object.keys(object).find((name) => !known.includes(name));
  if (unknown !== undefined) throw refuse(`${prefix}${unknown} is unknown${nearestKnown(unknown, known)}`);
}

function showProviderId(value: unknown): string {
  const id = (value as { readonly id?: unknown } | null)?.id;
  return typeof id === 'string' && id !== '' ? ` (${id.slice(0, 40)})` : '';
}

/** @throws {UsageError} if the file cannot be read */
function readSecret(file: string): string {
  try {
    return readTextFile(file).trim();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new UsageError(`clientSecretFile ${file} cannot be read (${code ?? 'error'})`);
  }
}
