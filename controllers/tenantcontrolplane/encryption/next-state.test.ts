import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { noEncryption } from './encryption-state.ts';
import type { EncryptionState, WantedEncryption } from './encryption-state.ts';
import { nextState, staleResources, writesAsWanted } from './next-state.ts';
import { identity, providerId } from './provider.ts';
import type { Provider } from './provider.ts';

const key = (name: string): Provider => ({ kind: 'secretbox', name });
const kms: Provider = { kind: 'kms', name: 'vault', container: 'plugin' };
const off: WantedEncryption = { resources: [], writer: identity, generation: 1 };
const secretsWith = (writer: Provider, generation = 1): WantedEncryption => ({
  resources: ['secrets'],
  writer,
  generation,
});

/** The providers of a resource, the writing one first. */
function readersOf({ resources }: EncryptionState, resource = 'secrets'): readonly string[] {
  const found = resources.find((one) => one.resource === resource);
  return found === undefined ? ['identity'] : found.readers.map(({ provider }) => providerId(provider));
}

const nothing = { distributed: false, rewritten: false };
const distributed = { distributed: true, rewritten: false };
const rewritten = { distributed: true, rewritten: true };

/** All configurations on the way to what is wanted, when every step succeeds. */
function way(before: EncryptionState, wanted: WantedEncryption): readonly (readonly string[])[] {
  const seen: (readonly string[])[] = [];
  let state = nextState(before, wanted, nothing);
  for (let steps = 0; steps < 20; steps += 1) {
    if (JSON.stringify(seen.at(-1)) !== JSON.stringify(readersOf(state))) seen.push(readersOf(state));
    const informed = nextState(state, wanted, distributed);
    const isLeft = informed.revision === state.revision && staleResources(informed).length > 0;
    state = isLeft ? nextState(informed, wanted, rewritten) : informed;
  }
  return seen;
}

/** The state in which everything is as wanted. */
function settled(wanted: WantedEncryption, before: EncryptionState = noEncryption): EncryptionState {
  let state = before;
  for (let steps = 0; steps < 20; steps += 1) {
    const informed = nextState(state, wanted, distributed);
    state = informed.revision === state.revision ? nextState(informed, wanted, rewritten) : informed;
  }
  return state;
}

describe('The way from one encryption to the next', () => {
  test('on: is read everywhere, then written, and plain text goes last', () => {
    expect(way(noEncryption, secretsWith(key('a')))).toEqual([
      ['identity', 'secretbox/a'],
      ['secretbox/a', 'identity'],
      ['secretbox/a'],
    ]);
  });

  test('to a new key: is read everywhere, then written, and the old key goes last', () => {
    expect(way(settled(secretsWith(key('a'))), secretsWith(key('b')))).toEqual([
      ['secretbox/a', 'secretbox/b'],
      ['secretbox/b', 'secretbox/a'],
      ['secretbox/b'],
    ]);
  });

  test('off: plain text is read everywhere, then written, and the key goes last', () => {
    expect(way(settled(secretsWith(key('a'))), off)).toEqual([
      ['secretbox/a', 'identity'],
      ['identity', 'secretbox/a'],
      ['identity'],
    ]);
  });

  test('of a tenant without data is one step, without plain text', () => {
    expect(way({ ...noEncryption, isNew: true }, secretsWith(key('a')))).toEqual([['secretbox/a']]);
  });

  test('waits until all API servers have a configuration', () => {
    const first = nextState(noEncryption, secretsWith(key('a')), nothing);
    expect(nextState(first, secretsWith(key('a')), nothing)).toEqual(first);
  });

  test('keeps a provider while data may be stored with it', () => {
    const switched = nextState(
      nextState(noEncryption, secretsWith(key('a')), nothing),
      secretsWith(key('a')),
      distributed,
    );
    const informed = nextState(switched, secretsWith(key('a')), distributed);
    expect(readersOf(informed)).toEqual(['secretbox/a', 'identity']);
    expect(staleResources(informed)).toEqual(['secrets']);
  });

  test('leaves at once a provider that never wrote, such as a plugin that does not work', () => {
    const broken = nextState(settled(secretsWith(key('a'))), secretsWith(kms), nothing);
    expect(readersOf(broken)).toEqual(['secretbox/a', 'kms/vault']);
    const back = nextState(broken, secretsWith(key('a')), nothing);
    expect(readersOf(back)).toEqual(['secretbox/a']);
    expect(back.revision).toBe(broken.revision + 1);
  });

  test('of another resource leaves those that are encrypted alone', () => {
    const both = { ...secretsWith(key('a')), resources: ['configmaps', 'secrets'] };
    const after = nextState(settled(secretsWith(key('a'))), both, nothing);
    expect(readersOf(after, 'configmaps')).toEqual(['identity', 'secretbox/a']);
    expect(readersOf(after)).toEqual(['secretbox/a']);
    expect(writesAsWanted(after, both)).toBe(false);
    expect(readersOf(settled(both, after), 'configmaps')).toEqual(['secretbox/a']);
  });

  test('of a plugin with another key generation only writes again', () => {
    const before = settled(secretsWith(kms));
    const after = nextState(before, secretsWith(kms, 2), nothing);
    expect(readersOf(after)).toEqual(['kms/vault']);
    expect(staleResources(after)).toEqual(['secrets']);
    expect(after.revision).toBe(before.revision + 1);
    expect(staleResources(nextState(after, secretsWith(kms, 2), rewritten))).toEqual([]);
  });
});

