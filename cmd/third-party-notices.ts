import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Licenses that require no more than their text beside the program. Others need a decision of a person. */
export const allowedLicenses: readonly string[] = [
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'ISC',
  'MIT',
  'Unlicense',
];

interface PackageJson {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
}

const line = '-'.repeat(80);

/**
 * What the licenses of the packages in a program require to be distributed with it: name, license and its text, for each folder of a package
 * below `root`. Throws for a package whose license is not allowed.
 */
export function thirdPartyNotices(root: string, folders: readonly string[]): string {
  const parts = folders.map((folder) => noticeOf(join(root, folder)));
  const head = `This program contains ${parts.length} packages of others. Their names and licenses follow.`;
  return `${[head, ...parts].join(`\n\n${line}\n\n`)}\n`;
}

function noticeOf(folder: string): string {
  const { name, version, license = '' } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as PackageJson;
  if (!allowedLicenses.includes(license))
    throw new Error(
      `${name} ${version} has the license ${license === '' ? 'unknown' : license}: nobody has decided yet whether it may be shipped; remove the package, or add the license to allowedLicenses in cmd/third-party-notices.ts`,
    );
  const texts = readdirSync(folder)
    .filter((file) => /^(licen[cs]e|copying|notice)(-\w+)?(\.(md|txt|markdown))?$/i.test(file))
    .sort()
    .map((file) => readFileSync(join(folder, file), 'utf8').trim());
  const place = `https://www.npmjs.com/package/${name}/v/${version}`;
  // Some packages name their license, but do not contain its text.
  const text =
    texts.length > 0 ? texts.join('\n\n') : `The license is ${license}: https://spdx.org/licenses/${license}.html`;
  return `${name} ${version} (${license})\n${place}\n\n${text}`;
}
