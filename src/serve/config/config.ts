import { statSync } from 'node:fs';
import { type ParseError, parse as parseJson, printParseErrorCode } from 'jsonc-parser';
import Value from 'typebox/value';
import { type KnownOption, readOptions, UsageError } from '../../cli/options.ts';
import { clientVariables } from '../../contract/client-variables.ts';
import { type Setting, type SettingNames, type Settings, settings } from '../../contract/config-schema.ts';
import { nearestKnown } from '../../contract/nearest.ts';
import { readNetworks } from '../../runtime/addresses.ts';
import { usableCores } from '../../runtime/cores.ts';
import { explainFileError } from '../../runtime/files.ts';
import type { Log } from '../../runtime/log.ts';
import { parseSize, showSize } from '../../runtime/size.ts';

/** The settings of the server, checked and frozen. */
export type Config = Readonly<Settings & { burst: number; threads: number }>;

/** Sources of settings. Tests pass their own sources. */
export interface ConfigSources {
  /** The options of the command line, without the command's name. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly readFile: (path: string) => string;
  readonly cores?: number;
}

/** @param by source of the setting, for messages; empty for an option */
interface GivenSetting {
  readonly raw: unknown;
  readonly by: string;
}
type Layer = Map<keyof Settings, GivenSetting>;
type CheckedSettings = Map<keyof Settings, GivenSetting & { readonly value: string | number | boolean }>;

const prefix = 'FLAGMETER_';
const passedOver: ReadonlySet<string> = new Set(Object.values(clientVariables));

/**
 * Settings whose value is a secret or the path of a file with a secret. Users confuse the two, so messages never show
 * the value.
 */
const mayBeSecret: ReadonlySet<keyof Settings> = new Set([
  ...(['tlsCert', 'tlsKey'] as const),
  ...(['postgres', 'postgresFile', 'postgresKeyFile', 'backupKeyFile'] as const),
]);

const isSwitch = ({ schema }: Setting) => schema.type === 'boolean';

const options: readonly KnownOption[] = settings.map(({ option: name, formerly, schema: { value } }) => ({
  name,
  ...(value && { value }),
  ...(formerly && { formerly: formerly.option }),
}));

/**
 * Loads the settings. Options override environment variables, which override the `--config` file, which overrides the
 * defaults.
 * @throws {UsageError} with the setting, its source and the valid values
 */
export function loadConfig({ argv, env, readFile, cores = usableCores() }: ConfigSources): Config {
  const named = fromOptions(argv);
  const variables = fromEnvironment(env);
  const path = (named.get('config') ?? variables.get('config'))?.raw;
  const file: Layer = typeof path === 'string' ? fromFile(path, readFile) : new Map();
  const checked: CheckedSettings = new Map();
  for (const setting of settings) {
    const given = named.get(setting.key) ?? variables.get(setting.key) ?? file.get(setting.key);
    const chosen = given ?? { raw: setting.schema.default, by: 'the default' };
    if (chosen.raw !== undefined) checked.set(setting.key, { ...chosen, value: check(setting, chosen) });
  }
  const derived = { burst: 2 * number(checked, 'rate'), threads: threadsFor(cores, checked) };
  for (const key of ['burst', 'threads'] as const)
    if (!checked.has(key)) checked.set(key, { raw: derived[key], value: derived[key], by: 'the default' });
  readPostgresFile(checked, readFile);
  checkRelations(checked);
  return Object.freeze(Object.fromEntries([...checked].map(([key, { value }]) => [key, value]))) as Config;
}

/**
 * Returns the number of front-end threads, which serve only a separate listener of the metrics host. They handle
 * packets, and forward other requests to the main thread. Forwarding lowers the rate of other requests by up to a
 * third. Each thread needs a core that the main thread and the journal do not use.
 */
function threadsFor(cores: number, checked: CheckedSettings): number {
  return isMetricsAlone(checked) && cores > 3 ? Math.floor(cores / 2) : 0;
}

function isMetricsAlone(checked: CheckedSettings): boolean {
  return checked.has('metricsListen') || (checked.has('authListen') && checked.has('apiListen'));
}

/** Reads the URL in the file of `--postgres-file` into the setting `postgres`. */
function readPostgresFile(checked: CheckedSettings, readFile: ConfigSources['readFile']): void {
  const path = checked.get('postgresFile');
  if (path === undefined) return;
  if (checked.has('postgres')) throw blame(checked, 'postgresFile', 'leave out --postgres then');
  let raw: string;
  try {
    raw = readFile(String(path.value)).trim();
  } catch (error) {
    throw blame(checked, 'postgresFile', `cannot be read (${(error as NodeJS.ErrnoException).code ?? 'error'})`);
  }
  const setting = getSetting('postgres');
  if (!Value.Check(setting.schema, raw)) throw blame(checked, 'postgresFile', `its text must ${must(setting)}`);
  checked.set('postgres', { raw, value: raw, by: 'from --postgres-file' });
}

function fromOptions(argv: readonly string[]): Layer {
  const found = readOptions(argv, options);
  const layer: Layer = new Map();
  for (const setting of settings) {
    const raw = isSwitch(setting) ? true : found.get(setting.option);
    if (found.has(setting.option)) layer.set(setting.key, { raw, by: '' });
  }
  return layer;
}

/**
 * Variables that Kubernetes sets in every pod for a Service whose name starts with `flagmeter`: `FLAGMETER_PORT`,
 * `FLAGMETER_GRPC_SERVICE_HOST`, `FLAGMETER_PORT_8080_TCP_ADDR` and so on. No setting has a name of this form.
 */
const serviceLink =
  /^FLAGMETER_(\w+_)?(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$/;

export function serviceLinksIn(env: ConfigSources['env']): readonly string[] {
  return Object.keys(env).filter(isServiceLink);
}

function isServiceLink(name: string): boolean {
  return serviceLink.test(name) && !settings.some(({ variable }) => variable === name);
}

/** Reads the environment. Ignores empty variables, because a compose file sets an omitted setting to an empty text. */
function fromEnvironment(env: ConfigSources['env']): Layer {
  const layer: Layer = new Map();
  for (const [name, raw] of Object.entries(env)) {
    if (!name.startsWith(prefix) || passedOver.has(name) || isServiceLink(name)) continue;
    const setting = settingWith('variable', name);
    if (setting === undefined) {
      const known = settings.map(({ variable }) => variable.slice(prefix.length));
      const meant = nearestKnown(name.slice(prefix.length), known, prefix);
      throw new UsageError(`Unknown environment variable ${name}${meant}`);
    }
    if (raw !== undefined && raw !== '') layer.set(setting.key, { raw, by: `from ${name}` });
  }
  return layer;
}

function fromFile(path: string, readFile: ConfigSources['readFile']): Layer {
  const keys = settings.map(({ key }) => key).filter((key) => key !== 'config');
  const layer: Layer = new Map();
  for (const [name, raw] of Object.entries(readJsonFile('config', path, readFile))) {
    const key = (settingWith('key', name) ?? settingWith('option', name))?.key;
    if (key === undefined || key === 'config') {
      throw new UsageError(`Unknown key ${name} in ${path}${nearestKnown(name, keys)}`);
    }
    if (layer.has(key)) throw new UsageError(`Cannot use ${path}: duplicate key ${key}`);
    layer.set(key, { raw, by: `from ${path}` });
  }
  return layer;
}

function check(setting: Setting, given: GivenSetting): string | number | boolean {
  const value = parse(setting, given.raw);
  if (!Value.Check(setting.schema, value)) throw cannot(setting.key, given, `must ${must(setting)}`);
  return value as string | number | boolean;
}

function parse({ schema }: Setting, raw: unknown): unknown {
  if (schema.type === 'integer') return parseSize(raw, schema.size === true);
  if (schema.type === 'boolean') return raw === 'true' || (raw === 'false' ? false : raw);
  return raw;
}

function must({ schema }: Setting): string {
  if (schema.must !== undefined) return schema.must;
  const { minimum = 0, maximum = Number.MAX_SAFE_INTEGER } = schema;
  const unit = schema.size ? ' bytes, or end in KiB, MiB or GiB' : '';
  return maximum < Number.MAX_SAFE_INTEGER
    ? `be a whole number from ${minimum} to ${maximum}${unit}`
    : `be a whole number, at least ${minimum}${unit}`;
}

/** Checks relations between two settings. */
function checkRelations(checked: CheckedSettings): void {
  const relations = [
    ['queueLowPackets', 'below', 'queueHighPackets'],
    ['queueLowBytes', 'below', 'queueHighBytes'],
    ['queueLowAge', 'below', 'queueHighAge'],
    ['batchPackets', 'at most', 'queueHighPackets'],
    ['commitDelay', 'below', 'queueHighAge'],
    ['maxBody', 'at most', 'queueHighBytes'],
    ['maxReport', 'at most', 'queueHighBytes'],
    ['maxBody', 'at most', 'bodyBudget'],
    ['maxReport', 'at most', 'bodyBudget'],
    ['keepHours', 'at most', 'keepDays'],
  ] as const;
  for (const [key, relation, bound] of relations) {
    const room = number(checked, bound) - number(checked, key);
    if (room < (relation === 'below' ? 1 : 0)) {
      throw blame(checked, key, `must be ${relation} --${getOptionName(bound)}, which is ${shown(checked, bound)}`);
    }
  }
  if (number(checked, 'keepMinutes') > 24 * number(checked, 'keepHours')) {
    const bound = `24 times --keep-hours, which is ${shown(checked, 'keepHours')}`;
    throw blame(checked, 'keepMinutes', `must be at most ${bound}`);
  }
  if (number(checked, 'rate') > 0 && number(checked, 'burst') < 1) {
    throw blame(checked, 'burst', `must be at least 1 while --rate is ${shown(checked, 'rate')}`);
  }
  if (checked.has('postgres') && number(checked, 'workers') > 1)
    throw blame(checked, 'workers', 'must be 1 with --postgres: one thread counts and another applies the log');
  if (number(checked, 'threads') > 0 && !isMetricsAlone(checked))
    throw blame(
      checked,
      'threads',
      'needs --metrics-listen too: front-end threads accept the connections of the metrics host only',
    );
  if (checked.has('tlsCert') && !checked.has('tlsKey')) throw blame(checked, 'tlsCert', 'needs --tls-key too');
  if (checked.has('tlsKey') && !checked.has('tlsCert')) throw blame(checked, 'tlsKey', 'needs --tls-cert too');
  checkBackup(checked);
  checkProxies(checked);
}

function checkProxies(checked: CheckedSettings): void {
  if (!checked.has('trustedProxies')) return;
  try {
    readNetworks(shown(checked, 'trustedProxies'));
  } catch (error) {
    throw blame(checked, 'trustedProxies', (error as Error).message);
  }
}

function checkBackup(checked: CheckedSettings): void {
  if (!checked.has('backupEvery')) {
    if (checked.has('backupTo')) throw blame(checked, 'backupTo', 'needs --backup-every too');
    return;
  }
  if (!checked.has('backupTo')) throw blame(checked, 'backupEvery', 'needs --backup-to too');
  if (checked.has('postgres'))
    throw blame(
      checked,
      'backupEvery',
      'cannot be combined with --postgres: back up the PostgreSQL database, which has the counts of all nodes',
    );
}

function blame(checked: CheckedSettings, key: keyof Settings, why: string): UsageError {
  return cannot(key, { raw: shown(checked, key), by: checked.get(key)?.by ?? '' }, why);
}

function cannot(key: keyof Settings, { raw, by }: GivenSetting, why: string): UsageError {
  const value = typeof raw === 'string' ? raw.replace(/\/\/[^/]*@/, '//…@') : JSON.stringify(raw);
  const shown = mayBeSecret.has(key) ? '' : ` ${value}`;
  return new UsageError(`Cannot use --${getOptionName(key)}${shown}${by && ` (${by})`}: ${why}`);
}

function number(checked: CheckedSettings, key: keyof Settings): number {
  return Number(checked.get(key)?.value);
}

function shown(checked: CheckedSettings, key: keyof Settings): string {
  const value = checked.get(key)?.value;
  const { size } = getSetting(key).schema;
  return size && typeof value === 'number' ? showSize(value) : String(value);
}

function getOptionName(key: keyof Settings): string {
  return getSetting(key).option;
}

function settingWith(kind: keyof SettingNames, name: string): Setting | undefined {
  return settings.find((setting) => setting[kind] === name || setting.formerly?.[kind] === name);
}

function getSetting(key: keyof Settings): Setting {
  const setting = settings.find((known) => known.key === key);
  if (setting === undefined) throw new TypeError(`Unknown setting ${key}`);
  return setting;
}

/** @throws {UsageError} with the setting, the file and the position of the first error */
export function readJsonFile(option: string, path: string, readFile: (path: string) => string): object {
  let text: string;
  try {
    text = readFile(path);
  } catch (error) {
    const why = explainFileError(error, path);
    throw new UsageError(`Cannot read --${option} ${path}: ${why}; name a JSON file that this user can read`);
  }
  let object: unknown;
  try {
    object = JSON.parse(text);
  } catch {
    throw new UsageError(`Cannot use --${option} ${path}: must be valid JSON${whereBroken(text)}`);
  }
  if (typeof object !== 'object' || object === null || Array.isArray(object)) {
    throw new UsageError(`Cannot use --${option} ${path}: must contain one JSON object`);
  }
  return object;
}

/** Returns the position and the reason of the first error. Quotes nothing, because the file can contain a secret. */
function whereBroken(text: string): string {
  const errors: ParseError[] = [];
  parseJson(text, errors, { disallowComments: true, allowTrailingComma: false });
  const [first] = errors;
  if (first === undefined) return '';
  const before = text.slice(0, first.offset).split('\n');
  const reason = printParseErrorCode(first.error)
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase();
  return ` (line ${before.length}, column ${before.at(-1)!.length + 1}: ${reason})`;
}

/**
 * Settings whose files hold secrets. The PostgreSQL key file is not listed, because loading it fails if everyone can
 * read it.
 */
const secretFiles = ['postgresFile', 'tlsKey', 'otlpHeadersFile', 'backupS3Credentials'] as const;

export function warnOfOpenFiles(config: Config, log: Pick<Log, 'warn'>): void {
  for (const name of secretFiles) {
    const file = config[name];
    if (file === undefined || !isOpen(file)) continue;
    const { option } = settings.find(({ key }) => key === name)!;
    log.warn('everyone on this machine can read a file with a secret', {
      setting: `--${option}`,
      file,
      hint: `chmod o= ${file}`,
    });
  }
}

/** True if everyone can read the file. A missing file is reported by the code that uses it. */
function isOpen(file: string): boolean {
  try {
    return (statSync(file).mode & 0o004) !== 0;
  } catch {
    return false;
  }
}
