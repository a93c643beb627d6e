import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** British spellings of words that the project uses or may use, also inside names. A phase of a migration is `Cancelled`: users know that name. */
const british = new RegExp(
  [
    'behaviour|colour|favour|flavour|honour|labour|neighbour|rumour',
    'cancell(?:ed|ing)|dialled|dialling|labelled(?!by)|labelling|modell(?:ed|ing)|signall(?:ed|ing)|travell(?:ed|ing)',
    'catalogue|centre|defence|offence|licence|fulfil(?!l)|artefact|judgement|programme(?![dr])|practis(?:e|ing)',
    'grey|learnt|spelt|spoilt|whilst|amongst|(?<![a-z])any more(?! than)',
    '(?:author|capital|central|character|custom|emphas|equal|final|general|initial|local|maxim|minim|normal|optim|organ|prior|real|recogn|serial|special|stabil|standard|summar|synchron|util|visual)is(?:e|ed|es|ing|ation)(?![a-z])',
    '(?:anal|paral)ys(?:e|ed|es|ing)(?![a-z])',
  ].join('|'),
  'gi',
);
const wireName = /(?<![A-Za-z#])Cancelled(?![A-Za-z])/g;

/** British spellings in a text, each with its line. */
export function britishSpellings(text: string): readonly string[] {
  return text
    .replaceAll(wireName, '')
    .split('\n')
    .flatMap((line, index) => [...line.matchAll(british)].map(([word]) => `${index + 1}: ${word}`));
}

/** What people write and read: sources, tests, pages and manifests, without what was made from other projects. */
export function writtenFiles(): readonly string[] {
  return readdirSync(root, { withFileTypes: true })
    .filter(({ name }) => !/^\.|^node_modules$|^dist$/.test(name))
    .flatMap((entry) =>
      entry.isFile()
        ? [entry.name]
        : readdirSync(join(root, entry.name), { recursive: true, encoding: 'utf8' }).map((at) => join(entry.name, at)),
    )
    .filter((file) => /(\.(ts|md|yaml|yml|tpl|tf|css|go|conf|mjs|json|txt)|Dockerfile)$/.test(file))
    .filter((file) => !/(^|\/)(node_modules|dist|\.astro|package-lock\.json)(\/|$)/.test(file))
    .filter((file) => !file.startsWith('testing/repository/spelling.'));
}

/** The text of a file from the root of the repository. */
export function textOf(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}
