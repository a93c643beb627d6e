/** What images run on, in Go's words. */
export const architectures = ['amd64', 'arm64'] as const;
export type Architecture = (typeof architectures)[number];

/** What this machine runs on. */
export const ownArchitecture: Architecture = process.arch === 'arm64' ? 'arm64' : 'amd64';

/** Authorities that the manager trusts, in the image and on a Debian system. */
export const authorities = '/etc/ssl/certs/ca-certificates.crt';

/** A Debian package of which something is in an image. */
export interface DebianPackage {
  readonly name: string;
  readonly version: string;
  /** `all` where it does not matter. */
  readonly architecture: string;
}

/** The lower layer of an image, for one architecture: Node, the libraries it is linked to, and authorities. */
export interface ImageSystem {
  readonly architecture: Architecture;
  /** The program of Node, on this machine. */
  readonly node: string;
  /** All other files: where they are on this machine, and in the image. */
  readonly files: readonly { readonly from: string; readonly to: string }[];
  /** The packages that the files belong to. Throws for a file that belongs to none: it could not be identified. */
  readonly packages: () => Promise<readonly DebianPackage[]>;
}
