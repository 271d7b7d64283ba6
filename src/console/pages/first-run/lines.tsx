import { CopyButton } from '../../parts/copy.tsx';
import type { Block, Lines } from './target.ts';

interface LinesViewProps {
  readonly lines: Lines;
  /** Whether the text of the key is unknown. */
  readonly incomplete: boolean;
}

/** The lines of a target, to copy. */
export function LinesView({ lines: { intro, blocks }, incomplete }: LinesViewProps) {
  return (
    <>
      <p>{intro}</p>
      {incomplete && (
        <p class="warn">
          Replace <code>YOUR_BACKEND_KEY</code> with the key, which is no longer known here.
        </p>
      )}
      {blocks.map((block) => (
        <BlockView key={block.name} {...block} />
      ))}
    </>
  );
}

function BlockView({ name, how, code }: Block) {
  return (
    <div class="connect-code">
      <p class="head spread connect-bar">
        <span class="quiet">{how}</span>
        <CopyButton text={code} title={`Copy the ${name}`} />
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it must be scrollable by keyboard */}
      <section class="connect-text" tabIndex={0} aria-label={`The ${name}`}>
        <pre>
          <code>{code}</code>
        </pre>
      </section>
    </div>
  );
}
