import { vi } from 'vitest';
import { patienceMs } from './patience.ts';

type Options = Parameters<typeof vi.waitFor>[1];

const patient = (options: Options) => {
  const { timeout = 0, ...others } = typeof options === 'number' ? { timeout: options } : (options ?? {});
  return { ...others, timeout: Math.max(timeout, patienceMs) };
};

/** Vitest has no setting for the limit of these, which is a second. */
const { waitFor, waitUntil } = vi;
vi.waitFor = (callback, options) => waitFor(callback, patient(options));
vi.waitUntil = (callback, options) => waitUntil(callback, patient(options));
