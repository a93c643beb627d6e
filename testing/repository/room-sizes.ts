import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

const root = join(import.meta.dirname, '../..');
const rooms = readdirSync(root, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !/^\.|^node_modules$|^dist$/.test(entry.name))
  .map(({ name }) => name);

/** Folders that hold one feature each; what is below them counts. */
const features: Readonly<Record<string, string>> = {
  konnectivity: 'controllers/tenantcontrolplane/addons/konnectivity',
  'tcp-proxy': 'controllers/tenantcontrolplane/addons/tcp-proxy',
  'worker-bootstrap': 'controllers/tenantcontrolplane/addons/worker-bootstrap',
  exposure: 'controllers/tenantcontrolplane/endpoint/exposure',
  migration: 'controllers/tenantcontrolplane/datastore/migration',
  rotation: 'controllers/tenantcontrolplane/certificates/rotation',
  upgrade: 'controllers/tenantcontrolplane/upgrade',
};

/** The most files that may lie beside each other, that a feature may have, and that the top of a kind may have. */
export const largest = { folder: 30, feature: 12, top: 12 } as const;

/** How many hand-written files without tests something has, and how many lines. */
export interface RoomSize {
  readonly name: string;
  readonly files: number;
  readonly lines: number;
}

/** Every folder with sources. */
export function folderSizes(): readonly RoomSize[] {
  return [...Map.groupBy(sources(), (file) => dirname(file))].map(([name, files]) => sizeOf(name, files));
}

/** Every feature of a TenantControlPlane that has a folder of its own. */
export function featureSizes(): readonly RoomSize[] {
  return Object.entries(features).map(([name, folder]) =>
    sizeOf(
      name,
      sources().filter((file) => file.startsWith(`${folder}/`)),
    ),
  );
}

function sizeOf(name: string, files: readonly string[]): RoomSize {
  const lines = files.map((file) => readFileSync(join(root, file), 'utf8').split('\n').length - 1);
  return { name, files: files.length, lines: lines.reduce((sum, one) => sum + one, 0) };
}

function sources(): readonly string[] {
  return rooms
    .flatMap((room) => readdirSync(join(root, room), { recursive: true, encoding: 'utf8' }).map((at) => join(room, at)))
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .filter((file) => !/(^|\/)(node_modules|dist|generated)\//.test(file));
}

if (process.argv[1] !== undefined && basename(process.argv[1]) === basename(import.meta.filename)) {
  const line = ({ name, files, lines }: RoomSize): string =>
    `${String(files).padStart(4)} files ${String(lines).padStart(6)} lines  ${name}`;
  console.log('Features, without tests:');
  for (const size of featureSizes()) console.log(line(size));
  console.log('\nFolders, the largest first, without tests:');
  for (const size of folderSizes()
    .toSorted((a, b) => b.files - a.files)
    .slice(0, 20))
    console.log(line(size));
}
