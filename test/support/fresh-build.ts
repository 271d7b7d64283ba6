import { buildIfStale } from '../../scripts/test/build.ts';

/**
 * Builds the files that the tests run, if the sources have changed since the last build. Runs before the first test.
 * @throws {Error} if the build fails
 */
export default function build(): void {
  if (buildIfStale() !== 0) throw new Error('Cannot run the tests: npm run build failed');
}
