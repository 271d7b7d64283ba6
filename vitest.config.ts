import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['test/{binary,browser,faults,bench}/**'],
          testTimeout: 30_000,
        },
      },
      {
        test: {
          name: 'system',
          include: ['test/{binary,browser,faults,bench}/**/*.test.ts'],
          testTimeout: 120_000,
        },
      },
    ],
  },
});
