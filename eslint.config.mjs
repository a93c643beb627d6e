import tseslint from 'typescript-eslint';

/** Words that docs/reference/glossary.md does not have, in names. What a package exports by such a name is imported under another. */
const words = 'visit|door|poke|keeper|complaint|obstacle|letGo|handOver|anew';
const capitals = 'Visit|Door|Poke|Keeper|Complaint|Obstacle|LetGo|HandOver|Anew';
const oldWords = {
  selector: `:not(ImportSpecifier) > :matches(Identifier, PrivateIdentifier)[name=/^_?(${words})(s?$|ed$|s?[A-Z])|[a-z](${capitals})(s?$|s?[A-Z])|^(${capitals})(s?$|s?[A-Z])/]`,
  message: 'Use the word that docs/reference/glossary.md has for it.',
};

const pure = {
  'no-restricted-syntax': [
    'error',
    oldWords,
    { selector: "MemberExpression[object.name='Date'][property.name='now']", message: 'Time comes in as an argument.' },
    { selector: "NewExpression[callee.name='Date'][arguments.length=0]", message: 'Time comes in as an argument.' },
    {
      selector: "MemberExpression[object.name='Math'][property.name='random']",
      message: 'Randomness comes in as an argument.',
    },
    {
      selector: "MemberExpression[object.name='process'][property.name='env']",
      message: 'Only cmd/ reads the environment.',
    },
    { selector: 'ExportDefaultDeclaration', message: 'Named exports only.' },
  ],
};

export default tseslint.config(
  { ignores: ['dist/', 'node_modules/', '**/generated/', '**/.astro/', '.cache/'] },
  ...tseslint.configs.strictTypeChecked,
  ...tseslint.configs.stylisticTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      'no-restricted-syntax': [
        'error',
        oldWords,
        { selector: 'ExportDefaultDeclaration', message: 'Named exports only.' },
      ],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/consistent-type-definitions': ['error', 'interface'],
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/only-throw-error': 'error',
      // `void` would hide a rejection that then ends the process: failures have a handler, e.g. runtime/detached.ts.
      '@typescript-eslint/no-floating-promises': ['error', { ignoreVoid: false }],
      '@typescript-eslint/prefer-readonly': 'error',
      // The client's models are classes by generation; everywhere they stand for plain JSON.
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      'max-params': ['error', 4],
      complexity: ['error', 20],
      'max-depth': ['error', 4],
    },
  },
  { files: ['kubeadm/**/*.ts', 'controllers/*/*/**/*.ts'], ignores: ['**/*.test.ts'], rules: pure },
  {
    files: ['**/*.test.ts', 'e2e/**/*.ts', 'release/**/*.ts', 'bench/**/*.ts', 'testing/**/*.ts'],
    rules: { complexity: 'off' },
  },
  {
    files: ['**/*.mjs'],
    ...tseslint.configs.disableTypeChecked,
    rules: { ...tseslint.configs.disableTypeChecked.rules, 'no-restricted-syntax': 'off' },
  },
);
