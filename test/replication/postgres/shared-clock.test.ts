import { describe, expect, it } from 'vitest';
import { SharedClock } from '../../../src/replication/postgres/shared-clock.ts';

const hour = 3_600_000;

/** Sets up a machine whose clock is an hour ahead, and a PostgreSQL whose responses take given times. */
function setUp() {
  const postgres = { now: 1_000_000 };
  const machine = { now: postgres.now + hour };
  const passed = { ms: 0 };
  const time = new SharedClock({ now: () => machine.now, monotonic: () => passed.ms, after: () => {} });
  const pass = (ms: number) => {
    postgres.now += ms;
    machine.now += ms;
    passed.ms += ms;
  };
  const hear = (thereMs: number, backMs: number) => {
    const asked = passed.ms;
    pass(thereMs);
    const at = postgres.now;
    pass(backMs);
    time.heard(at, asked);
  };
  return { postgres, machine, time, pass, hear };
}

describe("PostgreSQL's time", () => {
  it("comes with the difference of the machine's clock, less the difference that a slow response can explain", () => {
    const { time, hear } = setUp();
    hear(30, 30);
    expect(time.skewMs).toBe(hour - 30);
  });

  it("equals the machine's own time until PostgreSQL has responded", () => {
    const { postgres, time } = setUp();
    expect(time.now()).toBe(postgres.now + hour);
  });

  it('follows the monotonic clock, and is behind by the latency of the response', () => {
    const { postgres, time, pass, hear } = setUp();
    hear(40, 7);
    pass(5_000);
    expect(time.now()).toBe(postgres.now - 7);
  });

  it('improves with a faster response, and does not degrade with a slower one', () => {
    const { postgres, time, hear } = setUp();
    hear(0, 100);
    hear(50, 3);
    expect(time.now()).toBe(postgres.now - 3);
    hear(0, 100);
    expect(time.now()).toBe(postgres.now - 3);
  });

  it.each([-2_000, 2_000])('follows a server whose clock differs by %i ms', (ms) => {
    const { postgres, time, hear } = setUp();
    hear(1, 1);
    postgres.now += ms;
    hear(1, 1);
    expect(Math.abs(time.now() - postgres.now)).toBeLessThanOrEqual(1);
  });

  describe.each([-hour, -6_000, 6_000, hour])("a jump of PostgreSQL's clock by %i ms", (ms) => {
    function jump() {
      const all = setUp();
      const { postgres, machine, hear } = all;
      machine.now = postgres.now;
      hear(1, 1);
      postgres.now += ms;
      hear(1, 1);
      return all;
    }

    it("leaves the time unchanged while the machine's clock does not agree", () => {
      const { postgres, machine, time, pass, hear } = jump();
      pass(60_000);
      hear(1, 1);
      expect(time.now()).toBe(machine.now - 1);
      expect(Math.abs(time.skewMs)).toBeGreaterThan(5_000);
      postgres.now -= ms;
      hear(1, 1);
      expect(time.now()).toBe(machine.now - 1);
      expect(time.skewMs).toBe(0);
    });

    it("affects the time once the machine's clock agrees", () => {
      const { postgres, machine, time, hear } = jump();
      machine.now += ms;
      hear(1, 1);
      expect(Math.abs(time.now() - postgres.now)).toBeLessThanOrEqual(1);
      expect(time.skewMs).toBe(0);
    });
  });

  it("follows PostgreSQL after a jump of the machine's clock", () => {
    const { postgres, machine, time, hear } = setUp();
    hear(1, 1);
    machine.now -= 3 * hour;
    hear(1, 1);
    expect(time.now()).toBe(postgres.now - 1);
  });
});
