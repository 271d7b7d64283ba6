import { appendFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { Reporter, TestCase, TestModule, TestSuite } from 'vitest/node';
import { whyNotOnNode } from '../../test/support/node-engine.ts';
import { reasonIn } from '../../test/support/skip-reason.ts';
import { skippedWorkspaces } from '../../test/support/workspaces.ts';
import type { Outcome } from './summary.ts';

/** Appends a line of JSON for each failed, retried or skipped test to the file in `OUTCOMES`. */
export default class OutcomesReporter implements Reporter {
  readonly #path = process.env['OUTCOMES'] ?? '/dev/stderr';

  /** Tests that `vitest.config.ts` omits; reported once, because a run has a part on each runtime. */
  onInit(): void {
    if (process.versions['bun'] !== undefined) return;
    const skipped = { test: '', state: 'skipped' } as const;
    for (const [file, why] of skippedWorkspaces)
      this.#write({ project: 'unit, system', file, ...skipped, why });
    if (whyNotOnNode !== undefined)
      this.#write({ project: 'engine', file: 'all files', ...skipped, why: whyNotOnNode });
  }

  onTestCaseResult(test: TestCase): void {
    const result = test.result();
    const { state, errors } = result;
    if (state === 'failed') this.#add(test.module, { test: test.fullName, state, why: firstLine(errors) });
    else if (state === 'skipped')
      this.#add(test.module, { test: test.fullName, state, why: result.note ?? reasonIn(test.fullName) });
    else if (test.diagnostic()?.flaky === true)
      this.#add(test.module, { test: test.fullName, state: 'retried', why: firstLine(errors) });
  }

  /** A group whose hook failed, so that its tests count as skipped. */
  onTestSuiteResult(suite: TestSuite): void {
    const errors = suite.errors();
    if (errors.length > 0)
      this.#add(suite.module, { test: suite.fullName, state: 'failed', why: firstLine(errors) });
  }

  onTestModuleEnd(module: TestModule): void {
    const errors = module.errors();
    if (errors.length > 0) this.#add(module, { test: '', state: 'failed', why: firstLine(errors) });
  }

  onTestRunEnd(_: readonly TestModule[], unhandled: readonly { message: string }[]): void {
    for (const error of unhandled)
      this.#write({
        project: '',
        file: 'unhandled error',
        test: '',
        state: 'failed',
        why: firstLine([error]),
      });
  }

  #add(module: TestModule, outcome: Pick<Outcome, 'test' | 'state' | 'why'>): void {
    this.#write({
      ...{ project: module.project.name, file: relative(process.cwd(), module.moduleId) },
      ...outcome,
    });
  }

  #write(outcome: Outcome): void {
    appendFileSync(this.#path, `${JSON.stringify(outcome)}\n`);
  }
}

function firstLine(errors: readonly { message: string }[] | undefined): string {
  return errors?.[0]?.message.split('\n')[0] ?? '';
}
