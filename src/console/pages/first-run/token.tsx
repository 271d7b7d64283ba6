import { useSignal } from '@preact/signals';
import type { ApplicationKey } from '../../../contract/shapes/application-key.ts';
import { call, resource } from '../../api/client.ts';
import { forget } from '../../api/poll.ts';
import { Choices, Field, Form } from '../../parts/form/form.tsx';
import { isAdmin } from '../../parts/resource/part.tsx';
import { Ago } from '../../parts/table/columns.tsx';
import { RefusedTokens, useUnattributed } from '../ingest/senders.tsx';

interface TokensProps {
  readonly app: string;
  readonly env: string;
  readonly keys: readonly ApplicationKey[];
}

/** Adopts tokens of Unleash for an environment. */
export function Tokens({ app, env, keys }: TokensProps) {
  const adopted = keys.filter(({ environment }) => environment === env);
  const asking = useSignal(false);
  const refused = useUnattributed()?.tokens ?? [];
  if (!isAdmin() && adopted.length === 0)
    return <p>An Admin of the team adopts the tokens that the services send.</p>;
  return (
    <>
      <RefusedTokens tokens={refused} />
      {adopted.length > 0 && (
        <ul class="plain-list" aria-label={`Adopted for ${env}`}>
          {adopted.map(({ id, prefix, type, lastUsedAt, warnings }) => (
            <li key={id}>
              <span class="good">✓</span> {prefix === '' ? 'A token' : <code>{prefix}…</code>} ({type}) counts
              in {env}; {lastUsedAt !== null && 'used '}
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
        isAdmin() && (
          <p>
            <button type="button" onClick={() => (asking.value = true)}>
              Another token
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
      submit="Adopt the token"
      done="The token is adopted"
      codes={{ conflict: 'token', invalid_body: 'token' }}
    >
      <Field
        name="token"
        label="Token of Unleash"
        type="password"
        autocomplete="off"
        required
        hint={`As the services send it, 16 characters or more. Only its hash is stored. What they send with it counts in ${env}.`}
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
