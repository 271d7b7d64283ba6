import { buildIfStale } from '../../scripts/test/build.ts';

/**
 * Builds the files that the tests run, before the first test, if the sources have changed since the last build.
 * @throws {Error} when the build fails
 */
export default function build(): void {
  if (buildIfStale() !== 0) throw new Error('Cannot run the tests: npm run build failed');
}
