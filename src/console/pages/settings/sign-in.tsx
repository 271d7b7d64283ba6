import type { IdentityProvider } from '../../../contract/shapes/identity-provider.ts';
import type { SecondFactorRule, SignInPolicy } from '../../../contract/shapes/sign-in-policy.ts';
import type { Team } from '../../../contract/shapes/team.ts';
import type { Member } from '../../../contract/shapes/user.ts';
import { resource } from '../../api/client.ts';
import { useList } from '../../api/list.ts';
import { useThing } from '../../api/thing.ts';
import { withChosen } from '../../components/form/filters.tsx';
import { Choices, Form, SelectField } from '../../components/form/form.tsx';
import { Rows, readRows } from '../../components/form/rows.tsx';
import { Section } from '../../components/resource/part.tsx';
import { OfThing } from '../../components/resource/thing.tsx';
import { Providers } from './providers.tsx';

export function SignIn() {
  const thing = useThing<SignInPolicy>(resource('sign-in-policy'));
  const list = useList<IdentityProvider>(resource('identity-providers'), { limit: 200 });
  return (
    <>
      <h1>Sign-in</h1>
      <p class="quiet">For all teams of this installation.</p>
      <OfThing thing={thing}>
        {(policy) => (
          <>
            <SecondFactorPolicy
              key={thing.version}
              value={policy.secondFactor}
              save={(secondFactor) => thing.change(() => ({ secondFactor }))}
            />
            {list.items && (
              <PasswordPolicy
                key={`passwords-${thing.version}`}
                policy={policy}
                providers={list.items}
                save={(patch) => thing.change(() => patch)}
              />
            )}
            <Providers list={list} />
          </>
        )}
      </OfThing>
    </>
  );
}

const secondFactorRules: readonly (readonly [SecondFactorRule, string])[] = [
  ['optional', 'Users who have set up a second factor'],
  ['admins', 'Also all Admins'],
  ['all', 'All users'],
];

interface PolicyProps {
  readonly value: SecondFactorRule;
  readonly save: (secondFactor: string) => Promise<unknown>;
}

export function SecondFactorPolicy({ value, save }: PolicyProps) {
  return (
    <Section
      title="Two-step verification"
      help="security#two-step-verification"
      note="Users without a second factor set one up after their password. Existing sessions continue until they end."
      line
    >
      <Form submit="Save policy" done="Policy saved" onSubmit={(data) => save(String(data.get('secondFactor')))}>
        <SelectField
          name="secondFactor"
          label="Who needs a second factor"
          hint="The strictest policy of the installation and of the user's teams applies."
          options={secondFactorRules}
          value={value}
        />
      </Form>
    </Section>
  );
}

const passwordRules: readonly (readonly [SignInPolicy['passwords'], string])[] = [
  ['everyone', 'Everyone'],
  ['break-glass', 'Only the users below'],
];

interface PasswordPolicyProps {
  readonly policy: SignInPolicy;
  readonly providers: readonly IdentityProvider[];
  readonly save: (patch: Partial<SignInPolicy>) => Promise<unknown>;
}

function PasswordPolicy({ policy, providers, save }: PasswordPolicyProps) {
  // The first team is the oldest team. Its Admins run the installation.
  const [first] = useList<Team>(resource('teams'), { limit: 1 }).items ?? [];
  const options = withChosen(
    providers.map(({ id, name }) => [id, name]),
    policy.domains.map(({ providerId }) => providerId),
  );
  return (
    <Section
      title="Passwords"
      help="single-sign-on#passwords"
      note="A change applies at the next sign-in. Existing sessions continue."
    >
      <Form
        submit="Save password rules"
        done="Password rules saved"
        onSubmit={(data) =>
          save({
            passwords: data.get('passwords') as SignInPolicy['passwords'],
            breakGlass: data.getAll('breakGlass').map(String),
            domains: [...readRows(data, 'domains', ['domain', 'providerId'])],
          })
        }
      >
        <SelectField
          name="passwords"
          label="Who may sign in with a password"
          options={passwordRules}
          value={policy.passwords}
        />
        {first && <BreakGlass team={first.id} chosen={policy.breakGlass} />}
        <Rows
          name="domains"
          legend="Domains that must use a provider"
          hint="Users with an address of the domain cannot use a password. Subdomains have rules of their own."
          noun="domain"
          rows={policy.domains}
          columns={[
            { name: 'domain', label: 'Domain', placeholder: 'shop.example' },
            { name: 'providerId', label: 'Provider', options },
          ]}
        />
      </Form>
    </Section>
  );
}

/** A field for choosing among the Admins of the installation. Users who were chosen with the API stay chosen. */
function BreakGlass({ team, chosen }: { readonly team: string; readonly chosen: readonly string[] }) {
  const { items } = useList<Member>(resource('teams', team, 'members'), { limit: 200 });
  if (items === undefined) return null;
  const admins = items.filter(({ id, role }) => role === 'Admin' || chosen.includes(id));
  const others = chosen.filter((id) => !admins.some((admin) => admin.id === id));
  return (
    <Choices
      legend="Who may always use a password"
      hint="For example, while the provider is down. Each of these users needs a password."
      type="checkbox"
      name="breakGlass"
      choices={[
        ...admins.map(({ id, name, email }) => [id, name, email ?? ''] as const),
        ...others.map((id) => [id, id, 'In another team.'] as const),
      ]}
      checked={(id) => chosen.includes(id)}
    />
  );
}
