import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { test, type TestContext } from 'node:test'
import { isMillraceError } from '../model/errors.ts'
import { catalogue } from '../nodes/catalogue.ts'
import { createNode, runNode, testMessage } from '../nodes/testkit.ts'
import { Components } from '../services/components.ts'
import { chainCommand } from './chain-command.ts'
import { openCatalogue } from './own-nodes.ts'

const EXAMPLES = resolve(import.meta.dirname, '..', 'examples', 'own-nodes')
const CHAIN = join(EXAMPLES, 'deadband', 'deadband.json')

const HELD = `({ type = 'com.example.Held', name = 'held', defaults = {} } = {}) => ({ defineNode, z, refuse }) => defineNode({
  type, name, category: 'FILTER', relations: ['Success'], description: 'Fails what is hot.', defaults, examples: [],
  configuration: z.object({ limit: z.number().default(1) }),
  create: ({ limit }) => ({ handle: (message) => { if (message.json().t > limit) throw refuse('too hot'); return 'Success' } }),
})`

async function folderOf(context: TestContext, files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'own-nodes-'))
  context.after(() => rm(folder, { recursive: true }))
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), text)
  }
  return folder
}

test('without a folder there is what Millrace brings', async () => {
  assert.equal(await openCatalogue({ ruleNodesDir: undefined }), catalogue)
})

test('modules and packages are loaded, and what lies beside them is not', async (context) => {
  const folder = await folderOf(context, {
    'held.mjs': `export default (${HELD})()`,
    'package/package.json': '{"name":"p","type":"module","main":"lib/nodes.js"}',
    'package/lib/nodes.js': `import { other } from './other.js'\nexport default async (kit) => [other(kit)]`,
    'package/lib/other.js': `export const other = (${HELD})({ type: 'com.example.Other', name: 'other' })`,
    'held.test.mjs': 'throw new Error("a test is no module")',
    'README.md': 'read me',
    '.git/config': '',
    'node_modules/left/package.json': '{}',
  })
  const loaded = await openCatalogue({ ruleNodesDir: folder })
  assert.equal(loaded.all().length, catalogue.all().length + 2)
  assert.equal(loaded.find('com.example.Other')?.name, 'other')
  assert.equal(loaded.find('org.thingsboard.rule.engine.filter.TbJsFilterNode')?.name, 'script')
  const held = loaded.find('com.example.Held')
  assert.ok(held !== undefined)
  const node = await createNode(held, { limit: 20 })
  const [cool, hot] = await runNode(node, testMessage({ data: '{"t":19}' }), testMessage({ data: '{"t":21}' }))
  assert.deepEqual(cool?.emissions[0]?.relations, ['Success'])
  assert.ok(isMillraceError(hot?.error) && hot.error.kind === 'invalid' && hot.error.message === 'too hot')
  const shown = new Components(loaded).find('com.example.Held')
  assert.equal(shown?.type, 'FILTER')
})

const DEFINED = (change: string): string => `export default (${HELD})(${change})`

for (const [title, files, said] of [
  ['no JavaScript', { 'a.mjs': 'export default (' }, /a\.mjs can not be used: Unexpected end of input$/],
  ['no TypeScript', { 'a.ts': 'export default (a: ) => 1' }, /a\.ts can not be used: \S/],
  ['a module that throws', { 'a.mjs': 'throw new Error("no licence")' }, /a\.mjs can not be used: no licence$/],
  ['a module that imports what is not there', { 'a.mjs': "import './b.mjs'" }, /a\.mjs can not be used: .*b\.mjs/],
  ['no default export', { 'a.mjs': 'export const a = 1' }, /a\.mjs .*its default export is no function/],
  ['a function that throws', { 'a.mjs': 'export default () => { throw new Error("odd") }' }, /a\.mjs .*: odd$/],
  ['no definition', { 'a.mjs': 'export default () => []' }, /a\.mjs .*answers no node definition/],
  ['a definition of its own make', { 'a.mjs': "export default () => ({ type: 'a.B' })" }, /a\.mjs .*defineNode/],
  ['a type without dots', { 'a.mjs': DEFINED("{ type: 'Held' }") }, /a\.mjs .*'Held' is no type/],
  ['a type of ours', { 'a.mjs': DEFINED("{ type: 'millrace.x.Held' }") }, /a\.mjs .*reserved/],
  ['no name', { 'a.mjs': DEFINED("{ name: ' ' }") }, /a\.mjs .*no name/],
  ['defaults that it refuses', { 'a.mjs': DEFINED("{ defaults: { limit: 'x' } }") }, /a\.mjs .*the defaults .*limit/],
  [
    'a type that Millrace has',
    { 'a.mjs': DEFINED("{ type: 'org.thingsboard.rule.engine.filter.TbJsFilterNode' }") },
    /a\.mjs .*TbJsFilterNode is there already, in Millrace/,
  ],
  ['the same type twice', { 'a.mjs': DEFINED('{}'), 'b.mjs': DEFINED('{}') }, /b\.mjs .*there already, from .*a\.mjs$/],
  ['a folder that is no package', { 'a/b.mjs': '' }, /package\.json can not be used: ENOENT/],
  ['a package without main', { 'a/package.json': '{}' }, /package\.json can not be used: it names no main$/],
] as const) {
  test(`the start is refused in one sentence: ${title}`, async (context) => {
    const folder = await folderOf(context, files)
    await assert.rejects(openCatalogue({ ruleNodesDir: folder }), (error) => {
      assert.ok(isMillraceError(error) && error.code === 'own-nodes.UNUSABLE')
      assert.match(error.message, said)
      assert.ok(error.message.startsWith('RULE_NODES_DIR: ') && !error.message.includes('\n'))
      return true
    })
  })
}

test('a folder that is not there', async () => {
  await assert.rejects(openCatalogue({ ruleNodesDir: '/no/such/folder' }), /RULE_NODES_DIR: .*folder can not .*ENOENT/)
})

test('chain check and chain test know the nodes of the folder, and without it they do not', async (context) => {
  const lines: string[] = []
  const output = { out: (line: string) => void lines.push(line), error: (line: string) => void lines.push(line) }
  assert.equal(await chainCommand(['check', CHAIN], output), 1)
  assert.match(lines.join('\n'), /its type is unknown: com\.example\.Deadband/)
  process.env['RULE_NODES_DIR'] = EXAMPLES
  context.after(() => delete process.env['RULE_NODES_DIR'])
  lines.length = 0
  assert.equal(await chainCommand(['check', '--strict', CHAIN], output), 0, lines.join('\n'))
  assert.equal(await chainCommand(['test', CHAIN], output), 0, lines.join('\n'))
})
