import { join } from 'node:path';
import type { ModulePin, ToolPin } from '../pins.ts';
import { preparedModule } from './prepared-module.ts';
import { runGo } from './run-go.ts';
import type { Go } from './run-go.ts';

/** The name that `go build -o <folder>/` gives to a package's binary. */
export const goBinaryName = (goPackage: string): string => {
  const parts = goPackage.split('/');
  const last = parts.at(-1) ?? goPackage;
  return /^v\d+$/.test(last) && parts.length > 1 ? (parts.at(-2) ?? last) : last;
};

/** Whether programs are built of packages, or of their tests. */
export type GoBuildMode = 'program' | 'test';

// Vetting would read every package that the tests import once more, and is no matter of ours.
const commands = { program: ['build'], test: ['test', '-c', '-vet=off'] } as const;

/** Arguments of `go` that build these packages of one module into a folder, the same bytes every time. */
export const goBuildArguments = (
  source: ModulePin,
  packages: readonly string[],
  into: string,
  mode: GoBuildMode = 'program',
): readonly string[] => {
  const variables = Object.entries(source.variables ?? {}).map(([name, value]) => `-X ${name}=${value}`);
  return [
    ...commands[mode],
    '-mod=readonly',
    '-trimpath',
    '-buildvcs=false',
    ...(source.tags === undefined ? [] : ['-tags', source.tags.join(',')]),
    // The linker leaves debugging information out (-w): what would be made of it and thrown away is an eighth of the build.
    '-gcflags=all=-dwarf=false',
    '-ldflags',
    ['-s -w -buildid=', ...variables].join(' '),
    '-o',
    `${into}/`,
    ...packages,
  ];
};

const modeOf = ({ isTest }: ToolPin): GoBuildMode => (isTest === true ? 'test' : 'program');

/** Builds tools of one module; returns the built file of each by name. `modules` is the folder of the pinned modules. */
export const goBuild = async (
  go: Go,
  modules: string,
  pins: readonly ToolPin[],
  into: string,
): Promise<ReadonlyMap<string, string>> => {
  const [first] = pins;
  if (first === undefined) return new Map();
  const { source } = first;
  const folder = await preparedModule(go, modules, source, into);
  for (const mode of ['program', 'test'] as const) {
    const packages = pins.filter((pin) => modeOf(pin) === mode).map((pin) => pin.goPackage);
    if (packages.length === 0) continue;
    await runGo(go, folder, goBuildArguments(source, packages, into, mode), {
      CGO_ENABLED: source.cgo === true ? '1' : '0',
    });
  }
  const fileOf = (pin: ToolPin): string => `${goBinaryName(pin.goPackage)}${pin.isTest === true ? '.test' : ''}`;
  return new Map(pins.map((pin) => [pin.name, join(into, fileOf(pin))]));
};
