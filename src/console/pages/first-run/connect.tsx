import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Application } from '../../../contract/shapes/application.ts';
import type { ApplicationKey } from '../../../contract/shapes/application-key.ts';
import { useQuery } from '../../address/address.ts';
import { allowOnly, useParameters } from '../../address/parameters.ts';
import type { InEnvironment } from '../../address/place.ts';
import { call, resource } from '../../api/client.ts';
import { forget, usePoll } from '../../api/poll.ts';
import { settings } from '../../api/settings.ts';
import { CopyButton } from '../../components/copy.tsx';
import { Pending } from '../../components/failure.tsx';
import { OptionList } from '../../components/form/filters.tsx';
import { Choices, Field, Form } from '../../components/form/form.tsx';
import { Ago } from '../../components/table/columns.tsx';
import { hasRole } from '../../reader/reader.tsx';
import { createKey, type KeyType, keyTypes } from '../application-settings/key-types.ts';
import { RefusedTokens, useUnattributed } from '../ingest/senders.tsx';
import { Arrival } from './arrival.tsx';
import { ChooseSource, ChooseTarget, useKeptChoice } from './choose.tsx';
import { type Source, sources } from './sources.ts';
import type { Block, Lines, Target } from './target.ts';

export function ConnectPage(props: InEnvironment) {
  // The `key` remounts the page for another environment, so that the page never shows messages of the previous
  // environment.
  return <Connect key={JSON.stringify([props.application, props.environment])} {...props} />;
}

const parameters = { use: allowOnly(sources.map(({ id }) => id)) };

function Connect({ application: app, environment: env }: InEnvironment) {
  const { query } = useQuery();
  useParameters(parameters);
  useKeptChoice({ application: app, environment: env });
  const application = usePoll<Application>(resource('applications', app), undefined);
  const keys = usePoll<{ items: ApplicationKey[] }>(resource('applications', app, 'keys'), undefined);
  const error = application.error ?? keys.error;
  if (application.data === undefined || keys.data === undefined) return <Pending error={error} />;
  const source = sources.find(({ id }) => id === query['use']);
  const { items } = keys.data;
  return (
    <div class="stack connect">
      <h1>
        Send to {env} of {application.data.name}
      </h1>
      <h2>1. What do you use?</h2>
      <ChooseSource app={app} env={env} chosen={source} />
      {source && <Steps key={source.id} application={application.data} env={env} keys={items} source={source} />}
      {source && (source.adoptsTokens || items.length > 0) && (
        <Arrival key={source.id} app={app} env={env} source={source} />
      )}
    </div>
  );
}

interface StepsProps {
  readonly application: Application;
  readonly env: string;
  readonly keys: readonly ApplicationKey[];
  readonly source: Source;
}

function Steps({ application, env, keys, source }: StepsProps) {
  const { query, change } = useQuery();
  const { targets } = source;
  const target = targets.find(({ id }) => id === query['with']) ?? targets[0]!;
  const choose = <ChooseTarget source={source} chosen={target} onChoose={(id) => change({ with: id })} />;
  if (!source.adoptsTokens)
    return (
      <>
        {choose}
        <KeyAndLines application={application} env={env} keys={keys} target={target} />
      </>
    );
  return (
    <>
      {choose}
      <section class="stack" aria-labelledby="connect-key">
        <h2 id="connect-key">2. The token of the services</h2>
        <Tokens app={application.id} env={env} keys={keys} />
      </section>
      <LinesStep application={application} env={env} target={target} />
    </>
  );
}

type KeyStepProps = Omit<StepsProps, 'source'> & { readonly target: Target };

function KeyAndLines({ application, env, keys, target }: KeyStepProps) {
  const { query, change } = useQuery();
  // The page remembers new Backend keys in full until the reader leaves it.
  const fresh = useSignal<readonly ShownKey[]>([]);
  const asking = useSignal(false);
  const usable = withFresh(keys, fresh.value).filter(({ type }) => target.keyTypes.includes(type));
  const chosen = usable.find(({ id }) => id === query['key']) ?? usable.find(isReadable) ?? usable[0];
  useEffect(() => {
    asking.value = false;
  }, [fresh.value, target]);
  const isNew = asking.value || chosen === undefined;
  return (
    <>
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
        <LinesStep application={application} env={env} target={target} chosen={chosen} />
      )}
    </>
  );
}

