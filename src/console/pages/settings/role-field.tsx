import { Field } from '../../parts/form.tsx';

const roles = ['User', 'Admin'] as const;

/** The choice of a role. */
export function RoleField({ value = 'User' }: { readonly value?: 'User' | 'Admin' }) {
  return (
    <Field
      name="role"
      label="Role"
      hint="An Admin manages everything in their teams. A User reads everything, and writes flags and metrics."
      control={(properties) => (
        <select {...properties}>
          {roles.map((role) => (
            <option key={role} selected={role === value}>
              {role}
            </option>
          ))}
        </select>
      )}
    />
  );
}
