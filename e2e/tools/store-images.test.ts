import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { storeImages } from './store-images.ts';

const datastores = join(import.meta.dirname, '..', '..', 'config', 'datastores');

describe('storeImages', () => {
  test.each(Object.entries(storeImages))('%s has the name in its StatefulSet', async (folder, { names }) => {
    const manifest = await readFile(join(datastores, folder, 'stateful-set.yaml'), 'utf8');
    expect(/^ +image: (\S+)$/m.exec(manifest)?.[1]).toBe(names[0]);
  });
});