type LinesStepProps = Omit<KeyStepProps, 'keys'> & { readonly chosen?: ShownKey };

function LinesStep({ application, env, target, chosen }: LinesStepProps) {
  const connection = {
    metricsUrl: settings.metricsUrl,
    environment: env,
    key: chosen?.key ?? 'YOUR_BACKEND_KEY',
    keyType: chosen?.type ?? target.keyTypes[0]!,
    allowedOrigins: application.allowedOrigins,
  };
  return (
    <section class="stack" aria-labelledby="connect-lines">
      <h2 id="connect-lines">3. Code to paste</h2>
      <LinesView lines={target.lines(connection)} incomplete={chosen !== undefined && !isReadable(chosen)} />
    </section>
  );
}

/** Returns the keys that senders can use, without adopted tokens. New keys include their full text. */
function withFresh(keys: readonly ApplicationKey[], fresh: readonly ShownKey[]): readonly ShownKey[] {
  const isListed = ({ id, environment }: ApplicationKey) =>
    environment === undefined && fresh.every((each) => each.id !== id);
  return [...keys.filter(isListed), ...fresh];
}

function isReadable({ key }: ShownKey): boolean {
  return typeof key === 'string';
}

interface LinesViewProps {
  readonly lines: Lines;
  /** True if the full key is not known. */
  readonly incomplete: boolean;
}

function LinesView({ lines: { intro, blocks }, incomplete }: LinesViewProps) {
  return (
    <>
      <p>{intro}</p>
      {incomplete && (
        <p class="warn">
          Replace <code>YOUR_BACKEND_KEY</code> with your key. The server shows a Backend key only once.
        </p>
      )}
      {blocks.map((block) => (
        <BlockView key={block.name} {...block} />
      ))}
    </>
  );
}

function BlockView({ name, how, code }: Block) {
  return (
    <div class="connect-code">
      <p class="head spread connect-bar">
        <span class="quiet">{how}</span>
        <CopyButton text={code} title={`Copy ${name}`} />
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it must be scrollable by keyboard */}
      <section class="connect-text" tabIndex={0} aria-label={`The ${name}`}>
        <pre>
          <code>{code}</code>
        </pre>
      </section>
    </div>
  );
}

type ShownKey = Pick<ApplicationKey, 'id' | 'type' | 'name' | 'key'>;

interface NewKeyProps {
  readonly app: string;
  readonly types: readonly KeyType[];
  readonly onCreated: (key: ShownKey) => void;
  readonly onCancel?: () => void;
}

const senders = { Frontend: 'A web page', Mobile: 'An app', Backend: 'A server' };

/** Creates a key. If the sender can use several types of keys, asks for the type first. */
function NewKey({ app, types, onCreated, onCancel }: NewKeyProps) {
  const [only, ...others] = types;
  const isGiven = others.length === 0;
  if (!hasRole('Admin')) return <p>The application has no such key yet. An Admin of the team can create one.</p>;
  async function create(data: FormData) {
    const made = await createKey(app, isGiven ? only! : (data.get('type') as KeyType), '');
    forget(resource('applications', app, 'keys'));
    onCreated(made);
  }
  const offered = keyTypes.filter(([type]) => types.includes(type));
  return (
    <Form
      onSubmit={create}
      submit={isGiven ? `Create ${only} key` : 'Create key'}
      done="Key created"
      {...(onCancel && { onCancel })}
    >
      {isGiven ? (
        <p>{offered[0]?.[1]}</p>
      ) : (
        <Choices
          framed
          legend="Kind of sender"
          type="radio"
          name="type"
          choices={offered.map(([type, words]) => [type, senders[type], `${type} key. ${words}`])}
          checked={(_, index) => index === 0}
        />
      )}
    </Form>
  );
}

