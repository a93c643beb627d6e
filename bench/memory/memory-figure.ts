import type { Figure } from '../figure.ts';
import { measureMemory } from './measure-memory.ts';
import { hasGrown, memoryPresentation } from './memory-report.ts';
import type { MemoryRow } from './memory-report.ts';

/** `npm run bench -- memory`. */
export const memoryFigure: Figure<'process', MemoryRow> = {
  presentation: memoryPresentation,
  help: 'heap of the manager after tenants came and went; needs no cluster',
  measure: (_, { options, progress }) =>
    measureMemory(options.churn, ({ tenants, heapBytes }) => {
      progress(`${tenants} tenants made and deleted`, `${(heapBytes / 2 ** 20).toFixed(2)} MiB`);
    }),
  isBroken: hasGrown,
};
