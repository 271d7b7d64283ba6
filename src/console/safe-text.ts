import { type ComponentChildren, Fragment, options, type VNode } from 'preact';
import { replaceDirectional } from '../contract/active-characters.ts';

/** Attributes that people read. */
const readAttributes = ['title', 'aria-label', 'alt', 'placeholder'] as const;

/**
 * Shows characters that change the direction of text as U+FFFD, wherever the console shows text: a name of a sender could pass for
 * another one, or reverse what follows it. Fields of forms keep their values, so a name is sent back as it is.
 */
export function showSafeText(): void {
  const before = options.vnode;
  options.vnode = (vnode: VNode) => {
    if (typeof vnode.type === 'string' || vnode.type === Fragment) makeSafe(vnode.props);
    before?.(vnode);
  };
}

function makeSafe(props: Record<string, unknown>): void {
  if (props['children'] !== undefined) props['children'] = safe(props['children'] as ComponentChildren);
  for (const name of readAttributes) {
    const text = props[name];
    if (typeof text === 'string') props[name] = safeText(text);
  }
}

function safe(children: ComponentChildren): ComponentChildren {
  if (typeof children === 'string') return safeText(children);
  return Array.isArray(children) ? children.map(safe) : children;
}

/** A text with each character that changes its direction replaced. */
export function safeText(text: string): string {
  return replaceDirectional(text, () => '\ufffd');
}
