import { describe, expect, test } from '@jest/globals';
import { runGo } from './run-go.ts';

describe('runGo', () => {
  test('reports the errors of the compiler', async () => {
    const go = { program: '/bin/sh', environment: {} };
    await expect(runGo(go, '/', ['-c', 'echo go.mod requires go 2.0 >&2; exit 1'])).rejects.toThrow(
      /ended with code 1:\ngo.mod requires go 2.0/,
    );
  });
});
