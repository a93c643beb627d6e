import { configureGlobal } from 'fast-check';
import { givenSeed } from '../../e2e/framework/run-seed.ts';

/**
 * jest reads this before each file of tests. Each run searches where none did before, in CI too: `npm test` draws a seed, prints it
 * and gives it to all. A value that fails is printed with its seed; the same seed tries it again.
 */
const seed = givenSeed();
if (seed !== undefined) configureGlobal({ seed });
