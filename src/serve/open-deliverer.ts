import { version } from '../../package.json' with { type: 'json' };
import type { Directory } from '../accounts/directory.ts';
import type { Engine } from '../accounts/store/engine.ts';
import { resolver } from '../webhooks/addresses.ts';
import { Deliverer } from '../webhooks/deliverer.ts';
import { type SendDeps, send } from '../webhooks/send.ts';
import type { StorageDeps } from './storage.ts';

/** From looking up a name to the end of the answer, ms. */
const deadlineMs = 15_000;

/** What delivers to webhooks. */
export function openDeliverer(
  { config, log }: StorageDeps,
  { engine, directory }: { readonly engine: Engine; readonly directory: Directory },
): Deliverer {
  const allowPrivate = config.webhookAllowPrivate;
  const deps: SendDeps = { resolve: resolver(allowPrivate), allowPrivate, version, deadlineMs };
  return new Deliverer({ engine, directory, log, send: (...sent) => send(deps, ...sent) });
}
