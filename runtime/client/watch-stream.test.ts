import { describe, expect, test } from '@jest/globals';
import { Readable } from 'node:stream';
import fc from 'fast-check';
import { kinds } from '../../api/core/kinds.ts';
import { FakeClock, settle } from '../../testing/fake/fake-clock.ts';
import { ApiError, UnreachableError } from './errors.ts';
import { watchEvents, type WatchStreamOptions } from './watch-stream.ts';

const options: WatchStreamOptions = {
  clock: new FakeClock(),
  silenceMs: 75_000,
  maxLineBytes: 10_000,
  metadataOnly: false,
  onBytes: () => undefined,
};
const line = (type: string, object: unknown): string => `${JSON.stringify({ type, object })}\n`;
const configMap = (name: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'n', uid: 'u', resourceVersion: '7' },
});
const bookmark = (annotations?: Record<string, string>) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { resourceVersion: '9', annotations },
});

async function read(
  chunks: Iterable<Uint8Array | string>,
  more: Partial<WatchStreamOptions> = {},
): Promise<readonly unknown[]> {
  const bytes = Readable.from([...chunks].map((chunk) => Buffer.from(chunk)));
  const seen: unknown[] = [];
  for await (const event of watchEvents(kinds.ConfigMap, bytes, { ...options, ...more })) seen.push(event);
  return seen;
}

describe('The events of a watch', () => {
  test('are the same however the bytes were cut', async () => {
    const text =
      line('ADDED', configMap('ä')) +
      line('BOOKMARK', bookmark({ 'k8s.io/initial-events-end': 'true' })) +
      line('MODIFIED', configMap('b')) +
      line('BOOKMARK', bookmark()) +
      line('DELETED', configMap('b'));
    const bytes = Buffer.from(text);
    const expected = [
      { type: 'ADDED', object: configMap('ä') },
      { type: 'SYNC', resourceVersion: '9' },
      { type: 'MODIFIED', object: configMap('b') },
      { type: 'BOOKMARK', resourceVersion: '9' },
      { type: 'DELETED', object: configMap('b') },
    ];
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat({ max: bytes.length })), async (places) => {
        const at = [0, ...places.sort((a, b) => a - b), bytes.length];
        expect(await read(at.slice(1).map((end, index) => bytes.subarray(at[index], end)))).toEqual(expected);
      }),
    );
  });

  test('have the type of their kind if only metadata is sent', async () => {
    const partial = { ...configMap('a'), apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata' };
    const [event] = await read([line('ADDED', partial)], { metadataOnly: true });
    expect(event).toEqual({ type: 'ADDED', object: configMap('a') });
  });

  test('include an ERROR event, which is thrown as the refusal that it is', async () => {
    const status = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' };
    const refused = read([line('ADDED', configMap('a')), line('ERROR', status)]);
    await expect(refused).rejects.toBeInstanceOf(ApiError);
    await expect(refused).rejects.toMatchObject({ code: 410, reason: 'Expired' });
  });

  test.each([
    ['no JSON', '<html>\n', /not JSON/],
    ['JSON that is no event', '[]\n', /not an event/],
    ['an unknown type', line('RENAMED', configMap('a')), /unknown type "RENAMED"/],
    ['an object without metadata', line('ADDED', { kind: 'ConfigMap' }), /not a ConfigMap/],
    ...['name', 'namespace', 'uid', 'resourceVersion'].map((field): [string, string, RegExp] => {
      const lacking = { ...configMap('a').metadata, [field]: undefined };
      return [`an object without ${field}`, line('ADDED', { metadata: lacking }), /without name, namespace, UID or/];
    }),
    ['a bookmark without version', line('BOOKMARK', { metadata: {} }), /without a version/],
    ['a null', line('ADDED', null), /not a ConfigMap/],
    ['an event without end', '{"type":"ADDED"', /in the middle/],
    ['a line without end', 'x'.repeat(20_000), /longer than 10000 bytes/],
  ])('%s is an error and not an event', async (_what, text, message) => {
    await expect(read([text])).rejects.toThrow(message);
  });

  test('any input of a hostile server leads to an expected error', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(fc.json(), fc.string()), { maxLength: 5 }), async (lines) => {
        const error = await read([lines.map((text) => `${text.replaceAll('\n', ' ')}\n`).join('')]).then(
          () => undefined,
          (reason: unknown) => reason,
        );
        expect(error === undefined || error instanceof UnreachableError || error instanceof ApiError).toBe(true);
      }),
    );
  });

  test('the silence limit counts while the client waits for bytes, not while the reader is busy', async () => {
    const clock = new FakeClock();
    const bytes = new Readable({ read: () => undefined });
    const events = watchEvents(kinds.ConfigMap, bytes, { ...options, clock })[Symbol.asyncIterator]();
    const first = events.next();
    await clock.advance(74_000);
    bytes.push(line('ADDED', configMap('a')));
    await first;
    await clock.advance(200_000);
    const second = events.next();
    // Attached before time moves: the rejection must not be unhandled.
    const refused = expect(second).rejects.toThrow('silent for 75 s');
    await settle();
    await clock.advance(75_000);
    await refused;
    expect(clock.pending).toBe(0);
  });
});
