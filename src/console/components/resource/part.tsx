import type { ComponentChildren } from 'preact';
import { permissions, type Role, roles } from '../../../contract/roles.ts';
import type { Team } from '../../../contract/shapes/team.ts';
import { hasRole } from '../../reader/reader.tsx';
import { ConfirmButton } from '../form/confirm.tsx';
import { Field, Form, SelectField } from '../form/form.tsx';
import { Help } from '../help.tsx';

/** Explains to readers without the required role why they cannot change anything. */
export function ReadOnlyNote({ what, least = 'Admin' }: { readonly what: string; readonly least?: Role }) {
  if (hasRole(least)) return null;
  const who = least === 'Admin' ? 'an Admin' : 'Users and Admins';
  return (
    <p class="callout callout-note">
      Only {who} can change {what}.
    </p>
  );
}

interface SectionProps {
  readonly title: string;
  /** Section of the docs about the subject, as in `Help`. */
  readonly help?: string;
  readonly note?: ComponentChildren;
  /** True to show the button of the form next to its field. */
  readonly line?: boolean;
  readonly children: ComponentChildren;
}

export function Section({ title, help, note, line, children }: SectionProps) {
  return (
    <section class={line ? 'settings-part form-line' : 'settings-part'}>
      <h2>{help === undefined ? title : <Help to={help}>{title}</Help>}</h2>
      {note && <p class="quiet">{note}</p>}
      {children}
    </section>
  );
}

interface NameSectionProps {
  readonly name: string;
  readonly hint?: string;
  readonly save: (name: string) => Promise<unknown>;
}

export function NameSection({ name, hint, save }: NameSectionProps) {
  return (
    <Section title="Name" line>
      <Form
        submit="Save name"
        done="Name saved"
        codes={{ invalid_name: 'name' }}
        onSubmit={(data) => save(String(data.get('name')))}
      >
        <Field name="name" label="Name" value={name} required hint={hint} />
      </Form>
    </Section>
  );
}

interface DeletionSectionProps {
  readonly kind: string;
  readonly name: string;
  readonly remove: () => Promise<void>;
  readonly children: string;
}

export function DeletionSection({ kind, name, remove, children }: DeletionSectionProps) {
  return (
    <Section title={`Delete ${kind}`}>
      <ConfirmButton
        danger
        label={`Delete ${kind} ${name}`}
        title={`Delete ${kind} ${name}`}
        action={`Delete ${kind}`}
        done={`Deleted ${kind} ${name}`}
        typed={name}
        onConfirm={remove}
      >
        <p>{children}</p>
      </ConfirmButton>
    </Section>
  );
}

export function RoleField({ value, label = 'Role' }: { readonly value?: Role; readonly label?: string }) {
  return (
    <SelectField
      name="role"
      label={label}
      hint={roles.map((role) => `${role}: ${permissions[role]}.`).join(' ')}
      options={roles.map((role) => [role])}
      value={value ?? 'User'}
    />
  );
}

interface TeamFieldProps {
  readonly teams: readonly Pick<Team, 'id' | 'name'>[];
  readonly value: string | undefined;
  readonly name?: string;
  readonly label?: string;
}

/** A field for choosing a team. Renders nothing if the reader has only one team. */
export function TeamField({ teams, value, name = 'teamId', label = 'Team' }: TeamFieldProps) {
  if (teams.length < 2) return null;
  const options = teams.map(({ id, name }) => [id, name] as const);
  return <SelectField name={name} label={label} options={options} value={value} />;
}
