import type { Owner } from './owner.ts';

export interface OwnedItem {
  readonly owners: readonly Owner[];
  readonly tags: readonly string[];
}

export interface Me {
  readonly id: string;
  /** `null` for an API key. */
  readonly email: string | null;
  readonly teams: readonly { readonly id: string; readonly name: string }[];
}

/**
 * True if an owner of a flag is the user, a team of the user, or the user's e-mail address as text. CODEOWNERS contains
 * names of a code host, so `@ada` also matches ada@shop.example, and `@shop/checkout` a team named Checkout.
 */
export function isMine({ owners }: Pick<OwnedItem, 'owners'>, { id, email, teams }: Me): boolean {
  const mine = new Set([email, email && `@${email.split('@')[0]}`].map((text) => text?.toLowerCase()));
  const slugs = new Set(teams.map(({ name }) => formatSlug(name)));
  return owners.some((owner) => {
    if (owner.type === 'user') return owner.id === id;
    if (owner.type === 'team') return teams.some((team) => team.id === owner.id);
    const name = owner.name.toLowerCase();
    const [, team] = /^@[^/]+\/(.+)$/.exec(name) ?? [];
    return mine.has(name) || (team !== undefined && slugs.has(team));
  });
}

/** Returns the name of a team as code hosts write it in addresses. */
function formatSlug(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}

/** Returns the names of owners as a text: `Ada Lovelace, Checkout`. */
export function ownersText(owners: readonly Pick<Owner, 'name'>[]): string {
  return owners.map(({ name }) => name).join(', ');
}
