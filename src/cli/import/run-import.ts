import { closeSync, openSync, writeSync } from 'node:fs';
import { describeFileError } from '../../contract/file-errors.ts';
import { oneEnvOption, option } from '../../contract/shapes/option.ts';
import { type Api, connect } from '../api.ts';
import { resolveApplication } from '../application.ts';
import { clientCommand } from '../client-command.ts';
import type { Arguments } from '../command.ts';
import { appOption, jsonOption, urlOption } from '../common-options.ts';
import type { Context } from '../context.ts';
import { Failure } from '../failure.ts';
import { environmentIn } from '../find.ts';
import { UsageError } from '../options.ts';
import { printJson, printRecord } from '../print.ts';
import { interruptible, Progress } from '../progress.ts';
import { printable } from '../show.ts';
import { divideSource, hashImport, parseBefore, type Selection } from './parts.ts';
import { howToResume, type ImportCounts, sendParts } from './send-parts.ts';
import { type BadLine, importFormats, Source } from './source.ts';
import { type Survey, surveySource } from './survey.ts';

export const runImport = clientCommand({
  name: 'import',
  summary: 'Import past data from a file: an export, or tables of Unleash',
  examples: ['import usage.csv --format csv --app Shop --env Production --dry-run'],
  operand: { name: 'FILE', description: 'File with the counts' },
  options: [
    option('format FORMAT', 'Format of the file', { values: importFormats, required: true }),
    oneEnvOption('Environment that receives the counts'),
    option('from-env NAME', 'Environment in the file; rows of other environments are omitted', {
      more: 'default: the only environment in the file',
      formerly: 'from-environment',
    }),
    option('before TIME', 'Time of the switch-over to flagmeter; later rows are omitted'),
    option('variants FILE', 'Table client_metrics_env_variants of Unleash', { file: true }),
    option('bad-lines FILE', 'New file for the bad lines, to be corrected and imported', {
      file: true,
      excludes: ['variants'],
    }),
    option('dry-run', 'Only check the file, and report what would be imported'),
    ...[appOption, urlOption, jsonOption],
  ],
  notes: `
Imports exports of usage and of measurements (CSV or NDJSON), and client_metrics_env of Unleash as
psql \\copy writes it, up to the time of a switch-over with --before.
The same file counts once: run an interrupted import again to continue. A changed file is another
file, so correct bad lines in the file that --bad-lines writes. Exit code 8: there are bad lines;
all other lines are imported.
`,
  run: importFile,
});

/**
 * @throws {UsageError} for wrong arguments, and for a file with rows of several environments if no environment is
 * selected
 * @throws {Failure} if a file cannot be read, or the server refuses or is unavailable; `found` if there were bad lines
 */
async function importFile(given: Arguments, context: Context): Promise<number> {
  const wanted = { environment: given.value('from-env'), before: parseBefore(given.value('before')) };
  const api = connect(context, given);
  const application = await resolveApplication(context, api, given);
  const environment = environmentIn(application, given.value('env') ?? '');
  const source = new Source(given.operand, given);
  const badLines = new BadLines(context, given.value('bad-lines'));
  try {
    const found = survey(context, source, badLines, wanted);
    if (found.environments.size === 0 && badLines.count === 0)
      context.err(`Nothing to import: ${printable(given.operand)} holds no rows\n`);
    const selection = { ...wanted, environment: chooseSourceEnvironment(found, wanted.environment) };
    const sent = await send(context, api, source, selection, {
      path: ['applications', String(application['id']), 'imports'],
      head: { environment, import: hashImport(source, selection) },
      isDry: given.has('dry-run'),
    });
    print(context, given, createSummary(found, sent), badLines);
  } finally {
    badLines.close();
    source.close();
  }
  if (badLines.count === 0) return 0;
  throw new Failure('found', `Bad lines that were not imported: ${badLines.count}`);
}

interface Target {
  readonly path: readonly string[];
  readonly head: { readonly environment: string; readonly import: string };
  readonly isDry: boolean;
}

async function send(
  context: Context,
  api: Api,
  source: Source,
  selection: Selection,
  { path, head, isDry }: Target,
): Promise<ImportCounts> {
  const progress = new Progress(context, context.clock, isDry ? 'Checking' : 'Importing');
  const total = source.size;
  let share = 0;
  const report = (done: number) => {
    progress.report({ done, total });
    share = Math.max(share, Math.floor((100 * done) / total));
  };
  try {
    const sent = await interruptible((over) => {
      const whole = { ...head, ...(isDry && { dryRun: true }) };
      const sending = sendParts(context, api, path, whole, divideSource(source, selection), report, over);
      const state = () => (isDry ? 'nothing was imported' : `about ${share} % is imported. ${howToResume}`);
      return Promise.race([sending, rejectOnAbort(over, () => `Interrupted: ${state()}`)]);
    });
    progress.complete();
    return sent;
  } finally {
    progress.end();
  }
}

