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
  it('the reported clock difference excludes the part that a slow response can explain', () => {
    const { time, hear } = setUp();
    hear(30, 30);
    expect(time.skewMs).toBe(hour - 30);
  });

  it("the shared time equals the machine's time until PostgreSQL has responded", () => {
    const { postgres, time } = setUp();
    expect(time.now()).toBe(postgres.now + hour);
  });

  it('the shared time follows the monotonic clock, and lags by the latency of the response', () => {
    const { postgres, time, pass, hear } = setUp();
    hear(40, 7);
    pass(5_000);
    expect(time.now()).toBe(postgres.now - 7);
  });

  it('a faster response makes the shared time more exact, and a slower response does not change it', () => {
    const { postgres, time, hear } = setUp();
    hear(0, 100);
    hear(50, 3);
    expect(time.now()).toBe(postgres.now - 3);
    hear(0, 100);
    expect(time.now()).toBe(postgres.now - 3);
  });

  it.each([-2_000, 2_000])('the shared time follows a server whose clock jumps by %i ms', (ms) => {
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

    it('the shared time ignores a jump of the PostgreSQL clock that the clock of the machine does not confirm', () => {
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

    it('the shared time follows a jump of the PostgreSQL clock once the clock of the machine confirms it', () => {
      const { postgres, machine, time, hear } = jump();
      machine.now += ms;
      hear(1, 1);
      expect(Math.abs(time.now() - postgres.now)).toBeLessThanOrEqual(1);
      expect(time.skewMs).toBe(0);
    });
  });

  it("the shared time follows PostgreSQL after a jump of the machine's clock", () => {
    const { postgres, machine, time, hear } = setUp();
    hear(1, 1);
    machine.now -= 3 * hour;
    hear(1, 1);
    expect(time.now()).toBe(postgres.now - 1);
  });
});
