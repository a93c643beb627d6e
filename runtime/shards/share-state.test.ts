import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Claim } from './claim.ts';
import { noClaim } from './claim.ts';
import { rendezvous } from './rendezvous.ts';
import { ShareState } from './share-state.ts';

const keys = Array.from({ length: 8 }, (_, n) => `tenants/tenant-${n}`);
const ownOf = (member: string, members: readonly string[]): string => {
  const key = keys.find((one) => rendezvous(one, members) === member);
  if (key === undefined) throw new Error(`none of the keys belongs to ${member}`);
  return key;
};

/** A member that has published that it shares the keys with `members`, and knows what the others claim. */
const settled = (self: string, members: readonly string[], others: readonly [string, Claim][]): ShareState => {
  const state = new ShareState(self);
  state.aim(members);
  const claim = state.nextClaim();
  state.sending(claim);
  state.stands(claim);
  state.saw(new Map(others));
  return state;
};

describe('a member', () => {
  test('owns nothing before it has published its claim and looked at those of others afterwards', () => {
    const state = new ShareState('a');
    const key = 'tenants/shop';
    expect(state.owns(key)).toBe(false);
    state.saw(new Map());
    state.aim(['a']);
    expect(state.owns(key)).toBe(false);
    const claim = state.nextClaim();
    state.sending(claim);
    state.stands(claim);
    expect(state.owns(key)).toBe(false);
    state.saw(new Map());
    expect(state.owns(key)).toBe(true);
  });

  test('waits for a key that another one still claims, by its members or by name', () => {
    const key = ownOf('b', ['a', 'b']);
    const before: Claim = { members: ['a'], held: [] };
    expect(settled('b', ['a', 'b'], [['a', before]]).owns(key)).toBe(false);
    expect(settled('b', ['a', 'b'], [['a', { members: ['a', 'b'], held: [key] }]]).owns(key)).toBe(false);
    expect(settled('b', ['a', 'b'], [['a', { members: ['a', 'b'], held: [] }]]).owns(key)).toBe(true);
  });

  test('begins nothing on a key that goes to another one, and names it while it runs', () => {
    const key = ownOf('b', ['a', 'b']);
    const state = settled('a', ['a'], []);
    const end = state.begin(key);
    expect(end).toBeDefined();
    state.aim(['a', 'b']);
    expect(state.begin(key)).toBeUndefined();
    const claim = state.nextClaim();
    expect(claim).toEqual({ members: ['a', 'b'], held: [key] });
    state.sending(claim);
    state.stands(claim);
    expect(state.holdsTooMuch).toBe(false);
    end?.();
    end?.();
    expect(state.holdsTooMuch).toBe(true);
    expect(state.nextClaim().held).toEqual([]);
  });

  test('does not own what it claimed before and after, but not in between, until it has looked again', () => {
    const state = settled('a', ['a'], []);
    const key = ownOf('b', ['a', 'b']);
    for (const members of [['a', 'b'], ['a']]) {
      state.aim(members);
      const claim = state.nextClaim();
      state.sending(claim);
      state.stands(claim);
    }
    expect(state.owns(key)).toBe(false);
    state.saw(new Map());
    expect(state.owns(key)).toBe(true);
  });

  test('begins nothing on a key that a claim without an answer would give up', () => {
    const state = settled('a', ['a'], []);
    const key = ownOf('b', ['a', 'b']);
    state.aim(['a', 'b']);
    state.sending(state.nextClaim());
    state.aim(['a']);
    state.saw(new Map());
    expect(state.owns(key)).toBe(false);
  });

  test('a renewal of the same claim changes nothing', () => {
    const state = settled('a', ['a'], []);
    expect(state.owns('tenants/shop')).toBe(true);
    const { round } = state;
    const claim = state.nextClaim();
    state.sending(claim);
    state.stands(claim);
    state.saw(new Map());
    state.aim(['a']);
    expect(state.round).toBe(round);
  });
});

describe('several members', () => {
  const act = fc.constantFrom(
    'aim',
    'send',
    'send',
    'arrive',
    'give up',
    'land',
    'look',
    'look',
    'begin',
    'begin',
    'end',
  );
  const step = fc.record({ who: fc.nat(2), act, set: fc.nat(7) });

  // Every step of every member may come at any time; a claim that was sent may arrive later or never, and its sender does not know which.
  test('never two work on the same key, in whatever order they claim, look, begin and end', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 60, maxLength: 120, size: 'max' }), (steps) => {
        const names = ['a', 'b', 'c'];
        const states = names.map((name) => new ShareState(name));
        const stored = new Map<string, Claim>(names.map((name) => [name, noClaim]));
        const sent = new Map<string, Claim>();
        const late = new Map<string, Claim[]>(names.map((name) => [name, []]));
        const running = new Map<string, Map<string, () => void>>(names.map((name) => [name, new Map()]));
        for (const { who, act: what, set } of steps) {
          const [name = '', state] = [names[who], states[who]];
          const [own, pending] = [running.get(name), sent.get(name)];
          if (what === 'aim') state?.aim(names.filter((one, n) => one === name || (set >> n) % 2 === 1));
          if (what === 'send' && pending === undefined) {
            const claim = state?.nextClaim() ?? noClaim;
            state?.sending(claim);
            sent.set(name, claim);
          }
          if (what === 'arrive' && pending !== undefined) {
            stored.set(name, pending);
            late.set(name, []);
            sent.delete(name);
            state?.stands(pending);
          }
          // Its sender waits no longer, but it may still arrive, unless a later one arrives before it.
          if (what === 'give up' && pending !== undefined) {
            late.get(name)?.push(pending);
            sent.delete(name);
          }
          if (what === 'land') stored.set(name, late.get(name)?.splice(0)[set % 3] ?? stored.get(name) ?? noClaim);
          if (what === 'look') state?.saw(new Map([...stored].filter(([one]) => one !== name)));
          for (const key of what === 'begin' ? keys.filter((one) => own?.has(one) === false) : []) {
            const end = state?.begin(key);
            if (end !== undefined) own?.set(key, end);
          }
          for (const [key, end] of what === 'end' ? [...(own ?? [])].slice(set) : []) {
            end();
            own?.delete(key);
          }
          const all = [...running.values()].flatMap((ofOne) => [...ofOne.keys()]);
          if (new Set(all).size !== all.length) throw new Error(`two work on one of ${all.sort().join()}`);
        }
      }),
      { numRuns: 500 },
    );
  });

  test('once all have claimed and looked, each key is worked on by exactly one', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 6 }), (count) => {
        const names = Array.from({ length: count }, (_, n) => `member-${n}`);
        const others = (self: string): [string, Claim][] =>
          names.filter((one) => one !== self).map((one) => [one, { members: names, held: [] }]);
        const states = names.map((name) => settled(name, names, others(name)));
        for (const key of keys) expect(states.filter((state) => state.owns(key))).toHaveLength(1);
      }),
    );
  });
});
