import type library from '@jest/test-sequencer';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { knownSeconds } from './known-seconds.ts';

// Its types are those of a CommonJS module only.
const { default: Sequencer } = createRequire(import.meta.url)('@jest/test-sequencer') as typeof library;

const root = join(import.meta.dirname, '../..');

type Tests = Parameters<InstanceType<typeof Sequencer>['sort']>[0];

/**
 * Has jest begin with what takes longest: one that begins last has the other worker wait for it. What is not known to take long comes after it, in jest's own order.
 */
// eslint-disable-next-line no-restricted-syntax -- jest takes the default export
export default class LongestFirst extends Sequencer {
  override async sort(tests: Tests): Promise<Tests> {
    const known = ({ path }: Tests[number]): number => knownSeconds.get(relative(root, path)) ?? 0;
    return (await super.sort(tests)).toSorted((a, b) => known(b) - known(a));
  }
}
