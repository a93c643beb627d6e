import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';

import { goBuildArguments } from '../e2e/tools/go/go-build.ts';
import { toolPin } from '../e2e/tools/pins.ts';
import { managerImage, managerPlaces, managerRuntime } from './manager-image.ts';

const root = path.join(import.meta.dirname, '..');

interface Instruction {
  readonly name: string;
  readonly words: string;
}

/** The instructions of each stage of the Dockerfile, each from its FROM on. */
function stages(): readonly (readonly Instruction[])[] {
  const lines = readFileSync(path.join(root, 'Dockerfile'), 'utf8')
    .split('\n')
    .filter((line) => !line.startsWith('#') && line.trim() !== '')
    .join('\n')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n');
  const instructions = lines.map((line): Instruction => {
    const [, name = '', words = ''] = /^([A-Z]+) (.*)$/.exec(line) ?? [];
    return { name, words };
  });
  const starts = instructions.flatMap(({ name }, index) => (name === 'FROM' ? [index] : []));
  return starts.map((start, stage) => instructions.slice(start, starts[stage + 1]));
}

const [build = [], helm = [], image = [], withHelm = [], last = []] = stages();
const said = (stage: readonly Instruction[], name: string): string =>
  stage
    .filter((instruction) => instruction.name === name)
    .map(({ words }) => words)
    .join('\n');

describe('the Dockerfile', () => {
  test('has stages that build, the image, and the image with helm, which is only built when it is named', () => {
    expect(stages()).toHaveLength(5);
    expect(said(build, 'FROM')).toBe('--platform=$BUILDPLATFORM node:24-bookworm-slim AS build');
    expect(said(helm, 'FROM')).toBe('--platform=$BUILDPLATFORM golang:1.26-bookworm AS helm');
    expect(withHelm).toEqual([
      { name: 'FROM', words: 'steward AS with-helm' },
      { name: 'COPY', words: '--from=helm /rootfs/ /' },
    ]);
    expect(last).toEqual([{ name: 'FROM', words: 'steward' }]);
  });

  test('builds the helm that the tests run, as they build it, where the manager looks for it', () => {
    const pin = toolPin('helm');
    expect(said(helm, 'COPY')).toBe(`e2e/tools/modules/${pin.source.folder} ./`);
    const [built = ''] = said(helm, 'RUN').split('\n');
    expect(built).toContain('CGO_ENABLED=0 ');
    const flags = goBuildArguments(pin.source, [pin.goPackage], `/rootfs${path.dirname(managerPlaces.helm)}`);
    expect(built.slice(built.indexOf('go ')).replaceAll('"', '').split(' ')).toEqual([
      'go',
      ...flags.join(' ').split(' '),
    ]);
  });

  test('runs as the image that is made without Docker runs', () => {
    expect(JSON.parse(said(image, 'ENTRYPOINT'))).toEqual(managerRuntime.entrypoint);
    expect(JSON.parse(said(image, 'CMD'))).toEqual(managerRuntime.command);
    expect(said(image, 'USER')).toBe(managerRuntime.user);
    const environment = Object.entries(managerRuntime.environment).map(([name, value]) => `${name}=${value}`);
    expect(said(image, 'ENV').split('\n')).toEqual(environment);
  });

  test('puts the same files in the same places', () => {
    expect(said(image, 'COPY')).toBe('--from=build /rootfs/ /');
    const steps = said(build, 'RUN');
    expect(steps).toContain('node cmd/build.ts dist ');
    expect(steps).toContain(`cp -r dist/. LICENSE /rootfs${managerPlaces.app}/`);
    expect(managerPlaces.license).toBe(`${managerPlaces.app}/LICENSE`);
    expect(steps).toContain(`ln -s ${managerPlaces.target} /rootfs${managerPlaces.program}`);
  });

  test('has Node of the major that is tested, where the bundle’s first line looks for it, and no shell', () => {
    expect(said(image, 'FROM')).toBe('gcr.io/distroless/nodejs24-debian12:nonroot AS steward');
    expect(readFileSync(path.join(root, '.nvmrc'), 'utf8').trim()).toMatch(/^v?24\b/);
    expect(readFileSync(path.join(root, 'cmd', 'build.ts'), 'utf8')).toContain(`'#!${managerPlaces.node} `);
    expect(image.some(({ name }) => name === 'RUN')).toBe(false);
  });

  test('leaves out what no bundle is made of', () => {
    const ignored = readFileSync(path.join(root, '.dockerignore'), 'utf8').split('\n');
    for (const name of ['.git', 'charts', 'dist', 'docs', 'e2e', 'node_modules']) expect(ignored).toContain(name);
    expect(ignored.filter((line) => line.startsWith('!'))).toEqual(['!e2e/tools/modules/helm']);
  });
});

describe('the pod of the manager', () => {
  const manifest = readFileSync(path.join(root, 'config', 'manager', 'manager.yaml'), 'utf8');

  test('runs the image under its user, with nothing to write to', () => {
    expect(manifest).toContain(`image: ${managerImage}`);
    expect(manifest).toContain('readOnlyRootFilesystem: true');
    expect(manifest).toContain('runAsNonRoot: true');
    expect(manifest).toContain(`runAsUser: ${managerRuntime.user.split(':')[0] ?? ''}`);
    expect(manifest).toMatch(new RegExp(`command:\\s+- ${managerPlaces.program}\\n`));
  });
});
