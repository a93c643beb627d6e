import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { decodeStream, encodeStream } from './s2-stream.ts';

/** Made with github.com/klauspost/compress v1.19.2, with which kine writes. */
const written: readonly (readonly [name: string, base64: string, content: string])[] = [
  ['nothing', '/wYAAFMyc1R3Tw==', ''],
  ['a short text', '/wYAAFMyc1R3TwEJAAC7HxwZaGVsbG8=', 'hello'],
  ['repeats', '/wYAAFMyc1R3TwAYAAAcCcwbuAMoa3ViZXJuZXRlcyARCxkAoQA=', 'kubernetes '.repeat(40)],
  ['a long run', '/wYAAFMyc1R3TwAQAABMWJF58KIEAGERAR0AYxEA', 'a'.repeat(70_000)],
  [
    'the best compression',
    '/wYAAFMyc1R3TwBRAACB/VY0yAbseyJLViI6eyJLZXkiOiIvcmVnaXN0cnkvcG9kcy9kZWZhdWx0L2EiLCJWYWx1ZSI6ImFHVnNiRzg9In19ETwZANQAAHoRARkAHwA=',
    '{"KV":{"Key":"/registry/pods/default/a","Value":"aGVsbG8="}}'.repeat(9) + 'z'.repeat(300),
  ],
];

describe('S2 streams', () => {
  for (const [name, base64, content] of written) {
    test(`are decoded as kine writes them: ${name}`, () => {
      expect(decodeStream(Buffer.from(base64, 'base64')).toString('latin1')).toBe(content);
    });
  }

  test('are decoded to their original content', () => {
    const words = fc.array(fc.constantFrom('aaaa', 'kube', '{"a":"b"}', '\0', 'xyzw'), { maxLength: 400 });
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array({ maxLength: 300 }),
          words.map((all) => Buffer.from(all.join(''))),
        ),
        (bytes) => {
          expect(Buffer.compare(decodeStream(encodeStream(bytes)), bytes)).toBe(0);
        },
      ),
    );
    const large = Buffer.concat([
      Buffer.alloc(200_000, 'abcdefg'),
      Buffer.from(Array.from({ length: 70_000 }, (_, i) => (i * 7919) % 251)),
    ]);
    const encoded = encodeStream(large);
    expect(Buffer.compare(decodeStream(encoded), large)).toBe(0);
    expect(encoded.length).toBeLessThan(large.length / 2);
  });

  test('are refused if they are damaged, or differ from the original', () => {
    const bytes = Buffer.from('{"KV":{"Key":"/registry/pods/default/a"}}'.repeat(20));
    const encoded = encodeStream(bytes);
    fc.assert(
      fc.property(fc.nat({ max: encoded.length - 1 }), fc.integer({ min: 1, max: 255 }), (at, flip) => {
        const damaged = Buffer.from(encoded);
        damaged[at] = (damaged[at] ?? 0) ^ flip;
        try {
          expect(Buffer.compare(decodeStream(damaged), bytes)).not.toBe(1);
        } catch (error) {
          expect((error as Error).name).toBe('CorruptValueError');
        }
      }),
    );
    for (let end = 11; end < encoded.length; end += 1) {
      expect(() => decodeStream(encoded.subarray(0, end))).toThrow('compressed value');
    }
  });

  test('are refused if they hold more than any value of an API server, however small they are', () => {
    const [mebibyte, identifier] = [encodeStream(Buffer.alloc(1024 * 1024)), 10];
    const part = mebibyte.subarray(identifier);
    const most = Buffer.concat([mebibyte, ...Array<Uint8Array>(7).fill(part)]);
    expect(decodeStream(most)).toHaveLength(8 * 1024 * 1024);
    expect(() => decodeStream(Buffer.concat([most, part]))).toThrow('a compressed value has more than 8 MiB');
  });
});
