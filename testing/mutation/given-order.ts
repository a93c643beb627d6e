import type library from '@jest/test-sequencer';
import { createRequire } from 'node:module';

// Its types are those of a CommonJS module only.
const { default: Sequencer } = createRequire(import.meta.url)('@jest/test-sequencer') as typeof library;

type Tests = Parameters<InstanceType<typeof Sequencer>['sort']>[0];

const order = (process.env.STEWARD_MUTATION_ORDER ?? '').split('\n');

/** The tests that are nearest to a mutant come first: most mutants die in the first file. */
// eslint-disable-next-line no-restricted-syntax -- jest takes the default export
export default class GivenOrder extends Sequencer {
  override sort(tests: Tests): Tests {
    return [...tests].toSorted((a, b) => order.indexOf(a.path) - order.indexOf(b.path));
  }
}
