import { buildIfStale } from '../../scripts/test/build.ts';

/**
 * Builds what the tests run, before the first of them, if the sources have changed since the last build.
 * @throws {Error} when the build fails
 */
export default function build(): void {
  if (buildIfStale() !== 0) throw new Error('Cannot run the tests: npm run build failed');
}
