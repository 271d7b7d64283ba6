import { expect, it } from 'vitest';
import { Dice } from '../../chaos/dice.ts';
import { drawFaults, faults } from '../../chaos/faults/draw.ts';
import type { Scene } from '../../chaos/scene/scene.ts';

const scene = { database: {}, nodes: [{ name: 'node1' }, { name: 'node2' }, { name: 'node3' }] } as unknown as Scene;
const drawn = (seed: number) => drawFaults(scene, new Dice(seed), []);
const seeds = Array.from({ length: 2_000 }, (_, seed) => seed);

it('drawFaults draws the same faults for the same seed', () => {
  for (const seed of seeds.slice(0, 20)) expect(drawn(seed)).toEqual(drawn(seed));
});

it('drawFaults draws every fault in some round, and one to three faults in each round', () => {
  const all = seeds.map(drawn);
  const often = [...faults].filter(([, { weight }]) => weight !== 0).map(([name]) => name);
  expect(new Set(all.flat().map(({ name }) => name))).toEqual(new Set(often));
  expect(new Set(all.map(({ length }) => length))).toEqual(new Set([1, 2, 3]));
});

it('drawFaults draws a named fault, however rare it is', () => {
  for (const name of faults.keys())
    expect(drawFaults(scene, new Dice(1), [name]).map((each) => each.name)).toContain(name);
});

it('drawFaults never draws two faults that affect the same node or resource', () => {
  for (const round of seeds.map(drawn)) {
    const claims = round.flatMap(({ fault, node }) =>
      fault.claims.map((claim) => (claim === 'node' ? node.name : claim)),
    );
    expect(new Set(claims).size).toBe(claims.length);
    expect(claims.includes('everything') && round.length > 1).toBe(false);
  }
});
