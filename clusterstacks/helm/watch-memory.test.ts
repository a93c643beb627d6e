import { describe, expect, test } from '@jest/globals';
import { FakeClock } from '../../testing/fake/fake-clock.ts';
import { watchMemory } from './watch-memory.ts';

const failure = (code: string): Error => Object.assign(new Error(`${code}: it cannot be read`), { code });
const holds = (kilobytes: number): string => `Name:\thelm\nState:\tS (sleeping)\nRssAnon:\t   ${kilobytes} kB\n`;
const self = 'Name:\tnode\nState:\tR (running)\nRssAnon:\t   50000 kB\n';

/** A watch with a bound of 100 kB over the process 7, and its reports. */
class Watched {
  readonly clock = new FakeClock();
  readonly told: string[] = [];
  readonly written: string[] = [];
  /** What is read of the process, and of this one. */
  status: string | Error = holds(10);
  own: string | Error = self;
  readonly end: () => void;

  constructor() {
    const read = (path: string): string => {
      const found = path === '/proc/7/status' ? this.status : path === '/proc/self/status' ? this.own : undefined;
      if (typeof found === 'string') return found;
      throw found ?? failure('ENOENT');
    };
    this.end = watchMemory(
      7,
      {
        maxBytes: 100 * 1024,
        exceeded: () => this.told.push('exceeded'),
        unseen: (why) => this.told.push(`unseen: ${why}`),
      },
      { clock: this.clock, read, write: (path, text) => this.written.push(`${path}=${text}`) },
    );
  }

  get isOver(): boolean {
    return this.clock.pending === 0;
  }
}

describe('The watch over the memory of helm', () => {
  test('reports once that a process exceeds its bound', async () => {
    const watched = new Watched();
    await watched.clock.advance(200);
    expect([watched.told, watched.written]).toEqual([[], ['/proc/7/oom_score_adj=1000']]);
    watched.status = holds(101);
    await watched.clock.advance(200);
    expect([watched.told, watched.isOver]).toEqual([['exceeded'], true]);
  });

  test.each([
    ['an error that passes', failure('EMFILE')],
    ['a text without what it holds', 'Name:\thelm\nState:\tR (running)\n'],
  ])('continues after %s', async (_, trouble) => {
    const watched = new Watched();
    watched.status = trouble;
    await watched.clock.advance(300);
    watched.status = holds(10);
    await watched.clock.advance(300);
    watched.status = trouble;
    await watched.clock.advance(300);
    expect(watched.told).toEqual([]);
    watched.status = holds(101);
    await watched.clock.advance(20);
    expect(watched.told).toEqual(['exceeded']);
  });

  test.each([
    ['has ended', failure('ENOENT')],
    ['ends while it is read', failure('ESRCH')],
    ['waits to be reaped', 'Name:\thelm\nState:\tZ (zombie)\n'],
  ])('ends when the process %s', async (_, status) => {
    const watched = new Watched();
    watched.status = status;
    await watched.clock.advance(20);
    expect([watched.told, watched.isOver]).toEqual([[], true]);
  });

  test('uses the resident size if the kernel does not report its parts', async () => {
    const watched = new Watched();
    watched.status = 'Name:\thelm\nState:\tS (sleeping)\nVmRSS:\t101 kB\n';
    await watched.clock.advance(20);
    expect(watched.told).toEqual(['exceeded']);
  });

  test('ends when it is canceled', () => {
    const watched = new Watched();
    watched.end();
    expect(watched.isOver).toBe(true);
  });

  test.each([
    ['every look fails', { status: failure('EACCES'), own: self }, 'EACCES: it cannot be read'],
    ['there is no /proc', { status: failure('ENOENT'), own: failure('ENOENT') }, 'there is no /proc'],
    [
      'the kernel does not report it',
      { status: 'Name:\thelm\nState:\tS\n', own: self },
      'has neither RssAnon nor VmRSS',
    ],
  ])('reports that the memory cannot be read: %s', async (_, of, why) => {
    const watched = new Watched();
    Object.assign(watched, of);
    await watched.clock.advance(1_000);
    expect(watched.told).toEqual([expect.stringContaining(why)]);
    expect(watched.isOver).toBe(true);
  });
});
