import { describeRepository } from '../../stores/backup/repository-contract.ts';
import { MemoryRepository } from './memory-repository.ts';

describeRepository('memory', () =>
  Promise.resolve({
    empty: () => {
      const repository = new MemoryRepository();
      return Promise.resolve(() => repository);
    },
    missing: () => new MemoryRepository({ exists: false }),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }),
);
