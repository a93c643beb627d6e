import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Writable } from 'node:stream';
import { ApiError, TerminalError } from '../client/errors.ts';
import { withLogFields } from './log-context.ts';
import type { Logger } from './logger.ts';
import { serializeFields } from './serialize-fields.ts';
import { createWinstonLogger, type WinstonLoggerOptions } from './winston-logger.ts';

function logTo(over: Partial<WinstonLoggerOptions> = {}): { log: Logger; lines: string[] } {
  const lines: string[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(chunk.toString().trimEnd());
      done();
    },
  });
  const now = (): Date => new Date('2030-01-01T00:00:00Z');
  return { lines, log: createWinstonLogger({ format: 'json', level: 'info', stream, now, ...over }) };
}
const parsed = (line: string | undefined): Record<string, unknown> =>
  JSON.parse(line ?? '{}') as Record<string, unknown>;

describe('The logger', () => {
  test('writes one line of JSON with the names that controller-runtime uses', () => {
    const { log, lines } = logTo({ logger: 'manager' });
    withLogFields({ controller: 'tenant', namespace: 'ns', reconcileID: 'id' }, () => {
      log.with({ name: 'a' }).info('reconciled', { tookMs: 5 });
    });
    expect(lines).toEqual([
      '{"ts":"2030-01-01T00:00:00.000Z","level":"info","logger":"manager","msg":"reconciled",' +
        '"controller":"tenant","namespace":"ns","reconcileID":"id","name":"a","tookMs":5}',
    ]);
  });

  test('writes an error with its causes, its reason and its frames, separate from the message', () => {
    const { log, lines } = logTo();
    const cause = new ApiError(404, 'NotFound', 'secrets "x" not found');
    log.error('reconcile failed', { error: new TerminalError('NoStore', 'the store cannot be read', { cause }) });
    const line = parsed(lines[0]);
    expect(line).toMatchObject({
      msg: 'reconcile failed',
      error: 'the store cannot be read: secrets "x" not found',
      errorReason: 'NoStore',
    });
    expect(line.stack).toMatch(/^\s+at /);
  });

  test('writes stacks for errors only by default', () => {
    const { log, lines } = logTo({ stacksFrom: 'none' });
    log.warn('w', { error: new Error('boom') });
    log.error('e', { error: new Error('boom') });
    expect(lines.map((line) => 'stack' in parsed(line))).toEqual([false, false]);
  });

  test('omits what is below its level', () => {
    const { log, lines } = logTo({ level: 'warn' });
    log.debug('no');
    log.info('no');
    log.warn('yes');
    expect(lines.map((line) => parsed(line).msg)).toEqual(['yes']);
  });

  test('writes text for people, one line per message', () => {
    const { log, lines } = logTo({ format: 'text' });
    log.info('hello\nERROR forged', { name: 'a b', count: 2, path: '/x/y' });
    expect(lines).toEqual(['2030-01-01T00:00:00.000Z INFO  hello ⏎ ERROR forged name="a b" count=2 path=/x/y']);
  });

  test('lets no field replace those of the line itself', () => {
    const { log, lines } = logTo();
    log.info('real', { msg: 'fake', level: 'fake', ts: 'fake', message: 'kept' });
    expect(parsed(lines[0])).toMatchObject({ msg: 'real', level: 'info', message: 'kept' });
  });
});

describe('Fields', () => {
  test.each([
    ['password', { password: 'S3CRET' }],
    ['a key of a Secret', { 'tls.key': 'S3CRET' }],
    ['nested token', { config: { auth: { bearerToken: 'S3CRET' } } }],
    ['kubeconfig', { kubeconfig: { users: 'S3CRET' } }],
    ['data of a Secret', { object: { kind: 'Secret', data: { x: 'S3CRET' }, stringData: { y: 'S3CRET' } } }],
    [
      'a private key inside of a text',
      { note: '-----BEGIN EC PRIVATE KEY-----\nS3CRET\n-----END EC PRIVATE KEY-----' },
    ],
    ['a private key inside of an error', { error: new Error('bad -----BEGIN PRIVATE KEY-----\nS3CRET') }],
    ['authorization', { headers: { Authorization: 'Bearer S3CRET' } }],
    ['a map', { secrets: new Map([['ca.key', 'S3CRET']]) }],
  ])('never show %s', (_, fields) => {
    expect(JSON.stringify(serializeFields(fields))).not.toContain('S3CRET');
  });

  test('show what only resembles a secret', () => {
    const fields = { secretName: 'a', tokenID: 'b', hasToken: true, retries: 0, keys: ['c'] };
    expect(serializeFields(fields)).toEqual(fields);
  });

  test('may have cycles, depth, size and unusual values', () => {
    const circle: Record<string, unknown> = { a: 1 };
    circle.self = circle;
    const error = new Error('e');
    error.cause = error;
    expect(
      serializeFields({ circle, error, big: 1n, f: serializeFields, bytes: new Uint8Array(3), when: new Date(0) }),
    ).toMatchObject({
      circle: { a: 1, self: '(circular)' },
      error: 'e: …',
      big: '1',
      f: '(function serializeFields)',
      bytes: '(3 bytes)',
      when: '1970-01-01T00:00:00.000Z',
    });
    expect(serializeFields({ error: new AggregateError([new Error('a'), new Error('b')], 'several') }).error).toBe(
      'several [a; b]',
    );
    expect(serializeFields({ error: 'text' })).toEqual({ error: 'text' });
    expect(JSON.stringify(serializeFields({ text: 'x'.repeat(1e6), list: Array(1e5).fill(1) })).length).toBeLessThan(
      10_000,
    );
  });

  test('are always valid JSON', () => {
    fc.assert(
      fc.property(
        fc.dictionary(
          fc.string(),
          fc.anything({ withBigInt: true, withMap: true, withSet: true, withDate: true, withNullPrototype: true }),
        ),
        (fields) => {
          expect(() => JSON.stringify(serializeFields(fields))).not.toThrow();
        },
      ),
    );
  });
});
