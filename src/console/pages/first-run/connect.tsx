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
import { ChooseTarget, LinesView } from './snippet.tsx';
import { ownTargets } from './snippets.ts';

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

/** The steps to a sender: its language, a key of the type that it needs, and its lines. */
function Steps({ application, env, keys }: StepsProps) {
  const { query, change } = useQuery();
  const target = ownTargets.find(({ id }) => id === query['with']) ?? ownTargets[0]!;
  // The texts of Backend keys are known only until the reader leaves the page.
  const fresh = useSignal<readonly KeyShown[]>([]);
  const asking = useSignal(false);
  const usable = withFresh(keys, fresh.value).filter(({ type }) => target.keyTypes.includes(type));
  const chosen = usable.find(({ id }) => id === query['key']) ?? usable.find(isReadable) ?? usable[0];
  useEffect(() => {
    asking.value = false;
  }, [fresh.value, target]);
  const isNew = asking.value || chosen === undefined;
  return (
    <>
      <section class="stack" aria-labelledby="connect-target">
        <h2 id="connect-target">1. A sender</h2>
        <ChooseTarget targets={ownTargets} chosen={target} onChoose={(id) => change({ with: id })} />
      </section>
      <section class="stack" aria-labelledby="connect-key">
        <h2 id="connect-key">2. A key</h2>
        {isNew ? (
          <NewKey
            key={target.id}
            app={application.id}
            types={target.keyTypes}
            onCreated={(key) => {
              fresh.value = [...fresh.value, key];
              change({ key: key.id });
            }}
            {...(chosen && { onCancel: () => (asking.value = false) })}
          />
        ) : (
          <ChooseKey
            keys={usable}
            chosen={chosen}
            onChoose={(id) => change({ key: id })}
            onNew={() => (asking.value = true)}
          />
        )}
      </section>
      {chosen !== undefined && !isNew && (
        <section class="stack" aria-labelledby="connect-lines">
          <h2 id="connect-lines">3. Its lines</h2>
          <LinesView
            label={target.label}
            lines={target.lines({
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

/** Adds the texts of new keys, which the list lacks if they are secret. */
function withFresh(keys: readonly KeyShown[], fresh: readonly KeyShown[]): readonly KeyShown[] {
  const isListed = ({ id }: KeyShown) => fresh.every((each) => each.id !== id);
  return [...keys.filter(isListed), ...fresh];
}

function isReadable({ key }: KeyShown): boolean {
  return typeof key === 'string';
}
