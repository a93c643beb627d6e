import { ObjectMemory } from './object-memory.ts';
import { describe, expect, test } from '@jest/globals';

describe('An entry of ObjectMemory', () => {
  test('is removed from all slots with its object, and disposed once', () => {
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

  test('is disposed when another value replaces it, and not when it is set again', () => {
    const released: string[] = [];
    const clients = new ObjectMemory().slot<string>('doors', { dispose: (client) => void released.push(client) });
    clients.set('a', 'old');
    clients.set('a', 'old');
    clients.set('a', 'new');
    expect(released).toEqual(['old']);
    expect(clients.get('a')).toBe('new');
  });

  test('is created once', () => {
    const lists = new ObjectMemory().slot<string[]>('lists');
    lists.getOrMake('a', () => []).push('x');
    expect(lists.getOrMake('a', () => [])).toEqual(['x']);
  });

  test('is removed with all others when the process ends', () => {
    const released: string[] = [];
    const clients = new ObjectMemory().slot<string>('doors', { dispose: (_client, uid) => void released.push(uid) });
    clients.set('a', 'x');
    clients.set('b', 'x');
    clients.clear();
    expect(released).toEqual(['a', 'b']);
    expect(clients.entries()).toEqual([]);
  });
});
