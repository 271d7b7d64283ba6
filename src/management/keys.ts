import Type from 'typebox';
import {
  adoptedBefore,
  adoptKey,
  createKey,
  deleteKey,
  keyExists,
  type NewKey,
  rotatedBefore,
  rotateKey,
  tokenRule,
} from '../accounts/application-keys.ts';
import { nameRule } from '../accounts/checks.ts';
import type { Directory } from '../accounts/directory.ts';
import { byAge } from '../accounts/key-index.ts';
import { strongSecretLength } from '../accounts/secrets.ts';
import { describeTierLimit } from '../accounts/tiers.ts';
import {
  AdoptedToken,
  ApplicationKey,
  ApplicationKeyShownOnce,
  NewApplicationKey,
  replacement,
  type Warning,
} from '../contract/shapes/application-key.ts';
import { boolean } from '../contract/shapes/fields.ts';
import { createPage, paging } from '../http/lists.ts';
import { ok } from '../http/responses.ts';
import { timeText } from '../runtime/rfc3339.ts';
import type { KeyRefusals, RevokedKey, ApplicationKey as StoredKey } from '../storage/lmdb/records.ts';
import { endpoint, type Group } from './endpoint.ts';
import { findEnvironment, unknownEnvironment } from './environments.ts';
import { created, done, made, page } from './responses.ts';

export const keys: Group = {
  tag: 'Application keys',
  description: 'Packets and reports contain an application key. This API does not accept application keys.',
  endpoints: [
    endpoint('GET /applications/:id/keys', {
      access: { within: 'application', least: 'Viewer' },
      operationId: 'listKeys',
      summary: 'List the keys of an application',
      query: { ...paging, revoked: Type.Optional(boolean('List the latest 20 revoked keys instead.')) },
      responses: { 200: page(ApplicationKey, 'The oldest key comes first.') },
      handle: ({ directory, application, query }) =>
        ok(
          query.revoked
            ? createPage(byAge(application.revokedKeys ?? []), query, showRevoked)
            : createPage(directory.getApplicationKeys(application.id), query, (key) => show(directory, key)),
        ),
    }),
    endpoint('POST /applications/:id/keys', {
      access: { within: 'application', least: 'Admin', recent: true },
      operationId: 'createKey',
      summary: 'Create a key',
      body: NewApplicationKey,
      responses: { 201: made(ApplicationKeyShownOnce, 'The key, which is accepted from now on.') },
      refuses: { invalid_name: nameRule('a key'), plan_limit: describeTierLimit('free', 'keys'), conflict: keyExists },
      async handle({ directory, application, body }) {
        const made = await createKey(directory, application.id, body);
        return created(['applications', application.id, 'keys', made.key.id], showNew(made));
      },
    }),
    endpoint('POST /applications/:id/keys/adopt', {
      access: { within: 'application', least: 'Admin', scope: 'ingest-adopt', recent: true },
      operationId: 'adoptKey',
      summary: 'Adopt an Unleash token as a key',
      description:
        'Clients that send this token in `Authorization` can report to the routes for Unleash. The token stands for one environment of the application.',
      body: AdoptedToken,
      responses: { 201: made(ApplicationKey, 'The key, which is accepted from now on.') },
      refuses: {
        invalid_body: tokenRule,
        invalid_name: nameRule('a key'),
        plan_limit: describeTierLimit('free', 'keys'),
        conflict: adoptedBefore,
        unknown_environment: unknownEnvironment,
      },
      async handle({ directory, application, body }) {
        findEnvironment(application.environments, body.environment);
        const key = await adoptKey(directory, application.id, body);
        return created(['applications', application.id, 'keys', key.id], show(directory, key));
      },
    }),
    endpoint('POST /applications/:id/keys/:keyId/rotate', {
      access: { within: 'application', least: 'Admin', recent: true },
      operationId: 'rotateKey',
      summary: 'Rotate a key',
      description:
        'Creates a key of the same type and name. The service accepts the previous key for 24 hours. Deleting the previous key or rotating the new key ends this period. An adopted token cannot be rotated.',
      responses: { 201: made(ApplicationKeyShownOnce, 'The new key, which is accepted from now on.') },
      refuses: { conflict: rotatedBefore },
      async handle({ directory, application, params }) {
        const rotated = await rotateKey(directory, application.id, params.keyId);
        const shown = { ...showNew(rotated), previousKeyUntil: timeText(rotated.previousUntil) };
        return created(['applications', application.id, 'keys', rotated.key.id], shown);
      },
    }),
    endpoint('DELETE /applications/:id/keys/:keyId', {
      access: { within: 'application', least: 'Admin', recent: true },
      operationId: 'deleteKey',
      summary: 'Revoke a key',
      description: 'Packets and reports with this key are refused from now on.',
      responses: { 204: done('The key is revoked.') },
      handle: ({ directory, application, params }) => deleteKey(directory, application.id, params.keyId),
    }),
  ],
};

function showNew({ key: { id, type, name, createdAt }, text }: NewKey) {
  return { id, type, name, key: text, createdAt: timeText(createdAt) };
}

/** Formats a key for a response. The service knows only the hash of a Backend key or an adopted token. */
function show(directory: Directory, key: StoredKey): ApplicationKey {
  return {
    id: key.id,
    type: key.type,
    name: key.name,
    prefix: key.prefix,
    ...(key.text !== null && { key: key.text }),
    ...(key.environment !== undefined && { environment: key.environment }),
    createdAt: timeText(key.createdAt),
    expiresAt: timeText(key.replaced?.until ?? null),
    lastUsedAt: timeText(directory.lastUsedAt(key)),
    refused: showRefused(directory.countRefusals(key)),
    warnings: listWarnings(key, directory.leakedAt(key)),
  };
}

/** Formats a revoked key for a response, without its text. */
function showRevoked(key: RevokedKey): ApplicationKey {
  const { id, type, name, prefix, environment, createdAt, lastUsedAt, refused, revokedAt, replaced } = key;
  return {
    id,
    type,
    name,
    prefix,
    ...(environment !== undefined && { environment }),
    createdAt: timeText(createdAt),
    expiresAt: timeText(replaced?.until ?? null),
    lastUsedAt: timeText(lastUsedAt),
    refused: showRefused(refused),
    warnings: listWarnings(key, key.leakedAt),
    revokedAt: timeText(revokedAt),
  };
}

function showRefused(refused: KeyRefusals | undefined): ApplicationKey['refused'] {
  if (refused === undefined) return { count: 0, lastAt: null, reasons: [] };
  const { count, lastAt } = refused;
  const reasons = Object.entries(refused.reasons).map(([code, count]) => ({ code, count }));
  return { count, lastAt: timeText(lastAt), reasons: reasons.sort((a, b) => b.count - a.count) };
}

function listWarnings({ weak, createdAt }: Pick<StoredKey, 'weak' | 'createdAt'>, leakedAt: number | null): Warning[] {
  return [...(leakedAt === null ? [] : [warning('leaked', leakedAt)]), ...(weak ? [warning('weak', createdAt)] : [])];
}

function warning(code: Warning['code'], at: number): Warning {
  return { code, message: warningTexts[code], at: timeText(at) };
}

const warningTexts: Readonly<Record<Warning['code'], string>> = {
  leaked:
    'This Backend key was sent in a telemetry packet, so a browser or an app contains it: replace the key, then delete it',
  weak: `This token has fewer than ${strongSecretLength} random-looking characters, so it can be guessed: ${replacement}`,
};
