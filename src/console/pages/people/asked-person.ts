import { signal } from '@preact/signals';

/** The identity that the reader searched for. It must not be in an address or in storage, only in memory. */
export const askedPerson = signal<string | undefined>(undefined);
