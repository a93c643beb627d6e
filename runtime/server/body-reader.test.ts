import { describe, expect, test } from '@jest/globals';
import { PassThrough, Readable } from 'node:stream';
import { BodyReader } from './body-reader.ts';

const limits = { largest: 64 * 1024, together: 128 * 1024 };
const kib = (count: number): Buffer => Buffer.alloc(count * 1024, 'x');
/** Resolves when all that was written has been read. */
const taken = async (stream: PassThrough, bytes: Buffer): Promise<void> => {
  await new Promise((resolve) => stream.write(bytes, resolve));
};

describe('A reader of request bodies', () => {
  test('returns the text of many small chunks and retains nothing afterwards', async () => {
    const reader = new BodyReader(limits);
    const text = 'grüße '.repeat(500);
    const bytes = Buffer.from(text);
    const chunks = Array.from(bytes, (_, index) => bytes.subarray(index, index + 1));
    let held = 0;
    const body = await reader.read(Readable.from(chunks), (read) => {
      held = reader.held;
      return Promise.resolve(read);
    });
    expect([body, held, reader.held]).toEqual([text, 16 * 1024, 0]);
  });

  test('refuses a body that is too large', async () => {
    const reader = new BodyReader(limits);
    await expect(reader.read(Readable.from([kib(65)]), () => Promise.resolve())).rejects.toThrow('larger than 65536');
    expect(reader.held).toBe(0);
  });

  test('refuses a body that ends too early', async () => {
    const reader = new BodyReader(limits);
    const stream = new PassThrough();
    const read = reader.read(stream, () => Promise.resolve());
    stream.destroy();
    await expect(read).rejects.toThrow('body is incomplete');
  });

  test('gives up the largest incomplete body if there is no room for another', async () => {
    const reader = new BodyReader(limits);
    const slow = [new PassThrough(), new PassThrough()];
    const refused = slow.map((stream) => reader.read(stream, () => Promise.resolve()).catch(String));
    for (const stream of slow) await taken(stream, kib(60));
    expect(reader.held).toBe(128 * 1024 - 8 * 1024);
    expect(await reader.read(Readable.from([kib(20)]), (body) => Promise.resolve(body.length))).toBe(20 * 1024);
    expect(await Promise.race(refused)).toContain('too many large requests');
    slow[1]?.end();
    expect(await Promise.all(refused)).toContainEqual(undefined);
    expect(reader.held).toBe(0);
  });

  test('refuses a new body if all room is used by requests that are being answered', async () => {
    const reader = new BodyReader(limits);
    const answer = Promise.withResolvers<undefined>();
    const running = [1, 2].map(() => reader.read(Readable.from([kib(64)]), () => answer.promise));
    await new Promise((resolve) => setImmediate(resolve));
    expect(reader.held).toBe(128 * 1024);
    await expect(reader.read(Readable.from([kib(1)]), () => Promise.resolve())).rejects.toThrow('try again later');
    answer.resolve(undefined);
    await Promise.all(running);
    expect(reader.held).toBe(0);
  });
});
