import type { EngineKey } from '../postgres/engine-key.ts';
import type { TableName } from '../store/accounts.ts';
import type { Jwk, RetiredKey, SigningKey } from '../store/auth-records.ts';
import type { Webhook, WebhookSecret } from '../store/webhook-records.ts';

/** A signing key whose private part is encrypted, and a webhook whose secrets are. */
type SealedKey = Omit<SigningKey, 'privateJwk'> & { readonly sealedJwk: string };
type SealedWebhook = Omit<Webhook, 'secrets'> & { readonly sealedSecrets: string };

type AnyKey = SigningKey | RetiredKey;

/** Encrypts what a record holds that must not be read in the engine. Without a key records are as they are. */
export function sealSecrets(key: EngineKey | undefined, table: TableName, record: unknown): unknown {
  if (table === 'signingKeys') return sealKey(key, record as AnyKey);
  if (table === 'webhooks' && key !== undefined) return sealWebhook(key, record as Webhook);
  return record;
}

/** A record with its secrets. @throws {Error} when they were encrypted with another key */
export function openSecrets(key: EngineKey | undefined, table: TableName, record: unknown): unknown {
  if (table === 'signingKeys') return openKey(key, record as SealedKey | AnyKey);
  if (table === 'webhooks') return openWebhook(key, record as SealedWebhook | Webhook);
  return record;
}

function sealKey(key: EngineKey | undefined, record: AnyKey): SealedKey | AnyKey {
  const { unaudited, ...plain } = record; // For the audit log of one machine.
  if (key === undefined || !('privateJwk' in plain)) return plain;
  const { privateJwk, ...shown } = plain;
  return { ...shown, sealedJwk: key.seal(JSON.stringify(privateJwk), aboutKey(record.kid)) };
}

function openKey(key: EngineKey | undefined, record: SealedKey | AnyKey): AnyKey {
  if (!('sealedJwk' in record)) return record;
  const { sealedJwk, ...shown } = record;
  const opened = keyFor(key, 'signing keys').open(sealedJwk, aboutKey(record.kid));
  return { ...shown, privateJwk: JSON.parse(opened.toString()) as Jwk };
}

function sealWebhook(key: EngineKey, { secrets, ...shown }: Webhook): SealedWebhook {
  return { ...shown, sealedSecrets: key.seal(JSON.stringify(secrets), aboutWebhook(shown.id)) };
}

function openWebhook(key: EngineKey | undefined, record: SealedWebhook | Webhook): Webhook {
  if (!('sealedSecrets' in record)) return record;
  const { sealedSecrets, ...shown } = record;
  const opened = keyFor(key, 'secrets of webhooks').open(sealedSecrets, aboutWebhook(shown.id));
  return { ...shown, secrets: JSON.parse(opened.toString()) as WebhookSecret[] };
}

function keyFor(key: EngineKey | undefined, what: string): EngineKey {
  if (key !== undefined) return key;
  throw new Error(`Cannot read the ${what} of the engine: they are encrypted; give --engine-key-file`);
}

function aboutKey(kid: string): string {
  return `signing key ${kid}`;
}

function aboutWebhook(id: string): string {
  return `webhook ${id}`;
}
