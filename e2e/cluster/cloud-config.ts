import { gunzipSync } from 'node:zlib';

import { parse } from 'yaml';

/** A file that cloud-init would write. */
export interface CloudFile {
  readonly path: string;
  readonly content: Buffer;
  /** `user:group`. */
  readonly owner: string;
  /** Octal, for example `0644`. */
  readonly permissions: string;
  readonly append: boolean;
}

/** The content of a cloud-config. */
export interface CloudConfig {
  readonly files: readonly CloudFile[];
  /** `runcmd` as one shell script, as cloud-init makes it; undefined when there is none. */
  readonly script: string | undefined;
  /** Names of modules that machines do not have and that were left out. */
  readonly ignored: readonly string[];
}

interface RawFile {
  readonly path?: unknown;
  readonly content?: unknown;
  readonly encoding?: unknown;
  readonly owner?: unknown;
  readonly permissions?: unknown;
  readonly append?: unknown;
}

/**
 * Reads cloud-init user data of the format "cloud config" (cloud-init reference: modules write_files and runcmd), as
 * Cluster API's kubeadm bootstrap provider makes it.
 * @param metadata values for `{{ ds.meta_data.<key> }}` when the text begins with `## template: jinja`.
 * @throws Error naming the field for anything that is not well-formed.
 */
export function readCloudConfig(text: string, metadata: Readonly<Record<string, string>> = {}): CloudConfig {
  const [first = ''] = text.split('\n', 1);
  const isTemplate = /^##\s*template:\s*jinja/.test(first);
  const rendered = isTemplate ? render(text.slice(first.length + 1), metadata) : text;
  if (!/^#cloud-config\s*(\n|$)/.test(rendered)) {
    throw new Error(
      `bootstrap data: its first line must be "#cloud-config", not ${JSON.stringify(rendered.slice(0, 60))}`,
    );
  }
  const config: unknown = parse(rendered) ?? {};
  if (typeof config !== 'object' || config === null || Array.isArray(config)) {
    throw new Error('bootstrap data: a mapping of cloud-init modules is needed');
  }
  const { write_files: files = [], runcmd = [], ...rest } = config as Record<string, unknown>;
  return {
    files: list(files, 'write_files').map(readFile),
    script: toScript(list(runcmd, 'runcmd')),
    ignored: Object.keys(rest).filter((key) => rest[key] !== null),
  };
}

function render(template: string, metadata: Readonly<Record<string, string>>): string {
  return template.replaceAll(/\{\{\s*([\w.]+)\s*\}\}/g, (_, name: string) => {
    const value = metadata[name.replace(/^(ds\.meta_data|v1)\./, '')];
    if (value === undefined) throw new Error(`bootstrap data: there is no value for the template variable ${name}`);
    return value;
  });
}

function readFile(raw: unknown, index: number): CloudFile {
  const field = `write_files[${index}]`;
  if (typeof raw !== 'object' || raw === null) throw new Error(`${field}: a mapping is needed`);
  const file = raw as RawFile;
  if (typeof file.path !== 'string' || !file.path.startsWith('/')) {
    throw new Error(`${field}.path: an absolute path is needed, not ${JSON.stringify(file.path)}`);
  }
  const permissions =
    typeof file.permissions === 'number' ? file.permissions.toString(8) : (file.permissions ?? '0644');
  if (typeof permissions !== 'string' || !/^[0-7]{3,5}$/.test(permissions)) {
    throw new Error(`${field}.permissions: octal digits such as "0644" are needed, not ${JSON.stringify(permissions)}`);
  }
  const owner = file.owner ?? 'root:root';
  if (typeof owner !== 'string') throw new Error(`${field}.owner: user:group is needed`);
  return { path: file.path, content: decode(file, field), owner, permissions, append: file.append === true };
}

function decode(file: RawFile, field: string): Buffer {
  if (file.content instanceof Uint8Array) return Buffer.from(file.content);
  const content = file.content ?? '';
  if (typeof content !== 'string') throw new Error(`${field}.content: text is needed`);
  const encoding = typeof file.encoding === 'string' ? file.encoding.toLowerCase() : 'text/plain';
  switch (encoding) {
    case '':
    case 'text/plain':
      return Buffer.from(content);
    case 'b64':
    case 'base64':
      return Buffer.from(content, 'base64');
    case 'gz':
    case 'gzip':
      return gunzipSync(Buffer.from(content, 'binary'));
    case 'gz+b64':
    case 'gz+base64':
    case 'gzip+b64':
    case 'gzip+base64':
      return gunzipSync(Buffer.from(content, 'base64'));
    default:
      throw new Error(
        `${field}.encoding: ${JSON.stringify(encoding)} is none of base64, gzip, gzip+base64, text/plain`,
      );
  }
}

/** cloud-init runs all commands as one script of /bin/sh; a list is one command, its words quoted. */
function toScript(commands: readonly unknown[]): string | undefined {
  if (commands.length === 0) return undefined;
  const lines = commands.map((command, index) => {
    if (typeof command === 'string') return command;
    if (Array.isArray(command)) return command.map((word) => quote(String(word))).join(' ');
    throw new Error(`runcmd[${index}]: a string or a list of words is needed`);
  });
  return `#!/bin/sh\n${lines.join('\n')}\n`;
}

function quote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

function list(value: unknown, field: string): readonly unknown[] {
  if (value === null) return [];
  if (!Array.isArray(value)) throw new Error(`${field}: a list is needed`);
  return value;
}
