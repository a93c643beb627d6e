import { networkInterfaces } from 'node:os';

/** An address of this machine that an EndpointSlice may have: one of the loopback interface is refused there. */
export function ownAddress(): string {
  const found = Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .find(({ family, internal }) => family === 'IPv4' && !internal);
  if (found === undefined) throw new Error('this machine has no address besides those of its loopback interface');
  return found.address;
}
