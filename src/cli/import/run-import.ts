import { connect, type Item } from '../api.ts';
import { importCommand } from '../client-commands.ts';
import { type Given, readGiven } from '../command.ts';
import type { Context } from '../context.ts';
import { Failure } from '../failure.ts';
import { findApplication, missing } from '../find.ts';
import { UsageError } from '../flags.ts';
import { printJson, printRecord } from '../print.ts';
import { itemsOf } from '../report.ts';
import { printable } from '../show.ts';
import { BadLines } from './bad-lines.ts';
import { importOf, partsOf } from './parts.ts';
import { Progress } from './progress.ts';
import { type Sent, sendParts } from './send-parts.ts';
import { Source } from './source.ts';
import { type Survey, surveyOf } from './survey.ts';

/**
 * Imports a file with counts of the past.
 * @throws {UsageError} for wrong arguments, and for a file with rows of several environments if none of them is named
 * @throws {Failure} if a file cannot be read, or the server refuses or is unavailable; `found` if there were bad lines
 */
export async function runImport(argv: readonly string[], context: Context): Promise<number> {
  const given = readGiven(importCommand, argv);
  const api = connect(context, given);
  const application = await findApplication(api, given.value('app') ?? '');
  const environment = environmentOf(application, given.value('environment') ?? '');
  const source = new Source(given.operand, given);
  const badLines = new BadLines(context, given.value('bad-lines'));
  try {
    const found = survey(context, source, badLines, given.value('from-environment'));
    const from = sourceEnvironmentOf(found, given.value('from-environment'));
    const isDry = given.has('dry-run');
    const head = { environment, import: importOf(source, from), ...(isDry && { dryRun: true }) };
    const progress = new Progress(context, isDry ? 'Checking' : 'Importing', source.size);
    const path = ['applications', String(application['id']), 'imports'];
    const sent = await sendParts(context, api, path, head, partsOf(source, from), (done) =>
      progress.report(done),
    );
    progress.end();
    print(context, given, summaryOf(found, sent), badLines);
  } finally {
    badLines.close();
    source.close();
  }
  if (badLines.count === 0) return 0;
  throw new Failure('found', `Bad lines, which are not imported: ${badLines.count}`);
}

/** @throws {Failure} */
function environmentOf(application: Item, wanted: string): string {
  const environments = itemsOf(application, 'environments');
  if (environments.some((each) => each['name'] === wanted)) return wanted;
  throw missing(environments, { one: 'environment', key: 'name' }, wanted);
}

function survey(context: Context, source: Source, badLines: BadLines, wanted: string | undefined): Survey {
  const progress = new Progress(context, 'Reading', source.size);
  const found = surveyOf(
    source,
    wanted,
    (line) => badLines.add(line, source.header),
    (done) => progress.report(done),
  );
  progress.end();
  badLines.end();
  return found;
}

/** The environment whose rows are imported; `undefined` if the rows name none. @throws {UsageError} */
function sourceEnvironmentOf({ environments }: Survey, wanted: string | undefined): string | undefined {
  const names = [...environments.keys()];
  const all = printable(names.map((name) => name ?? '(none)').join(', '));
  if (wanted !== undefined) {
    if (environments.has(wanted) || names.length === 0) return wanted;
    throw new UsageError(`Cannot use --from-environment ${wanted}: the file has rows of ${all}`);
  }
  if (names.length <= 1) return names[0];
  const advice = `use --from-environment with one of ${all}`;
  throw new UsageError(`Cannot import rows of several environments: ${advice}`);
}

function summaryOf({ environments, totals }: Survey, sent: Sent) {
  const { counts, features, variants, checks, used, viewed, first, last } = totals;
  const all = [...environments.values()].reduce((sum, each) => sum + each, 0);
  const time = (seconds: number) =>
    Number.isFinite(seconds) ? new Date(seconds * 1000).toISOString() : null;
  return {
    ...{ counts, features, variants, from: time(first), to: time(last), checks, used, viewed },
    ...{ ofOtherEnvironments: all - counts, ...sent },
  };
}

function print(context: Context, given: Given, summary: object, badLines: BadLines): void {
  const dryRun = given.has('dry-run');
  if (given.has('json')) {
    printJson(context, { dryRun, ...summary, badLines: badLines.count, firstBadLines: badLines.listed });
    return;
  }
  printRecord(context, { ...summary, badLines: badLines.count });
  if (dryRun) context.err('Dry run: nothing was imported\n');
}
