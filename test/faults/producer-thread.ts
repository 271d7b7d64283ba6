/**
 * Commits numbered batches to a shared journal until a batch is refused. Prints each result: see producers-process.ts.
 */
import { writeSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import { ProducerCommitter } from '../../src/storage/commit/committer.ts';
import type { ProducerMemory } from '../../src/storage/commit/journal-memory.ts';
import { commitUntilRefused } from './numbered-batches.ts';

const { memory, thread, first } = workerData as { memory: ProducerMemory; thread: number; first: number };

const alive = setInterval(() => {}, 2 ** 30); // Waiting for a commit does not keep a thread alive.
await commitUntilRefused(new ProducerCommitter(memory), thread, first, (line) => writeSync(1, line));
clearInterval(alive);