/**
 * Rejects when the process gets a signal. The server might still count pending requests, and recognises a repetition.
 */
function rejectOnAbort(over: AbortSignal, message: () => string): Promise<never> {
  return new Promise((_, reject) => {
    over.addEventListener('abort', () => reject(new Failure('interrupted', message())));
  });
}

function survey(context: Context, source: Source, badLines: BadLines, wanted: Selection): Survey {
  const progress = new Progress(context, context.clock, 'Reading');
  try {
    const found = surveySource(
      source,
      wanted,
      (line) => badLines.add(line, source.header),
      (done) => progress.report({ done, total: source.size }),
    );
    progress.complete();
    return found;
  } finally {
    progress.end();
    badLines.print();
  }
}

/** Returns the environment to import; `undefined` if the rows have none. @throws {UsageError} */
function chooseSourceEnvironment({ environments }: Survey, wanted: string | undefined): string | undefined {
  const names = [...environments.keys()];
  const all = printable(names.map((name) => name || '(none)').join(', '));
  if (wanted !== undefined) {
    if (environments.has(wanted) || names.length === 0) return wanted;
    throw new UsageError(`Cannot use --from-env ${wanted}: the file has rows of ${all}`);
  }
  if (names.length <= 1) return names[0];
  const advice = `use --from-env with one of ${all}`;
  throw new UsageError(`Cannot import rows of several environments: ${advice}`);
}

function createSummary({ environments, later, totals }: Survey, sent: ImportCounts) {
  const { counts, features, variants, checks, used, viewed, measurements, metrics, first, last } = totals;
  const all = [...environments.values()].reduce((sum, each) => sum + each, 0);
  const time = (seconds: number) => (Number.isFinite(seconds) ? new Date(seconds * 1000).toISOString() : null);
  return {
    counts,
    features,
    variants,
    checks,
    used,
    viewed,
    measurements,
    metrics,
    from: time(first),
    to: time(last),
    ofOtherEnvironments: all - later - counts - measurements,
    later,
    ...sent,
  };
}

function print(context: Context, given: Arguments, summary: object, badLines: BadLines): void {
  const dryRun = given.has('dry-run');
  if (given.has('json')) {
    printJson(context, { dryRun, ...summary, badLines: badLines.count, firstBadLines: badLines.listed });
    return;
  }
  printRecord(context, { ...summary, badLines: badLines.count });
  if (dryRun) context.err('Dry run: nothing was imported\n');
}

/** Maximum number of bad lines that the command lists. */
const maxListed = 100;

/** Collects bad lines, lists them on standard error, and writes them to a file if a path is given. */
class BadLines {
  readonly #context: Context;
  readonly #file: number | undefined;
  /** The first bad lines. */
  readonly listed: Pick<BadLine, 'path' | 'line' | 'reason'>[] = [];
  count = 0;

  /** @param path of the file to be written @throws {Failure} if it exists, or cannot be written */
  constructor(context: Context, path: string | undefined) {
    this.#context = context;
    this.#file = path === undefined ? undefined : create(path);
  }

  /** @param header the first line of the source, if its format has one */
  add({ path, line, reason, text }: BadLine, header: string | undefined): void {
    this.count += 1;
    if (this.count <= maxListed) this.listed.push({ path, line, reason });
    if (this.#file === undefined || text === undefined) return;
    if (this.count === 1 && header !== undefined) writeSync(this.#file, `${header}\n`);
    writeSync(this.#file, `${text}\n`);
  }

  /** Lists the bad lines below the bar of the progress. */
  print(): void {
    const lines = this.listed.map(({ path, line, reason }) => `${printable(path)}:${line}: ${reason}\n`);
    this.#context.err(lines.join(''));
    if (this.count > maxListed) this.#context.err(`and ${this.count - maxListed} more bad lines\n`);
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
  }
}

function create(path: string): number {
  try {
    return openSync(path, 'wx', 0o600);
  } catch (error) {
    throw new Failure('failed', `Cannot write ${path}: ${describeFileError(error)}; name another file`);
  }
}
