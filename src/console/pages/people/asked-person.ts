import { signal } from '@preact/signals';

/** The person that the search was asked for. In memory only: an identity must not be in an address or in storage. */
export const askedPerson = signal<string | undefined>(undefined);