/** What may happen at any moment. */
type Moment =
  | { readonly is: 'want'; readonly wanted: WantedEncryption }
  | { readonly is: 'reconcile' | 'roll' | 'return' | 'rewrite' }
  | { readonly is: 'write'; readonly resource: string; readonly by: number };

const resources = ['configmaps', 'secrets'];

const wantedArbitrary: fc.Arbitrary<WantedEncryption> = fc
  .record({
    resources: fc.subarray(resources),
    writer: fc.constantFrom(key('a'), key('b'), kms, { kind: 'aescbc', name: 'a' } as Provider),
    generation: fc.constantFrom(1, 2),
  })
  .map((wanted) => (wanted.resources.length === 0 ? off : wanted));

const momentArbitrary: fc.Arbitrary<Moment> = fc.oneof(
  { weight: 1, arbitrary: wantedArbitrary.map((wanted) => ({ is: 'want', wanted }) as const) },
  { weight: 4, arbitrary: fc.constant({ is: 'reconcile' } as const) },
  { weight: 3, arbitrary: fc.constant({ is: 'roll' } as const) },
  { weight: 1, arbitrary: fc.constant({ is: 'return' } as const) },
  { weight: 2, arbitrary: fc.constant({ is: 'rewrite' } as const) },
  {
    weight: 3,
    arbitrary: fc.record({ is: fc.constant('write' as const), resource: fc.constantFrom(...resources), by: fc.nat(9) }),
  },
);

/** A tenant whose API servers have one of two configurations, and its stored objects by what they are encrypted with. */
class Tenant {
  wanted: WantedEncryption = off;
  state: EncryptionState = noEncryption;
  /** What was found out about the present revision. */
  found = nothing;
  running: readonly EncryptionState[] = [noEncryption];
  readonly stored = resources.map((resource) => ({ resource, by: 'identity' }));

  happens(moment: Moment): void {
    switch (moment.is) {
      case 'want':
        this.wanted = moment.wanted;
        return;
      case 'reconcile':
        this.reconcile();
        return;
      case 'roll':
        // Old pods are gone, which the next look at the pods finds out.
        this.running = [this.state];
        this.found = { ...this.found, distributed: true };
        return;
      case 'return':
        // A rollout failed: only the pods before it are left.
        if (!this.found.distributed) this.running = this.running.slice(0, 1);
        return;
      case 'rewrite':
        if (!this.found.distributed || staleResources(this.state).length === 0) return;
        for (const object of this.stored) object.by = readersOf(this.state, object.resource)[0] ?? '';
        this.found = rewritten;
        return;
      case 'write': {
        const server = this.running[moment.by % this.running.length] ?? this.state;
        const object = this.stored.find(({ resource }) => resource === moment.resource);
        if (object !== undefined) object.by = readersOf(server, moment.resource)[0] ?? '';
      }
    }
  }

  reconcile(): void {
    const next = nextState(this.state, this.wanted, this.found);
    if (next.revision !== this.state.revision) {
      this.found = nothing;
      // Pods of the one before, and of those before it whose rollout did not end.
      this.running = [...this.running, next];
    }
    this.state = next;
  }

  unreadable(): readonly string[] {
    return [...this.running, this.state].flatMap((server) =>
      this.stored
        .filter(({ resource, by }) => !readersOf(server, resource).includes(by))
        .map(({ resource, by }) => `${resource} by ${by}, not among ${readersOf(server, resource).join()}`),
    );
  }
}

describe('Whatever happens in whatever order', () => {
  test('every API server can read everything that any has stored, and in the end all is as wanted', () => {
    fc.assert(
      fc.property(fc.array(momentArbitrary, { maxLength: 60 }), (moments) => {
        const tenant = new Tenant();
        for (const moment of moments) {
          tenant.happens(moment);
          expect(tenant.unreadable()).toEqual([]);
        }
        for (let rounds = 0; rounds < 12; rounds += 1) {
          for (const is of ['reconcile', 'roll', 'reconcile', 'rewrite'] as const) tenant.happens({ is });
          expect(tenant.unreadable()).toEqual([]);
        }
        for (const resource of resources) {
          const is = tenant.wanted.resources.includes(resource) ? providerId(tenant.wanted.writer) : 'identity';
          expect(readersOf(tenant.state, resource)).toEqual([is]);
          expect(tenant.stored.find((object) => object.resource === resource)?.by).toBe(is);
        }
      }),
      { numRuns: 500 },
    );
  });
});
