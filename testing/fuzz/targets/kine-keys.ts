import { decodeBase58, encodeBase58 } from '../../../stores/nats/base58.ts';
import { entrySubject, keyOfSubject } from '../../../stores/nats/data/kine-keys.ts';
import type { FuzzTarget } from '../fuzz-target.ts';
import { kept } from '../kept.ts';

const bucket = 'tenant';
const head = entrySubject(bucket, '').slice(0, -encodeBase58(Buffer.from('/')).length);

/** The end of a subject in a bucket, behind the tokens of the bucket and the root. */
export const kineKeys: FuzzTarget = {
  name: 'kine-keys',
  from: 'whoever has the credentials of a tenant for NATS',
  seeds: () =>
    ['pods/default/a', 'clusterroles/system:node', 'a//b', 'health'].map((key) =>
      entrySubject(bucket, key).slice(head.length),
    ),
  refusals: [],
  parse: (input) => {
    const text = input.toString('latin1');
    const bytes = decodeBase58(text);
    kept(bytes === undefined || encodeBase58(bytes) === text, 'base58 is read as written');
    const key = keyOfSubject(bucket, head + text);
    if (key === undefined) return;
    kept(keyOfSubject(bucket, entrySubject(bucket, key)) === key, 'a key is found where it is written');
    kept(/^[\w$.-]+$/.test(entrySubject(bucket, key)), 'a subject has no wildcard');
  },
};
