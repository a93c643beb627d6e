import { describe, expect, test } from '@jest/globals';
import { readAside } from './read-aside.ts';

const { signal } = new AbortController();
const named = (name: string, more = ''): string =>
  `---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\n${more}`;
const data = `data:\n${Array.from({ length: 200 }, (_, line) => `  key-${line}: value ${line}\n`).join('')}`;
const task = (text: string) => ({ text, origin: 'it' });
const aside = { asideFrom: 0 };

describe('readAside', () => {
  test('reads large texts as small ones are read, in their order', async () => {
    const text = [1, 2, 3].map((number) => named(`c${number}`, 'data: {mode: 0644, on: yes}\n')).join('');
    const inside = await readAside(task(text), signal);
    expect(inside.map(({ metadata }) => metadata.name)).toEqual(['c1', 'c2', 'c3']);
    expect(await readAside(task(text), signal, aside)).toEqual(inside);
  });

  test('does not block the process while it reads a large text', async () => {
    const text = Array.from({ length: 40 }, (_, index) => named(`c${index}`, data)).join('');
    expect(text.length).toBeGreaterThan(128 * 1024);
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 1);
    const manifests = await readAside(task(text), signal);
    clearInterval(timer);
    expect(manifests).toHaveLength(40);
    expect(turns).toBeGreaterThan(10);
  });

  test('returns an answer in several pieces as one list', async () => {
    const text = Array.from({ length: 10 }, (_, index) =>
      named(`c${index}`, `data: {a: ${'x'.repeat(100_000)}}\n`),
    ).join('');
    const manifests = await readAside(task(text), signal);
    expect(manifests.map(({ metadata }) => metadata.name)).toEqual(
      Array.from({ length: 10 }, (_, index) => `c${index}`),
    );
  });

  test('fails with the message of the reader, which quotes nothing', async () => {
    const outcome = readAside(task(`${named('a')}---\na: [secret-word`), signal, aside);
    await expect(outcome).rejects.toMatchObject({
      name: 'RenderError',
      failure: 'ChartBroken',
      message: expect.stringMatching(/^it, document 2 is not valid YAML/),
    });
    await expect(outcome).rejects.not.toThrow('secret-word');
  });

  test('refuses a text that takes too much memory, and the process survives', async () => {
    // One document, whose tree is held as a whole.
    const text = named('a', data.repeat(100));
    const outcome = readAside(task(text), signal, { maxMemoryBytes: 16 * 1024 * 1024 });
    await expect(outcome).rejects.toMatchObject({
      failure: 'TooLarge',
      message: 'reading it takes more than 16 MiB of memory; split it into stages',
    });
  });

  test('refuses a text that takes too long', async () => {
    const text = Array.from({ length: 4_000 }, (_, index) => named(`c${index}`, data)).join('');
    const outcome = readAside(task(text), signal, { timeoutMs: 50 });
    await expect(outcome).rejects.toMatchObject({ failure: 'TimedOut' });
  });

  test('rejects at once when it is aborted', async () => {
    const stop = new AbortController();
    const text = Array.from({ length: 4_000 }, (_, index) => named(`c${index}`, data)).join('');
    const outcome = readAside(task(text), stop.signal, { timeoutMs: 50 });
    stop.abort(new Error('the manager ends'));
    await expect(outcome).rejects.toThrow('the manager ends');
    await expect(readAside(task(text), stop.signal)).rejects.toThrow('the manager ends');
  });
});
