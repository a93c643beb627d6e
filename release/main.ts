import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

import { writeLocalRepository } from './local-repository.ts';
import { publishRelease } from './publish-release.ts';
import { readSigningKey } from './signing-key.ts';
import { architectures } from './system/image-system.ts';
import type { Architecture } from './system/image-system.ts';

const usage = `usage:
  npm run release -- --version <version> --registry <host[:port]/path> [--key <file>] [--out <folder>] [--architectures amd64,arm64] [--plain-http]
      builds and pushes the image, its bill of materials, the charts and the provider's files, and signs each with the key
      REGISTRY_USERNAME and REGISTRY_PASSWORD  credentials of the registry; anonymous without them
      SIGNING_KEY_PASSWORD                     passphrase of the key, if it has one
  npm run release:local -- --out <folder> [--version <version>] [--image <reference>]
      writes a local repository for clusterctl, and prints what to add to clusterctl.yaml`;

const log = (line: string): void => void process.stderr.write(`${line}\n`);

async function local(args: readonly string[]): Promise<void> {
  const options = { out: { type: 'string' }, version: { type: 'string' }, image: { type: 'string' } } as const;
  const { values } = parseArgs({ args: [...args], options });
  if (values.out === undefined) throw new Error(`--out is missing\n${usage}`);
  const { folder, configuration } = await writeLocalRepository(values.out, values);
  log(
    `wrote ${folder}; add this to $XDG_CONFIG_HOME/cluster-api/clusterctl.yaml (~/.config/cluster-api/clusterctl.yaml):`,
  );
  process.stdout.write(configuration);
}

/** @throws Error that says what there is. */
function readArchitectures(text: string): readonly Architecture[] {
  const wanted = [...new Set(text.split(','))].map((name) => {
    const found = architectures.find((each) => each === name);
    if (found === undefined) throw new Error(`--architectures takes ${architectures.join()}, got "${name}"`);
    return found;
  });
  return wanted;
}

async function publish(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      version: { type: 'string' },
      registry: { type: 'string' },
      key: { type: 'string' },
      out: { type: 'string', default: 'dist/release' },
      architectures: { type: 'string', default: architectures.join() },
      'plain-http': { type: 'boolean', default: false },
    },
  });
  const { version, registry, key, out } = values;
  if (version === undefined || registry === undefined) {
    throw new Error(`${version === undefined ? '--version' : '--registry'} is missing\n${usage}`);
  }
  const { REGISTRY_USERNAME: username, REGISTRY_PASSWORD: password, SIGNING_KEY_PASSWORD: passphrase } = process.env;
  if (key === undefined) log('nothing is signed: --key is not set');
  await publishRelease({
    version,
    registry: registry.replace(/^oci:\/\//, ''),
    architectures: readArchitectures(values.architectures),
    access: {
      plainHttp: values['plain-http'],
      credentials: username === undefined || password === undefined ? undefined : { username, password },
    },
    key: key === undefined ? undefined : await readSigningKey(key, passphrase),
    out: resolve(out),
    log,
  });
  log(`a copy of what was published is in ${resolve(out)}`);
}

try {
  const [command, ...args] = process.argv.slice(2);
  if (command === 'local') await local(args);
  else if (command === 'publish') await publish(args);
  else throw new Error(usage);
} catch (error) {
  log(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
