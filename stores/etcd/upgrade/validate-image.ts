import type { InvalidInput } from '../../../kubeadm/invalid-input-error.ts';
import { etcdFloor, isSupportedEtcd } from '../version.ts';

/** A change of the image of an etcd that runs as a StatefulSet. */
export interface ImageChange {
  /** Path of the image. */
  readonly field: string;
  readonly image: string;
  readonly oldImage: string;
  /** Minor version whose format the data has, e.g. `3.6`; undefined while unknown. */
  readonly storageVersion: string | undefined;
  /** How many members there should be, and how many are ready and run the old image. */
  readonly members: { readonly wanted: number; readonly settled: number };
}

interface Version {
  readonly minor: number;
  /** E.g. `3.7`. */
  readonly text: string;
  readonly full: string;
}

/**
 * What etcd itself does not refuse, or only by a crash: an image that skips a minor version or goes back behind the format of the data,
 * one that lets tenants read each other, and an upgrade while a member is missing.
 */
export function validateImage(change: ImageChange): readonly InvalidInput[] {
  const { field, image, oldImage, storageVersion } = change;
  if (image === oldImage) return [];
  const invalid = (reason: string, remedy: string): readonly InvalidInput[] => [
    { field, value: image, reason, remedy },
  ];
  const [wanted, old] = [versionOf(image), versionOf(oldImage)];
  if (wanted === undefined) {
    return invalid(
      'has no version of etcd 3 in its tag',
      'use a tag such as 3.6.16-0, with a digest behind it if you like',
    );
  }
  if (!isSupportedEtcd(wanted.full) && (old === undefined || isSupportedEtcd(old.full))) {
    return invalid('is older than a datastore may be that tenants share', `use ${etcdFloor}, or later`);
  }
  const data = minorOf(storageVersion) ?? old?.minor;
  if (data === undefined) return [];
  const dataText = `3.${data}`;
  if (wanted.minor < data) {
    return invalid(
      `cannot read the data, whose format is that of ${dataText}`,
      `run etcdctl downgrade enable ${wanted.text}, wait until status.etcd.storageVersion of the DataStore is ${wanted.text}, and try again`,
    );
  }
  if (wanted.minor > data + 1) {
    const next = `3.${data + 1}`;
    return invalid(
      `skips ${next}: the format of the data is that of ${dataText}`,
      `upgrade to the newest ${next} first, wait until status.etcd.storageVersion of the DataStore is ${next}, and try again`,
    );
  }
  const { wanted: replicas, settled } = change.members;
  const isNewMinor = wanted.minor > Math.max(data, old?.minor ?? 0);
  if (!isNewMinor || settled >= replicas) return [];
  return invalid(
    `is a new minor version, but only ${settled} of ${replicas} members are ready and up to date`,
    'wait for the rollout, or repair the other members first: while one is missing, the restart of another ends the quorum',
  );
}

/** The version in the tag of an image; what follows the three numbers is a revision of the image, unless it says otherwise. */
function versionOf(image: string): Version | undefined {
  const tag = /:([^:/@]+)(?:@[^@]*)?$/.exec(image)?.[1] ?? '';
  const [, numbers = '', minor = '', rest = ''] = /^v?(3\.(\d+)\.\d+)(?![\d.])(.*)$/.exec(tag) ?? [];
  if (numbers === '') return undefined;
  const [preRelease = ''] = /^-(?:alpha|beta|rc)[.\d]*/.exec(rest) ?? [];
  return { minor: Number(minor), text: `3.${Number(minor)}`, full: `${numbers}${preRelease}` };
}

function minorOf(version: string | undefined): number | undefined {
  const minor = /^3\.(\d+)$/.exec(version ?? '')?.[1];
  return minor === undefined ? undefined : Number(minor);
}
