import { describe, expect, test } from '@jest/globals';
import { ObjectMemory } from '../runtime/cache/object-memory.ts';
import { kinds } from '../api/core/kinds.ts';
import type { KindRef, Resource } from '../api/meta.ts';
import type { WatchEvent, WatchOptions } from '../runtime/client/cluster.ts';
import { UnreachableError } from '../runtime/client/errors.ts';
import { FakeClock } from '../testing/fake/fake-clock.ts';
import { FakeCluster } from '../testing/fake/fake-cluster.ts';
import { ChangeAlarm } from './change-alarm.ts';

const kind = kinds.CertificateSigningRequest;
const fieldSelector = 'spec.signerName=a';

/** Remembers how its objects are watched. */
class WatchedCluster extends FakeCluster {
  readonly watchedWith: WatchOptions[] = [];

  override watch<T extends Resource>(of: KindRef<T>, options: WatchOptions): AsyncGenerator<WatchEvent<T>> {
    this.watchedWith.push(options);
    return super.watch(of, options);
  }
}

function setUp(): {
  readonly clock: FakeClock;
  readonly cluster: FakeCluster;
  readonly alarm: ChangeAlarm;
  readonly heard: string[];
  readonly arm: () => Promise<void>;
  readonly make: (name: string, signerName?: string) => Promise<void>;
} {
  const clock = new FakeClock();
  const cluster = new FakeCluster();
  const alarm = new ChangeAlarm(clock, new ObjectMemory());
  const heard: string[] = [];
  return {
    clock,
    cluster,
    alarm,
    heard,
    arm: async () => {
      const { resourceVersion } = await cluster.list(kind);
      alarm.arm('uid', cluster, {
        selection: { kind, fieldSelector, resourceVersion },
        notify: () => void heard.push('ring'),
        ended: () => void heard.push('ended'),
      });
      await clock.advance(0);
    },
    make: async (name, signerName = 'a') => {
      const spec = { signerName, request: '', usages: [] };
      await cluster.admin.create(kind, {
        apiVersion: 'certificates.k8s.io/v1',
        kind: kind.kind,
        metadata: { name },
        spec,
      });
      await clock.advance(0);
    },
  };
}

describe('ChangeAlarm', () => {
  test('notifies once of a new object, not before two seconds, and then only after it is armed again', async () => {
    const { alarm, arm, make, clock, heard } = setUp();
    await make('old');
    await arm();
    await clock.advance(60_000);
    expect(heard).toEqual([]);
    await arm();
    expect(heard).toEqual(['ended']);
    alarm.disarm('uid');
    heard.length = 0;
    await arm();
    heard.length = 0;
    await make('new');
    await make('newer');
    expect(heard).toEqual(['ended']);
    await clock.advance(2_000);
    await make('newest');
    await clock.advance(60_000);
    expect(heard).toEqual(['ended', 'ring']);
    await arm();
    await make('last');
    await clock.advance(2_000);
    expect(heard).toEqual(['ended', 'ring', 'ended', 'ring']);
  });

  test('notifies half a minute after its watch was lost, because the tenant may end every watch at once', async () => {
    const { arm, clock, cluster, heard } = setUp();
    await arm();
    cluster.endWatches(new UnreachableError('the line is dead'));
    await clock.advance(29_999);
    expect(heard).toEqual(['ended']);
    await clock.advance(1);
    expect(heard).toEqual(['ended', 'ring']);
  });

  test('does not notify for the previous client once it is armed with another', async () => {
    const { alarm, arm, make, clock, heard } = setUp();
    await arm();
    const second = new FakeCluster();
    alarm.arm('uid', second, {
      selection: { kind, fieldSelector, resourceVersion: (await second.list(kind)).resourceVersion },
      notify: () => void heard.push('second'),
    });
    await make('new');
    await clock.advance(60_000);
    expect(heard).toEqual(['ended']);
  });

  test('keeps its watch if it is armed again with the same client', async () => {
    const { arm, make, clock, cluster, heard } = setUp();
    await arm();
    await arm();
    expect(cluster.calls.filter(({ verb }) => verb === 'watch')).toHaveLength(1);
    await make('new');
    await clock.advance(60_000);
    expect(heard).toEqual(['ended', 'ended', 'ring']);
  });

  test('continues from the version it saw when the server ends its watch, and notifies only of a new object', async () => {
    const { arm, make, clock, cluster, heard } = setUp();
    await make('old');
    await arm();
    const body = { metadata: { labels: { seen: 'yes' } } };
    await cluster.admin.patch(kind, { name: 'old' }, { type: 'merge', body });
    await clock.advance(0);
    cluster.endWatches();
    await clock.advance(60_000);
    expect(heard).toEqual([]);
    await make('new');
    await clock.advance(2_000);
    expect(heard).toEqual(['ended', 'ring']);
  });

  test('is sent no more than the metadata of objects, because a tenant can make them large', async () => {
    const { alarm, clock } = setUp();
    const cluster = new WatchedCluster();
    const { resourceVersion } = await cluster.list(kind);
    alarm.arm('uid', cluster, { selection: { kind, fieldSelector, resourceVersion }, notify: () => undefined });
    await clock.advance(0);
    expect(cluster.watchedWith).toMatchObject([{ fieldSelector, resourceVersion, metadataOnly: true }]);
    alarm.disarm('uid');
  });

  test('ignores other objects', async () => {
    const { arm, make, clock, heard } = setUp();
    await arm();
    await make('other', 'b');
    await clock.advance(60_000);
    expect(heard).toEqual([]);
  });

  test.each([
    ['was lost', new Error('the line is dead')],
    ['ends without a word', undefined],
  ])('notifies half a minute after a watch that %s, because something may have been missed', async (_how, error) => {
    const { arm, cluster, clock, heard } = setUp();
    await arm();
    cluster.endWatches(error);
    await clock.advance(29_000);
    expect(heard).toEqual(['ended']);
    await clock.advance(1_000);
    expect(heard).toEqual(['ended', 'ring']);
  });

  test('does not notify after it was disarmed', async () => {
    const { alarm, arm, make, clock, heard } = setUp();
    await arm();
    await make('new');
    alarm.disarm('uid');
    await clock.advance(60_000);
    expect(heard).not.toContain('ring');
  });
});
