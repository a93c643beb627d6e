import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { buildBusybox } from './build-busybox.ts';
import { ensurePackages } from '../../tools/debian-packages.ts';
import { baseEntries, fileEntry } from '../../tools/image-contents.ts';
import { imageArchive } from '../../tools/images.ts';
import type { ImageArchive } from '../../tools/images.ts';
import { libraryFiles } from '../../tools/library-files.ts';
import { moduleFolder } from '../../tools/module-folder.ts';
import type { ImageDescription } from '../../tools/oci-archive.ts';
import { resolveTools } from '../../tools/resolve.ts';
import type { Progress } from '../../tools/resolve.ts';
import { sampleApiServerImage } from '../../tools/sample-api-server-image.ts';
import type { TarEntry } from '../../tools/tar-writer.ts';
import { toolEnvironment } from '../../tools/tool-environment.ts';
import type { ToolEnvironment } from '../../tools/tool-environment.ts';
import { unpackDebianPackage } from '../../tools/unpack-debian-package.ts';

const run = promisify(execFile);

type Architecture = ImageDescription['architecture'];

const packages = ['bash', 'bind9-dnsutils', 'curl', 'netcat-openbsd', 'iproute2', 'util-linux', 'libc-bin'] as const;

/** What tests call in agnhost and in the image of DNS tests, beside busybox; each is also found in /bin. */
const commands = ['bash', 'dig', 'nslookup', 'curl', 'nc', 'ip', 'ss', 'ipcs', 'getent'] as const;

/** The programs inside these images that are built from modules. */
const programs = ['agnhost', 'coredns', 'nonewprivs', 'sample-apiserver'] as const;

type Programs = Readonly<Record<(typeof programs)[number] | 'busybox', string>>;

const testImage = (name: string): string => `registry.k8s.io/e2e-test-images/${name}`;

/** Where this machine has a command; a link is followed, because an image has no alternatives. */
const located = async (command: string): Promise<string> => {
  const { stdout } = await run('sh', ['-c', 'readlink -f "$(command -v "$0")"', command]);
  return stdout.trim();
};

/** busybox under all its names, in /bin as its published image has them. */
const busyboxEntries = async (busybox: string): Promise<readonly TarEntry[]> => {
  const { stdout } = await run(busybox, ['--list']);
  const names = stdout.split('\n').filter((name) => name !== '' && name !== 'busybox');
  const target = '/bin/busybox';
  return [
    ...baseEntries,
    fileEntry(busybox, target),
    ...names.map((name): TarEntry => ({ kind: 'symlink', path: `bin/${name}`, target })),
    { kind: 'symlink', path: 'usr/bin/env', target },
  ];
};

const commandEntries = async (): Promise<readonly TarEntry[]> => {
  const found = await Promise.all(commands.map(async (name) => [name, await located(name)] as const));
  return [
    ...found.map(([name, source]) => fileEntry(source, `/bin/${name}`)),
    ...(await libraryFiles(...found.map(([, source]) => source))).map((path) => fileEntry(path)),
  ];
};

/** The users by which a test looks whether groups of the image count. */
const agnhostUsers: readonly TarEntry[] = [
  {
    kind: 'text',
    path: 'etc/passwd',
    text: 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/sbin/nologin\nuser-defined-in-image:x:1000:1000::/home/user-defined-in-image:/bin/sh\n',
  },
  {
    kind: 'text',
    path: 'etc/group',
    text: 'root:x:0:\nnobody:x:65534:\nuser-defined-in-image:x:1000:\ngroup-defined-in-image:x:50000:user-defined-in-image\n',
  },
];

const nginxSettings = `user root;
worker_processes 1;
error_log stderr;
pid /run/nginx.pid;
events {}
http {
  access_log /dev/stdout;
  types { text/html html; }
  server { listen 80; root /usr/share/nginx/html; }
}
`;

/** nginx of Debian's package, with one page. */
const nginxImage = async (
  shell: readonly TarEntry[],
  architecture: Architecture,
  cacheFolder: string,
): Promise<ImageDescription> => {
  const folder = await unpackDebianPackage('nginx', join(cacheFolder, 'debian'));
  const program = join(folder, 'usr/sbin/nginx');
  return {
    names: [testImage('nginx:1.15-4'), testImage('nginx:1.27-0')],
    architecture,
    command: ['nginx', '-g', 'daemon off;'],
    stopSignal: 'SIGQUIT',
    layers: [
      shell,
      [
        fileEntry(program, '/usr/sbin/nginx'),
        ...(await libraryFiles(program)).map((path) => fileEntry(path)),
        { kind: 'text', path: 'etc/nginx/nginx.conf', text: nginxSettings },
        { kind: 'text', path: 'usr/share/nginx/html/index.html', text: '<h1>Welcome to nginx!</h1>\n' },
        { kind: 'folder', path: 'var/lib/nginx' },
        { kind: 'folder', path: 'var/log/nginx' },
      ],
    ],
  };
};

