import { useSignal } from '@preact/signals';
import { keyScopes, scopePermissions } from '../../../contract/key-scopes.ts';
import type { Application } from '../../../contract/shapes/application.ts';
import { currentTime } from '../../clock.ts';
import { Choices, Field, SelectField } from '../../parts/form.tsx';
import { settings } from '../../settings.ts';

const dayMs = 24 * 3_600_000;

const lifetimes = [
  ['30', 'In 30 days'],
  ['90', 'In 90 days'],
  ['365', 'In a year'],
  ['', 'Never'],
] as const;

const credentials = [
  ['secret', 'A secret'],
  ['publicKeys', 'A public key (private_key_jwt)'],
  ['trust', 'Platform tokens (GitHub, GitLab, Kubernetes)'],
] as const;

type Credential = (typeof credentials)[number][0];

interface ApiKeyFieldsProps {
  readonly applications: readonly Pick<Application, 'id' | 'name'>[];
}

/** The settings of a new API key. */
export function ApiKeyFields({ applications }: ApiKeyFieldsProps) {
  const credential = useSignal<Credential>('secret');
  return (
    <>
      <Field name="name" label="Name" required autoFocus hint="Name of the program." />
      <Choices
        legend="Scopes"
        type="checkbox"
        name="scopes"
        choices={keyScopes.map((scope) => [scope, scope, scopePermissions[scope]])}
        checked={(scope) => scope === 'read'}
      />
      {applications.length > 0 && (
        <Choices
          legend="Only these applications (none: the whole team)"
          type="checkbox"
          name="applications"
          choices={applications.map(({ id, name }) => [id, name, ''])}
          checked={() => false}
        />
      )}
      <SelectField name="expires" label="Expires" options={lifetimes} value="90" />
      <SelectField
        name="credential"
        label="Authenticates by"
        options={credentials}
        onInput={(value) => (credential.value = value as Credential)}
      />
      {credential.value === 'publicKeys' && (
        <Field
          name="publicKeys"
          label="Public key as JWK"
          hint="RSA, EC on P-256 or Ed25519. The program keeps the private key."
          control={(properties) => <textarea {...properties} rows={5} required spellcheck={false} />}
        />
      )}
      {credential.value === 'trust' && <TrustFields />}
    </>
  );
}

function TrustFields() {
  return (
    <>
      <Field
        name="issuer"
        label="Issuer"
        required
        value="https://token.actions.githubusercontent.com"
        hint="GitLab: the URL of the instance. Kubernetes: the issuer of the cluster."
      />
      <Field name="audience" label="Audience" required value={settings.baseUrl} />
      <Field
        name="subject"
        label="Subject"
        required
        placeholder="repo:shop/checkout:ref:refs/heads/main"
        hint="Colons and slashes separate segments. Each after the second may have one *."
      />
    </>
  );
}

/** The body of a request, from the fields of the form. */
export function apiKeyFields(data: FormData): object {
  const text = (name: string) => String(data.get(name) ?? '');
  const applications = data.getAll('applications');
  const days = Number(text('expires'));
  const credential = text('credential');
  return {
    name: text('name'),
    scopes: data.getAll('scopes'),
    ...(applications.length > 0 && { applications }),
    ...(days > 0 && { expiresAt: new Date(currentTime() + days * dayMs).toISOString() }),
    ...(credential === 'publicKeys' && { publicKeys: keysIn(text('publicKeys')) }),
    ...(credential === 'trust' && {
      trust: { issuer: text('issuer'), audience: text('audience'), subject: text('subject') },
    }),
  };
}

/** A key, a list or a set of keys. The API refuses anything else, and names the field. */
function keysIn(text: string): unknown {
  try {
    const json = JSON.parse(text) as { readonly keys?: unknown };
    return json.keys ?? [json].flat();
  } catch {
    return text;
  }
}
