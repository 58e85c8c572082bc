import assert from 'node:assert/strict'
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { test, type TestContext } from 'node:test'
import { checkArrows } from './check-arrows.ts'

async function plantedProject(context: TestContext, files: Readonly<Record<string, string>>): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'millrace-arrows-'))
  context.after(() => rm(root, { recursive: true, force: true }))
  await cp(resolve(import.meta.dirname, '..', 'tsconfig.json'), join(root, 'tsconfig.json'))
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, name)), { recursive: true })
    await writeFile(join(root, name), text)
  }
  return root
}

test('the project keeps its arrows', () => {
  const report = checkArrows()
  assert.deepEqual(report.findings, [])
  assert.ok(report.arrows > report.modules / 2, `${report.arrows} arrows between ${report.modules} modules`)
})

test('a planted import from the engine to a transport fails the check', async (context) => {
  const root = await plantedProject(context, {
    'engine/wrong.ts': "import { listen } from '../transports/mqtt.ts'\nexport const wrong = listen\n",
    'transports/mqtt.ts': 'export const listen = 1\n',
  })
  assert.deepEqual(checkArrows(root).findings, ['engine-imports-model: engine/wrong.ts -> transports/mqtt.ts'])
})

test('a planted type-only import from a rule node to a storage driver fails the check', async (context) => {
  const root = await plantedProject(context, {
    'nodes/wrong.ts':
      "import type { Driver } from '../storage/driver.ts'\nexport const wrong = (driver: Driver) => driver\n",
    'storage/driver.ts': 'export interface Driver { readonly name: string }\n',
  })
  assert.deepEqual(checkArrows(root).findings, ['nodes-know-node-context: nodes/wrong.ts -> storage/driver.ts'])
})

test('a planted circle of types alone fails the check', async (context) => {
  const root = await plantedProject(context, {
    'model/one.ts': "import type { Two } from './two.ts'\nexport interface One { readonly two: Two }\n",
    'model/two.ts': "import type { One } from './one.ts'\nexport interface Two { readonly one: One }\n",
  })
  assert.match(checkArrows(root).findings.join('\n'), /^no-cycle: model/)
})

test('a run that saw no modules fails the check', async (context) => {
  const root = await plantedProject(context, {
    'model/empty.md': 'no module here',
    'elsewhere/module.ts': 'export const seen = false\n',
  })
  const report = checkArrows(root)
  assert.equal(report.modules, 0)
  assert.match(report.findings.join('\n'), /saw 0 modules where at least 2 lie/)
})

test('a run that saw modules but no imports fails the check', async (context) => {
  const root = await plantedProject(context, {
    'model/one.ts': 'export const one = 1\n',
    'model/two.ts': 'export const two = 2\n',
  })
  assert.match(checkArrows(root).findings.join('\n'), /saw no imports at all/)
})
