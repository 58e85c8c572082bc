/** Every rule chain of `examples/` is checked and does what its cases say, and every connection of it is taken by one of them. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync } from 'node:fs'
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { chainCommand } from '../../compose/chain-command.ts'
import { parseChain } from '../../workbench/chain-file.ts'
import { diffChains } from '../../services/rule-chains/diff.ts'
import { defaultGraph, ROOT_RULE_CHAIN_NAME } from '../../services/rule-chains/default-rule-chain.ts'
import { PROJECT_ROOT } from '../support/start-millrace.ts'
import { until } from '../support/until.ts'

const EXAMPLES = join(PROJECT_ROOT, 'examples')
const ROOT_CHAIN = join(EXAMPLES, 'root-rule-chain.json')

async function run(...argv: readonly string[]): Promise<{ readonly code: number; readonly text: string }> {
  const lines: string[] = []
  const code = await chainCommand(argv, {
    out: (line) => void lines.push(line),
    error: (line) => void lines.push(line),
  })
  return { code, text: lines.join('\n') }
}

for (const file of globSync('*.json', { cwd: EXAMPLES }).sort()) {
  test(`${file} is without findings and does what its cases say`, async () => {
    const checked = await run('check', '--strict', join(EXAMPLES, file))
    assert.equal(checked.code, 0, checked.text)
    const tested = await run('test', join(EXAMPLES, file), '--least', '100')
    assert.equal(tested.code, 0, tested.text)
  })
}

test('the example root chain is the one that new tenants get', async () => {
  const graph = defaultGraph('10000000-0000-4000-8000-000000000001')
  const made = parseChain(
    JSON.stringify({ ruleChain: { name: ROOT_RULE_CHAIN_NAME }, metadata: { ...graph, ruleChainConnections: null } }),
    'default',
  )
  assert.deepEqual(diffChains(parseChain(await readFile(ROOT_CHAIN, 'utf8'), ROOT_CHAIN), made), [])
})

async function changedRootChain(context: TestContext, change: (text: string) => string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'chains-'))
  context.after(() => rm(folder, { recursive: true }))
  const file = join(folder, 'chain.json')
  await writeFile(file, change(await readFile(ROOT_CHAIN, 'utf8')))
  await copyFile(ROOT_CHAIN.replace('.json', '.cases.yaml'), file.replace('.json', '.cases.yaml'))
  return file
}

test('a chain that changed is caught by its cases, with what was expected and what there was', async (context) => {
  const file = await changedRootChain(context, (text) => text.replace('CLIENT_SCOPE', 'SERVER_SCOPE'))
  const { code, text } = await run('test', file, '--only', 'client attributes')
  assert.equal(code, 1)
  assert.match(
    text,
    /✖ attributes of a device are its client attributes\n {4}effects: expected .*CLIENT_SCOPE.*got .*SERVER_SCOPE/,
  )
})

test('a connection that no case takes is named, and too little taken is an error', async (context) => {
  const file = await changedRootChain(context, (text) => text)
  const { code, text } = await run('test', file, '--only', 'telemetry is saved', '--least', '50')
  assert.equal(code, 1)
  assert.match(text, /nodes 2 of 6, connections 1 of 5 \(27 %\)/)
  assert.match(text, /never taken: 'Message Type Switch' ─ Other → 'Log Other'/)
})

test('a script that does not compile is found in both languages, with its place', async (context) => {
  for (const script of ['tbelScript', 'jsScript']) {
    const language = script === 'jsScript' ? 'JS' : 'TBEL'
    const file = await changedRootChain(context, (text) => {
      const chain = JSON.parse(text) as { metadata: { nodes: { configuration: Record<string, unknown> }[] } }
      Object.assign(chain.metadata.nodes[4]?.configuration ?? {}, { scriptLang: language, [script]: 'return (1 +;' })
      return JSON.stringify(chain)
    })
    const { code, text } = await run('check', file)
    assert.equal(code, 1, text)
    assert.match(text, /error {3}node 4 'Log Other' at 825,379: .*line 1, column 12/, text)
  }
})

const COMMAND = JSON.stringify(new URL('../../compose/chain-command.ts', import.meta.url).href)

/** In a process of its own, which ends when nothing is open any more. */
const ONCE = `
  import { chainCommand } from ${COMMAND}
  process.exitCode = await chainCommand(process.argv.slice(1), { out: console.log, error: console.log })
`

/** In a process of its own, which nothing else would end: it saves the file anew with its first line, while the first run goes on. */
const WATCHING = `
  import { readFileSync, writeFileSync } from 'node:fs'
  import { chainCommand } from ${COMMAND}
  const [file] = process.argv.slice(-1)
  let isFirst = true
  const out = (line) => {
    console.log(line)
    if (isFirst) writeFileSync(file, readFileSync(file, 'utf8').replace('CLIENT_SCOPE', 'SERVER_SCOPE'))
    isFirst = false
  }
  await chainCommand(['test', file, '--watch'], { out, error: console.log })
`

test('--watch runs the cases at each save, also of one that came while they ran, and goes on behind a file that is broken', async (context) => {
  const file = await changedRootChain(context, (text) => text)
  const good = await readFile(file, 'utf8')
  const child = spawn(process.execPath, ['--input-type=module', '-e', WATCHING, file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  context.after(() => child.kill())
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
  const told = async (what: RegExp) => {
    await until(() => what.test(text))
    text = text.replace(what, '')
  }
  await told(/\d+ passed, 0 failed/)
  await told(/✖ attributes of a device are its client attributes/)
  await told(/\d+ passed, 2 failed/)
  await writeFile(file, good.slice(1))
  await told(/is no exported rule chain/)
  await writeFile(file, good)
  await told(/\d+ passed, 0 failed/)
})

test('--watch over a folder that is not there says so, and leaves nothing open', { timeout: 120_000 }, async () => {
  const nowhere = join(tmpdir(), 'no-such-folder', 'chain.json')
  for (const given of [[nowhere], [ROOT_CHAIN, '--cases', nowhere]]) {
    const argv = ['--input-type=module', '-e', ONCE, 'test', ...given, '--watch']
    const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'] })
    const said = child.stdout.setEncoding('utf8').toArray()
    const [code] = (await once(child, 'exit')) as [number | null]
    assert.match((await said).join(''), /^cannot watch .*no-such-folder: /)
    assert.equal(code, 2)
  }
})

test('wrong use is told with how it goes', async () => {
  for (const [argv, said] of [
    [['check'], /^chain check takes at least one FILE\n/],
    [['diff', 'a.json'], /^chain diff takes 2 FILEs\n/],
    [['paint', 'x'], /^chain has no 'paint': it has check, test, diff, shadow, replay, versions\n/],
    [[], /^say what to do: chain check, test, diff, shadow, replay, versions\n/],
  ] as const) {
    const { code, text } = await run(...argv)
    assert.equal(code, 2)
    assert.match(text, said)
  }
  assert.match((await run('test', 'nowhere.json')).text, /cannot read nowhere\.json/)
  assert.equal((await run('--help')).code, 0)
})
