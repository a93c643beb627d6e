import { beforeEach, describe, expect, test } from '@jest/globals';
import { FakeClock } from '../../testing/fake/fake-clock.ts';
import { ConnectionLimit } from './connection-limit.ts';

let clock: FakeClock;
let limit: ConnectionLimit;
let ended: string[];

beforeEach(() => {
  clock = new FakeClock();
  limit = new ConnectionLimit({ clock, most: 4, answerMs: 1000 });
  ended = [];
});

const open = (...ids: readonly string[]): void => {
  for (const id of ids) {
    limit.opened(id, () => {
      ended.push(id);
    });
  }
};
const ask = (id: string, complete = true) => {
  const request = { complete };
  limit.began(id, request);
  return request;
};
const prove = (id: string): void => {
  limit.ended(id, ask(id), true);
};

describe('A limit of connections', () => {
  test('accepts a new one and closes the one that has been idle for the longest time', () => {
    open('a', 'b', 'c', 'd');
    ask('a', false);
    open('e');
    expect([ended, limit.size]).toEqual([['b'], 4]);
  });

  test('keeps connections that are being answered, and refuses a new one if that is all of them', () => {
    open('a', 'b', 'c', 'd');
    for (const id of ['a', 'b', 'c', 'd']) ask(id);
    open('e');
    expect(ended).toEqual(['e']);
  });

  test('closes connections that send an endless body, and those that do not read the answer', async () => {
    open('a', 'b', 'c', 'd');
    ask('a', false);
    for (const id of ['b', 'c', 'd']) ask(id);
    open('e');
    ask('e');
    expect(ended).toEqual(['a']);
    await clock.advance(1001);
    open('f');
    expect(ended).toEqual(['a', 'b']);
  });

  test('keeps connections that were answered before while many new ones arrive', () => {
    open('api-server');
    prove('api-server');
    for (let n = 0; n < 100; n += 1) open(`flood-${n}`);
    expect([ended.includes('api-server'), limit.size]).toEqual([false, 4]);
  });

  test('gives those at most half of the room', () => {
    open('a', 'b', 'c');
    for (const id of ['a', 'b', 'c']) prove(id);
    expect(ended).toEqual(['a']);
  });

  test('closes a connection that sends requests without reading the answers', () => {
    open('a');
    for (let n = 0; n < 8; n += 1) expect(limit.began('a', { complete: true })).toBe(true);
    expect(limit.began('a', { complete: true })).toBe(false);
    expect(ended).toEqual(['a']);
  });

  test('closes all connections without a running request when the server closes', () => {
    open('a', 'b', 'c');
    prove('a');
    ask('b');
    limit.dropIdle();
    expect(ended.toSorted()).toEqual(['a', 'c']);
    limit.closed('b');
    expect(limit.size).toBe(0);
  });
});
