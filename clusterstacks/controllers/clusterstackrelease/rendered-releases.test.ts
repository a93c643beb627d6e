import { expect, test } from '@jest/globals';
import { ObjectMemory } from '../../../runtime/cache/object-memory.ts';
import { RenderedReleases } from './rendered-releases.ts';

const manifest = (text: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'class' },
  data: { text },
});

test('Renderings are cached up to a limit, above which the least recently used one is rendered again', async () => {
  const releases = new RenderedReleases(new ObjectMemory(), 1000);
  let rendered = 0;
  const ask = (owner: string) =>
    releases.of(owner, 'sha256:1', () => {
      rendered += 1;
      return Promise.resolve([manifest('x'.repeat(400))]);
    });
  await ask('a');
  await ask('a');
  expect(rendered).toBe(2);
  await ask('b');
  await ask('c');
  rendered = 0;
  await ask('c');
  expect(rendered).toBe(0);
  await ask('a');
  expect(rendered).toBe(2);
});
