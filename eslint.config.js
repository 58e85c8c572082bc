import tseslint from 'typescript-eslint'
import { lateAwait } from './scripts/lint/late-await.ts'

/** Clock and chance are handed in: these globals are for the composition root, the edges and tests. */
const handedIn = [
  { object: 'Date', property: 'now', message: 'Take the time from the Clock that is handed in.' },
  { object: 'Math', property: 'random', message: 'Take chance from the Random that is handed in.' },
]
const handedInGlobals = ['setTimeout', 'setInterval', 'setImmediate'].map((name) => ({
  name,
  message: 'Take timers from the Clock that is handed in.',
}))

export default tseslint.config(
  {
    ignores: [
      'node_modules/',
      '.tools/',
      '.cache/',
      'ui/',
      'data/',
      'benchmarks/results/',
      '.dependency-cruiser.cjs',
      // They run before TypeScript can: the checker knows no types of them.
      'compose/stripped-types.mjs',
      'compose/own-cache.mjs',
    ],
  },
  ...tseslint.configs.recommendedTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'separate-type-imports' }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/require-await': 'off',
      eqeqeq: 'error',
      'no-restricted-syntax': [
        'error',
        {
          selector: "TSAsExpression > TSAsExpression[typeAnnotation.type='TSUnknownKeyword']",
          message: 'No cast by way of unknown.',
        },
      ],
    },
  },
  { files: ['**/*.js'], extends: [tseslint.configs.disableTypeChecked] },
  {
    // A rejection that nobody waits for ends a process; in a test it fails the test.
    files: ['**/*.ts'],
    ignores: [
      '**/*.test.ts',
      '**/*contract.ts',
      '**/*testkit.ts',
      'test/**',
      'benchmarks/**',
      'clients/**',
      'scripts/**',
      'services/kills/**',
    ],
    plugins: { millrace: { rules: { 'late-await': lateAwait } } },
    rules: { 'millrace/late-await': 'error' },
  },
  {
    files: ['engine/**/*.ts', 'nodes/**/*.ts'],
    ignores: ['**/*.test.ts', '**/testkit.ts'],
    rules: {
      'no-restricted-properties': ['error', ...handedIn],
      'no-restricted-globals': ['error', ...handedInGlobals],
    },
  },
  {
    // node:test returns promises from describe and test that nobody awaits, by design.
    files: ['**/*.test.ts', '**/contract.ts', 'test/**/*.ts'],
    rules: {
      '@typescript-eslint/no-floating-promises': [
        'error',
        {
          allowForKnownSafeCalls: [
            { from: 'package', name: ['test', 'describe', 'it', 'suite'], package: 'node:test' },
          ],
        },
      ],
    },
  },
)
