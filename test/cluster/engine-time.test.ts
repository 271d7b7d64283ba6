import { describe, expect, it } from 'vitest';
import { EngineTime } from '../../src/cluster/engine-time.ts';

/** A node whose own clock is an hour ahead, and an engine whose answer takes as long as is said. */
function setUp() {
  const engine = { now: 1_000_000 };
  const passed = { ms: 0 };
  const time = new EngineTime({ now: () => engine.now + 3_600_000, monotonic: () => passed.ms });
  const pass = (ms: number) => {
    engine.now += ms;
    passed.ms += ms;
  };
  const hear = (thereMs: number, backMs: number) => {
    const asked = passed.ms;
    pass(thereMs);
    const at = engine.now;
    pass(backMs);
    time.heard(at, asked);
  };
  return { engine, time, pass, hear };
}

describe("the engine's time", () => {
  it("says how far the node's clock is ahead", () => {
    const { time, hear } = setUp();
    hear(30, 30);
    expect(time.skewMs).toBe(3_600_000);
  });

  it("is the node's own until the engine was heard", () => {
    const { engine, time } = setUp();
    expect(time.now()).toBe(engine.now + 3_600_000);
  });

  it('goes on with the clock for ages, and is behind by the way back of the answer', () => {
    const { engine, time, pass, hear } = setUp();
    hear(40, 7);
    pass(5_000);
    expect(time.now()).toBe(engine.now - 7);
  });

  it('gets better with a faster answer, and no worse with a slower one', () => {
    const { engine, time, hear } = setUp();
    hear(0, 100);
    hear(50, 3);
    expect(time.now()).toBe(engine.now - 3);
    hear(0, 100);
    expect(time.now()).toBe(engine.now - 3);
  });

  it.each([-2_000, 2_000])('follows a server whose clock differs by %i ms', (ms) => {
    const { engine, time, hear } = setUp();
    hear(1, 1);
    engine.now += ms;
    hear(1, 1);
    expect(Math.abs(time.now() - engine.now)).toBeLessThanOrEqual(1);
  });
});
