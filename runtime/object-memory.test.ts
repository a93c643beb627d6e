import { ObjectMemory } from './object-memory.ts';
import { describe, expect, test } from '@jest/globals';

describe('What is remembered of an object', () => {
  test('goes from all slots when the object goes, and what it holds is released once', () => {
    const memory = new ObjectMemory();
    const released: string[] = [];
    const facts = memory.slot<string>('facts');
    const doors = memory.slot<string>('doors', { dispose: (door, uid) => void released.push(`${door} of ${uid}`) });
    facts.set('a', 'fact');
    doors.set('a', 'door');
    doors.set('b', 'door');
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
    const doors = new ObjectMemory().slot<string>('doors', { dispose: (door) => void released.push(door) });
    doors.set('a', 'old');
    doors.set('a', 'old');
    doors.set('a', 'new');
    expect(released).toEqual(['old']);
    expect(doors.get('a')).toBe('new');
  });

  test('is made once', () => {
    const lists = new ObjectMemory().slot<string[]>('lists');
    lists.getOrMake('a', () => []).push('x');
    expect(lists.getOrMake('a', () => [])).toEqual(['x']);
  });

  test('goes at the end of the process, all of it', () => {
    const released: string[] = [];
    const doors = new ObjectMemory().slot<string>('doors', { dispose: (_door, uid) => void released.push(uid) });
    doors.set('a', 'x');
    doors.set('b', 'x');
    doors.clear();
    expect(released).toEqual(['a', 'b']);
    expect(doors.entries()).toEqual([]);
  });
});
