import { readFileSync } from 'node:fs';
import path from 'node:path';

const names: Readonly<Record<string, string>> = {
  etcd: 'etcd',
  postgres: 'PostgreSQL',
  mysql: 'MariaDB',
  nats: 'NATS',
};

/** The images of the quick-start datastores in config/datastores, by what runs in them. */
export function quickStartImages(root: string): ReadonlyMap<string, string> {
  const images = Object.entries(names).map(([folder, name]) => {
    const file = path.join('config/datastores', folder, 'stateful-set.yaml');
    const [, image] = /^\s+image: (\S+)$/m.exec(readFileSync(path.join(root, file), 'utf8')) ?? [];
    if (image === undefined) throw new Error(`${file} names no image`);
    return [`quick start of ${name}`, image] as const;
  });
  return new Map(images);
}
