import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { largestGroup, readGroups } from './read-groups.ts';

test('Messages are read in groups that fit into memory, all of them and in their order', () => {
  const size = fc.oneof(fc.nat(1000), fc.nat(3 * largestGroup));
  fc.assert(
    fc.property(fc.array(size, { maxLength: 400 }), (sizes) => {
      const messages = sizes.map((bytes, index) => ({ size: bytes, index }));
      const groups = [...readGroups(messages)];
      expect(groups.flat()).toEqual(messages);
      for (const group of groups) {
        expect(group.length).toBeLessThanOrEqual(128);
        if (group.length > 1) expect(group.reduce((sum, one) => sum + one.size, 0)).toBeLessThanOrEqual(largestGroup);
      }
      // No group could be joined with the next message.
      for (const [index, group] of groups.slice(0, -1).entries()) {
        const next = groups[index + 1]?.[0]?.size ?? 0;
        const bytes = group.reduce((sum, one) => sum + one.size, 0);
        expect(group.length === 128 || bytes + next > largestGroup).toBe(true);
      }
    }),
  );
});
