import { Worker } from 'node:worker_threads';
import { build } from 'rolldown';
import { onTestFinished } from 'vitest';

/** Starts threads from source code for a test, without a build. The threads end with the test. */
export async function sourceThreads(
  input: string,
): Promise<(workerData: object, transferList?: TransferList) => Worker> {
  const { output } = await build({ input, platform: 'node', write: false, output: { format: 'cjs' } });
  return (workerData, transferList = []) => {
    const worker = new Worker(output[0].code, { eval: true, workerData, transferList });
    onTestFinished(() => void worker.terminate());
    return worker;
  };
}

type TransferList = NonNullable<ConstructorParameters<typeof Worker>[1]>['transferList'];
