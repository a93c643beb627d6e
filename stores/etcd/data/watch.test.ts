import { EventEmitter } from 'node:events';
import { expect, test } from '@jest/globals';
import { EtcdWatch } from './watch.ts';

/** The stream of a watch that sends what the test emits. */
class Stream extends EventEmitter {
  isPaused = false;

  write(): void {
    // The server confirms the watch.
    if (this.listenerCount('data') > 0) this.emit('data', { created: true, events: [], header: { revision: '1' } });
  }
  end(): void {
    this.emit('end');
  }
  cancel(): void {
    this.isPaused = false;
  }
  pause(): void {
    this.isPaused = true;
  }
  resume(): void {
    this.isPaused = false;
  }
}

const range = { start: Buffer.from('/a/'), end: Buffer.from('/a0') };
const change = { created: false, canceled: false, events: [{ type: 'Put' }], header: { revision: '2' } };

test('EtcdWatch pauses the server while many responses are unread, and only for that time', async () => {
  const stream = new Stream();
  await using watch = await EtcdWatch.open(stream, range, 1n);
  // The confirmation waits, too.
  for (let n = 0; n < 6; n += 1) stream.emit('data', change);
  expect(stream.isPaused).toBe(false);
  stream.emit('data', change);
  expect(stream.isPaused).toBe(true);
  for (let n = 0; n < 6; n += 1) expect(await watch.next(1000)).toMatchObject({ is: 'events' });
  expect(stream.isPaused).toBe(true);
  expect(await watch.next(1000)).toMatchObject({ is: 'events' });
  expect(stream.isPaused).toBe(false);
});