interface ChooseKeyProps {
  readonly keys: readonly ShownKey[];
  readonly chosen: ShownKey;
  readonly onChoose: (id: string) => void;
  readonly onNew: () => void;
}

function ChooseKey({ keys, chosen, onChoose, onNew }: ChooseKeyProps) {
  return (
    <div class="connect-keys">
      <label>
        <span class="hidden">Key</span>
        <select value={chosen.id} onChange={(event) => onChoose(event.currentTarget.value)}>
          <OptionList
            options={keys.map(({ id, name, type }) => [id, name === type ? `${type} key` : `${name} (${type} key)`])}
          />
        </select>
      </label>
      {chosen.key !== undefined && (
        <>
          <code class="connect-keytext">{chosen.key}</code>
          <CopyButton text={chosen.key} title="Copy key" />
        </>
      )}
      {hasRole('Admin') && (
        <button type="button" onClick={onNew}>
          Create another key
        </button>
      )}
      {chosen.type === 'Backend' && (
        <p class={chosen.key === undefined ? 'quiet' : 'warn'}>
          {chosen.key === undefined
            ? 'A Backend key is shown only once. Use the text that you have stored, or create another key.'
            : 'This key is secret and is not shown again. Store it now, on servers only.'}
        </p>
      )}
    </div>
  );
}

interface TokensProps {
  readonly app: string;
  readonly env: string;
  readonly keys: readonly ApplicationKey[];
}

function Tokens({ app, env, keys }: TokensProps) {
  const adopted = keys.filter(({ environment }) => environment === env);
  const asking = useSignal(false);
  const refused = useUnattributed()?.tokens ?? [];
  if (!hasRole('Admin') && adopted.length === 0)
    return <p>An Admin of the team adopts the tokens that the services send.</p>;
  return (
    <>
      <RefusedTokens tokens={refused} />
      {adopted.length > 0 && (
        <ul class="plain-list" aria-label={`Adopted for ${env}`}>
          {adopted.map(({ id, prefix, type, lastUsedAt, warnings }) => (
            <li key={id}>
              <span class="good">✓</span> {prefix === '' ? 'A token' : <code>{prefix}…</code>} ({type}) counts in {env};{' '}
              {lastUsedAt !== null && 'used '}
              <Ago at={lastUsedAt} never="not used yet" />
              {warnings.map(({ code, message }) => (
                <div key={code} class="warn">
                  {message}
                </div>
              ))}
            </li>
          ))}
        </ul>
      )}
      {adopted.length === 0 || asking.value ? (
        <Adopt app={app} env={env} onAdopted={() => (asking.value = false)} />
      ) : (
        hasRole('Admin') && (
          <p>
            <button type="button" onClick={() => (asking.value = true)}>
              Adopt another token
            </button>
          </p>
        )
      )}
    </>
  );
}

interface AdoptProps extends Pick<TokensProps, 'app' | 'env'> {
  readonly onAdopted: () => void;
}

function Adopt({ app, env, onAdopted }: AdoptProps) {
  const path = resource('applications', app, 'keys');
  async function adopt(data: FormData) {
    const token = String(data.get('token')).trim();
    await call('POST', `${path}/adopt`, { body: { token, type: data.get('type'), environment: env } });
    forget(path);
    onAdopted();
  }
  return (
    <Form
      onSubmit={adopt}
      submit="Adopt token"
      done="Token adopted"
      codes={{ conflict: 'token', invalid_body: 'token' }}
    >
      <Field
        name="token"
        label="Token of Unleash"
        type="password"
        autocomplete="off"
        required
        hint={`The token as the services send it, 16 characters or more. Only its hash is stored. Messages with this token count in ${env}.`}
      />
      <Choices
        legend="Sent by"
        type="radio"
        name="type"
        choices={[
          ['Backend', 'Servers', 'A client or backend token of Unleash, which is secret.'],
          ['Frontend', 'Pages and apps', 'A frontend token of Unleash, which everyone can read.'],
        ]}
        checked={(_, index) => index === 0}
      />
    </Form>
  );
}
