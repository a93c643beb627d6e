import { configureGlobal } from 'fast-check';

/**
 * jest reads this before each file of tests. CI proves a commit, and proves it the same way twice: its properties try the same values
 * each time. Everywhere else each run searches where none did before; a value that fails is printed with its seed.
 */
if (process.env.CI === 'true') configureGlobal({ seed: 20_261_123 });
