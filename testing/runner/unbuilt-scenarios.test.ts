import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { toolPin } from '../../e2e/tools/pins.ts';
import { scenarioFile } from './scenario.ts';
import { ownPrograms, unbuiltNote, unbuiltScenarios } from './unbuilt-scenarios.ts';

const named = Object.entries(ownPrograms);

describe('Scenarios with programs of their own', () => {
  test.each(named)('%s exists, and its programs are made for nothing else', (scenario, programs) => {
    expect(existsSync(scenarioFile(scenario))).toBe(true);
    for (const program of programs) {
      const { byNameOnly, source } = toolPin(program);
      expect(byNameOnly).toBe(true);
      expect(existsSync(join(import.meta.dirname, '../../e2e/tools/modules', source.folder, 'go.mod'))).toBe(true);
    }
  });

  test('are left out while one of the programs is missing, with the command that builds them', async () => {
    expect(await unbuiltScenarios(() => Promise.resolve([]))).toEqual([]);
    const unbuilt = await unbuiltScenarios((names) => Promise.resolve(names.slice(0, 1)));
    expect(unbuilt).toEqual(['flux']);
    expect(unbuiltNote(unbuilt)).toBe(
      'SCENARIOS LEFT OUT WHOSE PROGRAMS ARE NOT BUILT: flux: node e2e/tools/main.ts source-controller kustomize-controller',
    );
  });
});
