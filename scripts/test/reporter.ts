import { appendFileSync } from 'node:fs';
import { relative } from 'node:path';
import { DefaultReporter, type TestCase, type TestModule, type TestSuite, type Vitest } from 'vitest/node';
import { whyNotOnNode } from '../../test/support/node-engine.ts';
import { reasonIn } from '../../test/support/skip-reason.ts';
import { skippedWorkspaces } from '../../test/support/workspaces.ts';
import type { TestResult } from './summary.ts';

/** Prints a line for each file, then the failures. Appends a line of JSON for each test to the file in `OUTCOMES`. */
export default class ResultsReporter extends DefaultReporter {
  readonly #path = process.env['OUTCOMES'] ?? '/dev/stderr';

  /** Reports tests that `vitest.config.ts` omits. The system tests follow the unit tests, which have reported them. */
  override onInit(vitest: Vitest): void {
    super.onInit(vitest);
    if (vitest.projects.some(({ name }) => name === 'system')) return;
    const skipped = { test: '', state: 'skipped', ms: 0 } as const;
    for (const [file, why] of skippedWorkspaces) this.#write({ project: 'unit, system', file, ...skipped, why });
    if (whyNotOnNode !== undefined && process.versions['bun'] === undefined)
      this.#write({ project: 'engine', file: 'all files', ...skipped, why: whyNotOnNode });
  }

  /** Prints nothing: the line of the file suffices, and failures follow at the end. */
  protected override printTestCase(): void {}

  override onTestCaseResult(test: TestCase): void {
    super.onTestCaseResult(test);
    const result = test.result();
    if (result.state === 'pending') return;
    const { state, errors } = result;
    const why = state === 'skipped' ? (result.note ?? reasonIn(test.fullName)) : firstLine(errors);
    this.#add(test.module, test.fullName, state, why, test.diagnostic()?.duration);
  }

  /** Reports a group whose hook failed. Vitest only counts the tests of such a group as skipped. */
  override onTestSuiteResult(suite: TestSuite): void {
    super.onTestSuiteResult(suite);
    const errors = suite.errors();
    if (errors.length > 0) this.#add(suite.module, suite.fullName, 'failed', firstLine(errors));
  }

  override onTestModuleEnd(module: TestModule): void {
    super.onTestModuleEnd(module);
    const errors = module.errors();
    if (errors.length > 0) this.#add(module, '', 'failed', firstLine(errors));
  }

  override onTestRunEnd(...run: Parameters<DefaultReporter['onTestRunEnd']>): void {
    super.onTestRunEnd(...run);
    const [, unhandled] = run;
    const failed = { project: '', file: 'unhandled error', test: '', state: 'failed', ms: 0 } as const;
    for (const error of unhandled) this.#write({ ...failed, why: firstLine([error]) });
  }

  #add({ project, moduleId }: TestModule, test: string, state: TestResult['state'], why: string, ms = 0): void {
    this.#write({ project: project.name, file: relative(process.cwd(), moduleId), test, state, why, ms });
  }

  #write(result: TestResult): void {
    appendFileSync(this.#path, `${JSON.stringify(result)}\n`);
  }
}

function firstLine(errors: readonly { message: string }[] | undefined): string {
  return errors?.[0]?.message.split('\n')[0] ?? '';
}
