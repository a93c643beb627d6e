import type { Secret } from '../api/core/kinds.ts';
import type { Key } from '../api/meta.ts';
import type { ReadSecret } from './driver.ts';

/** Reads keys of Secrets through `get`. Concurrent reads of keys of one Secret cost one call. */
export function secretReader(get: (key: Key) => Promise<Secret | undefined>): ReadSecret {
  const running = new Map<string, Promise<Secret | undefined>>();
  return async ({ namespace, name, key }) => {
    const id = `${namespace}/${name}`;
    let answer = running.get(id);
    if (answer === undefined) {
      answer = get({ namespace, name }).finally(() => running.delete(id));
      running.set(id, answer);
    }
    const value = (await answer)?.data?.[key];
    return value === undefined ? undefined : Buffer.from(value, 'base64');
  };
}
