import type { ApplicationKey, ApplicationKeyShownOnce } from '../../../contract/shapes/application-key.ts';
import { call, resource } from '../../api/client.ts';
import type { SecretContent } from '../../components/form/create.tsx';

export type KeyType = ApplicationKey['type'];

export const keyTypes: readonly (readonly [type: KeyType, purpose: string])[] = [
  ['Frontend', 'For web pages. The key is public, and packets must come from an allowed origin.'],
  ['Mobile', 'For apps. The key is public, and packets need no origin.'],
  ['Backend', 'For servers that send reports or create instance ids. The key is secret.'],
];

/** Creates a key. @param name if empty, the server names the key after its type */
export function createKey(application: string, type: KeyType, name: string): Promise<ApplicationKeyShownOnce> {
  const body = { type, ...(name === '' ? {} : { name }) };
  return call('POST', resource('applications', application, 'keys'), { body });
}

/** Returns the content of the dialog for a new key. A Backend key is shown only once. */
export function shownKey({ name, key, type }: ApplicationKeyShownOnce): SecretContent {
  const once = type === 'Backend';
  return {
    title: once ? `Copy key ${name} now` : `Key ${name} is ready`,
    once,
    note: once
      ? 'Keep the key out of pages, apps and repositories.'
      : 'The key is not secret. The list of keys always shows it.',
    values: [['Key', key]],
  };
}
