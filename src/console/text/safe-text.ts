import { type ComponentChildren, Fragment, options, type VNode } from 'preact';
import { replaceDirectional } from '../../contract/escaping.ts';

const textAttributes = ['title', 'aria-label', 'alt', 'placeholder'] as const;

/**
 * Shows characters that change the direction of text as U+FFFD in all texts of the console. With such characters, a
 * sender's name could look like another name, or reverse the text after it. Form fields keep their values, so that
 * names are sent back unchanged.
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
  for (const name of textAttributes) {
    const text = props[name];
    if (typeof text === 'string') props[name] = safeText(text);
  }
}

function safe(children: ComponentChildren): ComponentChildren {
  if (typeof children === 'string') return safeText(children);
  return Array.isArray(children) ? children.map(safe) : children;
}

export function safeText(text: string): string {
  return replaceDirectional(text, () => '\ufffd');
}
