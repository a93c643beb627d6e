import { beforeEach, describe, expect, test } from '@jest/globals';
import { EventEmitter } from 'node:events';
import { LastResort } from './last-resort.ts';

class Host extends EventEmitter {
  readonly exits: number[] = [];
  exit(code: number): void {
    this.exits.push(code);
  }
}

let host: Host;
let told: string[];
let last: LastResort;

beforeEach(() => {
  host = new Host();
  told = [];
  last = new LastResort(host, { error: (message) => told.push(message) });
});

describe('The handler of unhandled errors', () => {
  test('counts a rejection and lets the process continue', () => {
    host.emit('unhandledRejection', new TypeError('Invalid URL'));
    expect([last.errors, host.exits]).toEqual([{ rejections: 1, exceptions: 0 }, []]);
    expect(told).toEqual(['unhandled rejection; the process continues']);
  });

  test.each(['ECONNRESET', 'EPIPE', 'ERR_HTTP2_STREAM_ERROR', 'ERR_SSL_WRONG_VERSION_NUMBER', 'HPE_INVALID_METHOD'])(
    'lets the process continue after %s of a connection',
    (code) => {
      host.emit('uncaughtException', Object.assign(new Error('gone'), { code }));
      expect([last.errors, host.exits]).toEqual([{ rejections: 0, exceptions: 1 }, []]);
    },
  );

  test.each([new TypeError('x is undefined'), 'text', Object.assign(new Error('x'), { code: 'ERR_INVALID_ARG_TYPE' })])(
    'ends the process after an exception that may have left a broken state: %s',
    (error) => {
      host.emit('uncaughtException', error);
      expect(host.exits).toEqual([1]);
    },
  );

  test('counts the exceptions that ended the processes before, so that an alert sees them', () => {
    let kept = 0;
    const record = {
      read: () => kept,
      write: (count: number) => {
        kept = count;
      },
    };
    const log = { error: () => undefined };
    const process = () => {
      const own = new Host();
      return { own, resort: new LastResort(own, log, record) };
    };
    const first = process();
    first.own.emit('unhandledRejection', new Error('x'));
    first.own.emit('uncaughtException', Object.assign(new Error('gone'), { code: 'EPIPE' }));
    first.own.emit('uncaughtException', new TypeError('x is undefined'));
    expect(process().resort.errors).toEqual({ rejections: 0, exceptions: 2 });
  });

  test('writes to the log that was set last', () => {
    const later: string[] = [];
    last.use({ error: (message) => later.push(message) });
    host.emit('unhandledRejection', new Error('x'));
    expect([told.length, later.length]).toEqual([0, 1]);
  });
});
