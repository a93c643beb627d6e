import { ObjectMemory } from './object-memory.ts';
import { describe, expect, test } from '@jest/globals';

describe('What is remembered of an object', () => {
  test('goes from all slots when the object goes, and what it holds is released once', () => {
    const memory = new ObjectMemory();
    const released: string[] = [];
    const facts = memory.slot<string>('facts');
    const clients = memory.slot<string>('doors', {
      dispose: (client, uid) => void released.push(`${client} of ${uid}`),
    });
    facts.set('a', 'fact');
    clients.set('a', 'door');
    clients.set('b', 'door');
    memory.drop('a');
    memory.drop('a');
    expect([...memory.sizes()]).toEqual([
      ['facts', 0],
      ['doors', 1],
    ]);
    expect(released).toEqual(['door of a']);
  });

  test('is released when something else takes its place, and not when the same is remembered again', () => {
    const released: string[] = [];
    const clients = new ObjectMemory().slot<string>('doors', { dispose: (client) => void released.push(client) });
    clients.set('a', 'old');
    clients.set('a', 'old');
    clients.set('a', 'new');
    expect(released).toEqual(['old']);
    expect(clients.get('a')).toBe('new');
  });

  test('is made once', () => {
    const lists = new ObjectMemory().slot<string[]>('lists');
    lists.getOrMake('a', () => []).push('x');
    expect(lists.getOrMake('a', () => [])).toEqual(['x']);
  });

  test('goes at the end of the process, all of it', () => {
    const released: string[] = [];
    const clients = new ObjectMemory().slot<string>('doors', { dispose: (_client, uid) => void released.push(uid) });
    clients.set('a', 'x');
    clients.set('b', 'x');
    clients.clear();
    expect(released).toEqual(['a', 'b']);
    expect(clients.entries()).toEqual([]);
  });
});
