import { describe, expect, it } from 'vitest';
import { reportHtml } from '../../src/bench/report.ts';
import { conclude } from '../../src/bench/result.ts';
import { measured } from './measurements.ts';

const machine = { version: '1.2.3', cores: 2, processor: '<b>CPU</b>', memory: 2 ** 33, at: 0 };
const base = { threads: 1, 'commit-delay': 0 };
const all = [
  measured({ threads: [{ role: 'main', cores: 0.95 }] }),
  measured({ share: 0.5, offered: 25_000, packetsPerSecond: 25_000, errorKinds: { '"><script>': 1 }, errors: 1 }),
];

describe('the report', () => {
  const page = reportHtml(conclude({ measurements: all, candidate: undefined }, base, machine, [], true));

  it('the report of a bench escapes every text', () => {
    expect(page).toContain('&lt;b&gt;CPU&lt;/b&gt;');
    expect(page).not.toMatch(/<b>|<script/);
  });

  it('the report of a bench loads no external resources', () => {
    expect(page).toContain("default-src 'none'");
    expect(page).not.toMatch(/\b(src|href)=|url\(|@import/);
  });

  it('the report of a bench shows the bottleneck, and draws a bar for each stage', () => {
    expect(page).toContain('Bottleneck: main');
    expect(page.match(/class="row"/g)).toHaveLength(3);
  });

  it('the report of a bench without stages is a complete page', () => {
    expect(reportHtml(conclude({ measurements: [], candidate: undefined }, base, machine, [], true))).toContain(
      '</html>',
    );
  });
});
