import { createHash } from 'node:crypto';
import { type ImportPart, maxPartCounts } from '../../contract/shapes/import.ts';
import type { Source } from './source.ts';

/** A part of an import, and how far the source was read. */
export interface Part {
  readonly number: number;
  readonly variants: ImportPart['variants'];
  readonly counts: ImportPart['counts'];
  /** In bytes. */
  readonly done: number;
}

/** Maximum number of counts of a row. */
const maxRowCounts = 2;
/** Maximum number of characters of the names in a part. */
const maxNames = 64 * 1024;

/**
 * Divides the counts of a source into parts. The division depends on the content only, and must not change: the server remembers
 * parts by their numbers permanently.
 * @param environment rows of other environments are left out; `undefined` if the rows name none
 */
export function* partsOf(source: Source, environment: string | undefined): Generator<Part> {
  const waiting: Omit<Part, 'done'>[] = [];
  let [number, part] = [0, new Draft()];
  const end = () => {
    waiting.push({ number, variants: part.variants, counts: part.counts });
    number += 1;
    part = new Draft();
  };
  const reading = source.read((of, ...counts) => {
    if (of !== environment) return;
    part.add(...counts);
    if (part.isFull) end();
  });
  let done = 0;
  for (done of reading) {
    for (const each of waiting.splice(0)) yield { ...each, done };
  }
  if (part.counts.length > 0) end();
  for (const each of waiting) yield { ...each, done };
}

class Draft {
  readonly variants: [string, string][] = [];
  readonly counts: [number, number, number, number, number][] = [];
  readonly #places = new Map<string, Map<string, number>>();
  #names = 0;

  get isFull(): boolean {
    return this.counts.length > maxPartCounts - maxRowCounts || this.#names > maxNames;
  }

  add(time: number, feature: string, variant: string, checks: number, used: number, viewed: number): void {
    const place = this.#places.get(feature)?.get(variant) ?? this.#addVariant(feature, variant);
    this.counts.push([time, place, checks, used, viewed]);
  }

  #addVariant(feature: string, variant: string): number {
    const place = this.variants.length;
    this.variants.push([feature, variant]);
    this.#names += feature.length + variant.length;
    const ofFeature = this.#places.get(feature) ?? new Map<string, number>();
    this.#places.set(feature, ofFeature.set(variant, place));
    return place;
  }
}

/**
 * Identifies an import by the content of its files. The server stores it: the same input must give the same result in every
 * version.
 */
export function importOf(source: Source, environment: string | undefined): string {
  const content = ['flagmeter import 1', source.format, environment ?? null, source.digest()];
  return createHash('sha256').update(JSON.stringify(content)).digest('hex');
}
