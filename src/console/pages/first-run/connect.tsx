import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Application } from '../../../contract/shapes/application.ts';
import { useQuery } from '../../address.ts';
import { resource } from '../../api/client.ts';
import { usePoll } from '../../api/poll.ts';
import { currentTime } from '../../clock.ts';
import { Pending } from '../../parts/failure.tsx';
import type { InEnvironment } from '../../place.ts';
import { settings } from '../../settings.ts';
import { Arrival } from './arrival.tsx';
import { ChooseKey, type KeyShown, NewKey } from './key.tsx';
import { SnippetView } from './snippet.tsx';
import { snippetsFor } from './snippets.ts';

/** How to send to an environment, until the first packet arrives and for further senders. */
export function ConnectPage(props: InEnvironment) {
  // Another environment starts over: packets of this one must not appear there.
  return <Connect key={JSON.stringify([props.application, props.environment])} {...props} />;
}

function Connect({ application: app, environment: env }: InEnvironment) {
  const application = usePoll<Application>(resource('applications', app), undefined);
  const keys = usePoll<{ items: KeyShown[] }>(resource('applications', app, 'keys'), undefined);
  const since = useSignal(currentTime());
  const error = application.error ?? keys.error;
  if (application.data === undefined || keys.data === undefined) return <Pending error={error} />;
  return (
    <div class="stack connect">
      <h1>
        Send to {env} of {application.data.name}
      </h1>
      <Steps application={application.data} env={env} keys={keys.data.items} />
      {keys.data.items.length > 0 && <Arrival app={app} env={env} since={since} />}
    </div>
  );
}

interface StepsProps {
  readonly application: Application;
  readonly env: string;
  readonly keys: readonly KeyShown[];
}

/** The steps to a sender: a key, and a snippet with it. */
function Steps({ application, env, keys }: StepsProps) {
  const { query, change } = useQuery();
  // The text of a Backend key is known only until the reader leaves the page.
  const fresh = useSignal<KeyShown | undefined>(undefined);
  const asking = useSignal(false);
  const all = withFresh(keys, fresh.value);
  const chosen = all.find(({ id }) => id === query['key']) ?? fresh.value ?? all.find(isReadable) ?? all[0];
  useEffect(() => {
    asking.value = false;
  }, [fresh.value]);
  const isNew = asking.value || chosen === undefined;
  return (
    <>
      <section class="stack" aria-labelledby="connect-key">
        <h2 id="connect-key">1. A key</h2>
        {isNew ? (
          <NewKey
            app={application.id}
            onCreated={(key) => {
              fresh.value = key;
              change({ key: key.id });
            }}
            {...(chosen && { onCancel: () => (asking.value = false) })}
          />
        ) : (
          <ChooseKey
            keys={all}
            chosen={chosen}
            onChoose={(id) => change({ key: id })}
            onNew={() => (asking.value = true)}
          />
        )}
      </section>
      {chosen !== undefined && !isNew && (
        <section class="stack" aria-labelledby="connect-snippet">
          <h2 id="connect-snippet">2. A sender</h2>
          <SnippetView
            snippets={snippetsFor({
              metricsUrl: settings.metricsUrl,
              environment: env,
              key: chosen.key ?? 'YOUR_BACKEND_KEY',
              keyType: chosen.type,
              allowedOrigins: application.allowedOrigins,
            })}
            incomplete={!isReadable(chosen)}
          />
        </section>
      )}
    </>
  );
}

/** Adds the text of a new key, which the list lacks if it is secret. */
function withFresh(keys: readonly KeyShown[], fresh: KeyShown | undefined): readonly KeyShown[] {
  if (fresh === undefined) return keys;
  return [...keys.filter(({ id }) => id !== fresh.id), fresh];
}

function isReadable({ key }: KeyShown): boolean {
  return typeof key === 'string';
}
