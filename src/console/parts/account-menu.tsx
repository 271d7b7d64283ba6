import { useLocation } from 'preact-iso';
import { address } from '../address.ts';
import { signOut, user } from '../session.ts';
import { chooseTheme, type Theme, theme, themes } from '../theme.ts';
import { Menu } from './menu.tsx';
import { openShortcuts } from './shortcuts.tsx';

/** The menu of the signed-in user. */
export function AccountMenu() {
  const { route } = useLocation();
  const { name, email } = user.value ?? { name: '', email: '' };
  return (
    <Menu
      class="account"
      end
      label={
        <>
          <span class="avatar" aria-hidden="true">
            {(name || email).slice(0, 1).toUpperCase()}
          </span>
          <span class="hidden">Account: </span>
          <span class="account-label" title={name || email}>
            {name || email}
          </span>
        </>
      }
      items={[
        { label: 'Settings', onSelect: () => route(address('settings')) },
        { label: 'Audit log', onSelect: () => route(address('audit')) },
        { label: 'Docs', onSelect: () => location.assign(address('docs')) },
        { label: 'Shortcuts', onSelect: openShortcuts },
        ...(Object.keys(themes) as Theme[]).map((each, index) => ({
          label: themes[each],
          checked: theme.value === each,
          apart: index === 0,
          onSelect: () => chooseTheme(each),
        })),
        { label: 'Sign out', apart: true, onSelect: () => void signOut() },
      ]}
    />
  );
}
