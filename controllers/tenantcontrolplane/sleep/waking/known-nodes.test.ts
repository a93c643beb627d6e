import { describe, expect, test } from '@jest/globals';
import { KnownNodes, mostAddresses } from './known-nodes.ts';

const some = (count: number, from = 0): readonly string[] =>
  Array.from({ length: count }, (_, index) => `10.0.${(from + index) >> 8}.${(from + index) & 255}`);
const page = (addresses: readonly string[], more: { next?: string; isCut?: boolean } = {}) => ({
  addresses,
  isCut: false,
  ...more,
});

describe('The addresses that are noted of nodes', () => {
  test('are sorted, each once', () => {
    const known = new KnownNodes();
    expect(known.take(page(['192.0.2.2', '192.0.2.1'], { next: 'more' }), 10)).toBe(true);
    expect(known.take(page(['192.0.2.2']), 10)).toBe(false);
    expect([known.text(), known.isCut]).toEqual(['192.0.2.1,192.0.2.2', false]);
  });

  test('may be none', () => {
    expect(new KnownNodes().text()).toBe('');
  });

  test('are as many as may be, without a word that some are left out', () => {
    const known = new KnownNodes();
    known.take(page(some(mostAddresses), { next: 'more' }), 10);
    expect(known.take(page(some(5)), 10)).toBe(false);
    expect([known.text().split(',').length, known.isCut]).toEqual([mostAddresses, false]);
  });

  test('are the first ones where there are more, and no further page is read', () => {
    const known = new KnownNodes();
    expect(known.take(page(some(1_200), { next: 'more' }), 10)).toBe(true);
    expect(known.take(page(some(1_200, 1_200), { next: 'more' }), 10)).toBe(false);
    expect([known.text(), known.isCut]).toEqual([[...some(mostAddresses)].sort().join(','), true]);
  });

  test('are those of 20 pages, or of so many that fit in 32 MiB', () => {
    const known = new KnownNodes();
    const reads = Array.from({ length: 20 }, () => known.take(page(['192.0.2.1'], { next: 'more' }), 10));
    expect([reads.filter(Boolean).length, known.isCut]).toEqual([19, true]);
    const long = new KnownNodes();
    expect([long.take(page([], { next: 'more' }), 33 * 1024 * 1024), long.isCut]).toEqual([false, true]);
  });

  test('are cut if a page was', () => {
    const known = new KnownNodes();
    known.take(page(['192.0.2.1'], { isCut: true }), 10);
    expect(known.isCut).toBe(true);
  });
});
