import { keyOf, nameOf } from '../../../stores/kine/kine-keys.ts';
import { contiguous, lastChanges, lastOfEach, newRow } from '../../../stores/kine/kine-changes.ts';
import type { FuzzTarget } from '../fuzz-target.ts';
import { kept } from '../kept.ts';

/** Names in the table of a tenant, one a line. */
export const kineNames: FuzzTarget = {
  name: 'kine-names',
  from: 'the API server of a tenant, through the datastore',
  seeds: () => [
    '/registry/pods/a\n/registry/health\ncompact_rev_key\ngap-7\n/registry/events/x',
    '/registry/pods/a\n/registry/pods/a',
  ],
  refusals: [],
  parse: (input) => {
    const lines = input.toString().split('\n');
    const heads = lines.map((name, at) => ({ id: BigInt(at + 1), name, deleted: at % 2 === 1, bytes: 1 }));
    const last = lastOfEach(contiguous(0n, heads));
    kept(new Set(last.map(({ name }) => name)).size === last.length, 'each name once');
    for (const { name } of last) kept(nameOf(keyOf(name) ?? '') === name, 'a key has one name');
    const changes = lines.map((key) => ({ is: 'put', entry: { key, value: input } }) as const);
    for (const [name, change] of lastChanges(changes)) newRow(name, change, undefined);
  },
};
