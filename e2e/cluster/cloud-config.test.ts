import { gzipSync } from 'node:zlib';

import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { stringify } from 'yaml';

import { readCloudConfig } from './cloud-config.ts';

const config = (content: unknown): string => `#cloud-config\n${stringify(content)}`;

describe('readCloudConfig', () => {
  test('reads the bootstrap data of a worker as Cluster API writes it', () => {
    const { files, script, ignored } = readCloudConfig(
      `## template: jinja
#cloud-config

write_files:
-   path: /run/kubeadm/kubeadm-join-config.yaml
    owner: root:root
    permissions: '0640'
    content: |
      ---
      name: '{{ ds.meta_data.local_hostname }}'
-   path: /run/cluster-api/placeholder
    owner: root:root
    permissions: '0640'
    content: "x"
runcmd:
  - kubeadm join --config /run/kubeadm/kubeadm-join-config.yaml  && echo success > /run/cluster-api/bootstrap-success.complete
`,
      { local_hostname: 'worker-1' },
    );
    expect(files.map(({ path, owner, permissions }) => [path, owner, permissions])).toEqual([
      ['/run/kubeadm/kubeadm-join-config.yaml', 'root:root', '0640'],
      ['/run/cluster-api/placeholder', 'root:root', '0640'],
    ]);
    expect(files[0]?.content.toString()).toBe("---\nname: 'worker-1'\n");
    expect(script).toMatch(/^#!\/bin\/sh\nkubeadm join .* && echo success/);
    expect(ignored).toEqual([]);
  });

  test('decodes any content in any encoding', () => {
    const encodings: Record<string, (content: Buffer) => string> = {
      base64: (content) => content.toString('base64'),
      b64: (content) => content.toString('base64'),
      'gzip+base64': (content) => gzipSync(content).toString('base64'),
      'gz+b64': (content) => gzipSync(content).toString('base64'),
    };
    fc.assert(
      fc.property(fc.uint8Array(), fc.constantFrom(...Object.keys(encodings)), (bytes, encoding) => {
        const content = Buffer.from(bytes);
        const encoded = encodings[encoding]?.(content);
        const { files } = readCloudConfig(config({ write_files: [{ path: '/x', encoding, content: encoded }] }));
        expect(files[0]?.content.equals(content)).toBe(true);
      }),
    );
  });

  test('has the defaults of cloud-init', () => {
    const { files, script } = readCloudConfig(config({ write_files: [{ path: '/x', append: true }] }));
    expect(files).toEqual([
      { path: '/x', content: Buffer.alloc(0), owner: 'root:root', permissions: '0644', append: true },
    ]);
    expect(script).toBeUndefined();
  });

  test('runs lines unchanged and quotes lists of words', () => {
    const { script } = readCloudConfig(config({ runcmd: ['a && b', ['echo', "it's", '$HOME'], [1]] }));
    expect(script).toBe(`#!/bin/sh\na && b\n'echo' 'it'\\''s' '$HOME'\n'1'\n`);
  });

  test('reports which modules it leaves out', () => {
    expect(readCloudConfig(config({ users: [{ name: 'x' }], ntp: null, runcmd: null })).ignored).toEqual(['users']);
  });

  test.each([
    ['ignition: {}', /first line must be "#cloud-config"/],
    [config([]), /a mapping of cloud-init modules/],
    [config({ write_files: {} }), /write_files: a list/],
    [config({ write_files: ['x'] }), /write_files\[0\]: a mapping/],
    [config({ write_files: [{ path: 'x' }] }), /write_files\[0\]\.path: an absolute path is needed, not "x"/],
    [config({ write_files: [{ path: '/x', permissions: 'rw' }] }), /permissions: octal digits/],
    [config({ write_files: [{ path: '/x', encoding: 'rot13' }] }), /encoding: "rot13" is none of/],
    [config({ runcmd: [{ a: 1 }] }), /runcmd\[0\]: a string or a list/],
    [
      '## template: jinja\n#cloud-config\na: {{ ds.meta_data.zone }}\n',
      /no value for the template variable ds.meta_data.zone/,
    ],
  ])('refuses %j', (text, message) => {
    expect(() => readCloudConfig(text)).toThrow(message);
  });
});
