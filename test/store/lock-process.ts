import { lockDataDirectory } from '../../src/store/lock.ts';

/** Locks the directory named, says in one line how that went, and keeps what it got until its input ends. */
try {
  const lock = await lockDataDirectory(String(process.argv[2]));
  console.log('locked');
  process.stdin.on('end', () => lock.release()).resume();
} catch (error) {
  console.log(error instanceof Error ? error.message : error);
}
