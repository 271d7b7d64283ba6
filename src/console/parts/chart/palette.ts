import type { Tone } from './series.ts';

/** Colours as a canvas takes them. */
export interface Palette {
  series(tone: Tone): string;
  readonly line: string;
  readonly quiet: string;
  readonly raised: string;
}

const tones: readonly Tone[] = [1, 2, 3, 4, 5, 6, 'other'];

/** Reads the colours of the theme that an element is shown in. */
export function paletteOf(element: HTMLElement): Palette {
  const probe = document.createElement('i');
  element.append(probe);
  const read = (name: string) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const series = new Map(tones.map((tone) => [tone, read(`series-${tone}`)]));
  const [line, quiet, raised] = [read('line'), read('quiet'), read('raised')];
  probe.remove();
  return { series: (tone) => series.get(tone)!, line, quiet, raised };
}

/** Calls back when the theme may have changed: the reader's system has another, or the page. @returns stops it */
export function onThemeChange(changed: () => void): () => void {
  const system = matchMedia('(prefers-color-scheme: dark)');
  const page = new MutationObserver(changed);
  system.addEventListener('change', changed);
  page.observe(document.documentElement, { attributes: true });
  return () => {
    system.removeEventListener('change', changed);
    page.disconnect();
  };
}
