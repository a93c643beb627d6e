import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { exceptionRecord } from './exception-record.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'exceptions-'));
});
afterEach(() => rm(folder, { recursive: true }));

describe('The record of exceptions', () => {
  test('is read by the next process', () => {
    const file = join(folder, 'count');
    expect(exceptionRecord(file).read()).toBe(0);
    exceptionRecord(file).write(3);
    expect(exceptionRecord(file).read()).toBe(3);
  });

  test.each(['', 'many', '-1', '1.5', '1e99'])('counts none if it contains %j', async (text) => {
    const file = join(folder, 'count');
    await writeFile(file, text);
    expect(exceptionRecord(file).read()).toBe(0);
  });

  test('that cannot be written does not disturb the end of the process', () => {
    const record = exceptionRecord(join(folder, 'absent', 'count'));
    expect(() => {
      record.write(1);
    }).not.toThrow();
    expect(record.read()).toBe(0);
  });
});
