import { expect, it } from 'vitest';
import { busyCores } from '../../src/bench/load/server-usage.ts';
import type { Measurement, ThreadCpu } from '../../src/bench/measurement.ts';
import { findBottleneck } from '../../src/bench/recommendation.ts';
import { measured } from './measurements.ts';

const threads = (...cores: readonly ThreadCpu[]) => ({ threads: cores });

it('a bench counts the cores that all processes of the machine used', () => {
  const cores = busyCores({ busy: 100, idle: 900 }, { busy: 400, idle: 1_000 }, 8);
  expect(cores).toBe(6);
  expect(busyCores({ busy: 1, idle: 1 }, { busy: 1, idle: 1 }, 8)).toBe(0);
});

it.each<[string, Partial<Measurement>, number, string]>([
  ['a busy generator', { generatorBusiest: 0.97, generatorCores: 0.97 }, 8, 'generator'],
  ['a busy main thread', threads({ role: 'main', cores: 0.96 }), 8, 'main'],
  [
    'a busy front-end thread next to an idle thread',
    threads({ role: 'front end', cores: 0.9 }, { role: 'front end', cores: 0.1 }),
    8,
    'front end',
  ],
  ['a busy journal thread', threads({ role: 'journal', cores: 0.88 }, { role: 'main', cores: 0.5 }), 8, 'journal'],
  ['a busy folding thread', threads({ role: 'fold', cores: 0.99 }), 8, 'fold'],
  [
    'the busier of main thread and generator',
    { ...threads({ role: 'main', cores: 0.97 }), generatorBusiest: 0.9 },
    8,
    'main',
  ],
  [
    'two cores that everything shares',
    { ...threads({ role: 'main', cores: 0.8 }, { role: 'other', cores: 0.4 }), generatorCores: 0.7 },
    2,
    'cores',
  ],
  [
    'processes that take the cores',
    { ...threads({ role: 'main', cores: 0.2 }), commitShare: 1, foreignCores: 1.3 },
    2,
    'other processes',
  ],
  ['idle threads during commits', { ...threads({ role: 'main', cores: 0.2 }), commitShare: 0.9 }, 8, 'disk'],
  ['idle threads and an idle disk', { ...threads({ role: 'main', cores: 0.2 }), commitShare: 0.2 }, 8, 'waiting'],
  ['helper threads of the runtime, which share the cores', threads({ role: 'other', cores: 2.5 }), 8, 'waiting'],
])('a bench detects the bottleneck of %s', (_, given, cores, limit) => {
  expect(findBottleneck(measured(given), cores)).toMatchObject({ limit });
});
