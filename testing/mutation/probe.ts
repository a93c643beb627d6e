import { expect } from '@jest/globals';
import { appendFileSync } from 'node:fs';

const hits = process.env.STEWARD_MUTATION_HITS;

/** What the probes in the product's code call: it notes once for each file of tests that the place was reached. */
if (hits !== undefined) {
  const { testPath } = expect.getState();
  const known = new Set<string>();
  Object.assign(globalThis, {
    stewardProbe: (id: string) => {
      if (known.has(id)) return;
      known.add(id);
      appendFileSync(hits, `${testPath ?? ''}\t${id}\n`);
    },
  });
}
