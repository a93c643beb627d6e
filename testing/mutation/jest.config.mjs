import { join } from 'node:path';
import base from '../../jest.config.mjs';

const here = import.meta.dirname;

/** The same tests as ever, for one mutant or with probes: npm run mutate names which by variables. */
export default {
  ...base,
  rootDir: join(here, '..', '..'),
  testSequencer: join(here, 'given-order.ts'),
  reporters: [join(here, 'first-failure.ts')],
  projects: base.projects.map(({ transform: { '\\.ts$': swc }, ...project }) => ({
    ...project,
    transform: { '\\.ts$': [join(here, 'transformer.ts'), swc[1]] },
    setupFilesAfterEnv: [join(here, 'probe.ts')],
  })),
};
