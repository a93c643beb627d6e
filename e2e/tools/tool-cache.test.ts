import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { buildRecipe } from './tool-cache.ts';

test('the recipe of a build changes with every file in its folder, and in folders below', async () => {
  const modules = await mkdtemp(join(tmpdir(), 'recipe-'));
  try {
    const source = { folder: 'router', version: 'v1.0.0' };
    await mkdir(join(modules, 'router', 'lego'), { recursive: true });
    const recipes: string[] = [];
    for (const file of ['go.mod', 'go.sum', 'main.go', 'lego/list.go', 'lego/list.go']) {
      await writeFile(join(modules, 'router', file), `${recipes.length}`);
      recipes.push(await buildRecipe(source, modules));
    }
    recipes.push(await buildRecipe({ ...source, version: 'v1.0.1' }, modules));
    expect(new Set(recipes).size).toBe(recipes.length);
  } finally {
    await rm(modules, { recursive: true });
  }
});
