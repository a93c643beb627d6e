import { expect, test } from '@jest/globals';
import fc from 'fast-check';

import { framed, MessageFrames } from './message-frames.ts';

test('Messages of a stream are the ones that were sent, wherever it is cut', () => {
  const message = fc.uint8Array({ maxLength: 40 });
  fc.assert(
    fc.property(fc.array(message, { maxLength: 6 }), fc.integer({ min: 1, max: 9 }), (sent, length) => {
      const bytes = Buffer.concat(sent.map((one) => framed(Buffer.from(one))));
      const frames = new MessageFrames();
      const heard: Buffer[] = [];
      for (let at = 0; at < bytes.length; at += length) heard.push(...frames.take(bytes.subarray(at, at + length)));
      expect(heard.map((one) => [...one])).toEqual(sent.map((one) => [...one]));
    }),
  );
});
