import type { IdentityProvider } from '../../../contract/shapes/identity-provider.ts';
import type { SecondFactorRule, SignInPolicy } from '../../../contract/shapes/sign-in-policy.ts';
import { resource } from '../../api/client.ts';
import { useList } from '../../api/list.ts';
import { useThing } from '../../api/thing.ts';
import { Form, SelectField } from '../../parts/form.tsx';
import { OfThing } from '../../parts/thing.tsx';
import { Part } from './part.tsx';
import { PasswordPolicy } from './password-policy.tsx';
import { Providers } from './providers.tsx';

/** How the users of the installation sign in. The API shows it to its administrators. */
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

const rules: readonly (readonly [SecondFactorRule, string])[] = [
  ['optional', 'Users who have set one up'],
  ['admins', 'Also all Admins'],
  ['all', 'All users'],
];

interface PolicyProps {
  readonly value: SecondFactorRule;
  readonly save: (secondFactor: string) => Promise<unknown>;
}

/** Who needs a second factor, in the installation or in a team. */
export function SecondFactorPolicy({ value, save }: PolicyProps) {
  return (
    <Part
      title="Two-step verification"
      help="oauth#two-step-verification"
      note="Users without a second factor set one up after their password. Existing sessions continue until they end."
      line
    >
      <Form
        submit="Save the policy"
        done="The policy is saved"
        onSubmit={(data) => save(String(data.get('secondFactor')))}
      >
        <SelectField
          name="secondFactor"
          label="Who needs a second factor"
          hint="Of the installation and the teams of a user, the strictest counts."
          options={rules}
          value={value}
        />
      </Form>
    </Part>
  );
}