/** A test of image volumes looks in this file for the name of the system that the published images are based on. */
const publishedSystem: TarEntry = {
  kind: 'text',
  path: 'etc/os-release',
  text: '# This image contains no system. The published one of this name is based on Alpine Linux.\nNAME=none\n',
};

/** agnhost with what Kubernetes' tests call beside it: a shell, dig, curl, nc, CoreDNS. */
const agnhostImages = async (
  tools: Programs,
  busybox: readonly TarEntry[],
  architecture: Architecture,
  kubernetes: string,
): Promise<readonly ImageDescription[]> => {
  const shell = [busybox, [...(await commandEntries()), fileEntry(tools.coredns, '/coredns')]] as const;
  const images = join(kubernetes, 'test', 'images');
  const porter = join(images, 'agnhost', 'porter');
  const layers: ImageDescription['layers'] = [
    ...shell,
    [
      ...agnhostUsers,
      fileEntry(tools.agnhost, '/agnhost'),
      { kind: 'symlink', path: 'agnhost-2', target: 'agnhost' },
      { kind: 'folder', path: 'uploads' },
      ...['localhost.crt', 'localhost.key'].map((file) => ({
        ...fileEntry(join(porter, file), `/${file}`),
        mode: 0o644,
      })),
    ],
  ];
  const agnhost = { architecture, entrypoint: ['/agnhost'] } as const;
  const withPicture = (name: string): ImageDescription => ({
    ...agnhost,
    names: [testImage(`${name}:1.8`)],
    command: ['test-webserver'],
    layers: [
      ...layers,
      [
        ...['data.json', `${name}.jpg`].map((file) => ({
          ...fileEntry(join(images, name, 'html', file), `/${file}`),
          mode: 0o644,
        })),
        publishedSystem,
      ],
    ],
  });
  return [
    // The older one differs by its tag only: tests of updates want two images of one program.
    { ...agnhost, names: [testImage('agnhost:2.63.0'), testImage('agnhost:2.55')], command: ['pause'], layers },
    { names: [testImage('glibc-dns-testing:2.0.0')], architecture, command: ['sh'], layers: shell },
    ...['nautilus', 'kitten'].map(withPicture),
  ];
};

const describeImages = async (
  tools: Programs,
  { platform: { arch }, cacheFolder }: ToolEnvironment,
  kubernetes: string,
): Promise<readonly ImageDescription[]> => {
  const busybox = await busyboxEntries(tools.busybox);
  const nnp: TarEntry = { ...fileEntry(tools.nonewprivs, '/usr/local/bin/nnp'), mode: 0o6755 };
  const base = { architecture: arch, command: ['sh'], layers: [busybox] } as const;
  return [
    { ...base, names: [testImage('busybox:1.37.0-1')] },
    { ...base, names: [testImage('nonroot:1.5')], user: '1234' },
    { ...base, names: [testImage('nonewprivs:1.4')], command: ['nnp'], layers: [busybox, [nnp]] },
    sampleApiServerImage(tools['sample-apiserver'], arch),
    await nginxImage(busybox, arch, cacheFolder),
    ...(await agnhostImages(tools, busybox, arch, kubernetes)),
  ];
};

/**
 * OCI archives of the images that Kubernetes' conformance tests name, as far as they can be made of Go modules and Debian
 * packages; cached. Not among the images of every machine: the conformance run loads them. Installs the packages. Linux only.
 */
export const conformanceImageArchives = async (
  progress: Progress = () => undefined,
): Promise<readonly ImageArchive[]> => {
  const environment = toolEnvironment();
  await ensurePackages(packages, progress);
  const tools = {
    ...(await resolveTools(programs, { progress })),
    busybox: await buildBusybox(join(environment.cacheFolder, 'debian'), progress),
  };
  const kubernetes = await moduleFolder('kubernetes-tests', progress, environment);
  const archives: ImageArchive[] = [];
  for (const image of await describeImages(tools, environment, kubernetes)) {
    archives.push(await imageArchive(image, environment.cacheFolder, progress));
  }
  return archives;
};
