/** `chain shadow` and `chain replay` against a running server. */
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { installChain } from '../../commands/install-chain.ts'
import { chainCommand } from '../../compose/chain-command.ts'
import { DEMO_ACCESS_TOKEN } from '../../services/seed.ts'
import { RestClient, login } from '../support/clients.ts'
import { PROJECT_ROOT, startMillrace, type RunningMillrace } from '../support/start-millrace.ts'

const EXAMPLE = join(PROJECT_ROOT, 'examples', 'temperature-filter.json')

describe('trials of rule chains', () => {
  let millrace: RunningMillrace
  let tenant: RestClient
  let folder: string

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'millrace-trial-'))
    millrace = await startMillrace()
    tenant = new RestClient(millrace, await login(millrace))
    assert.equal(await installChain(['--url', millrace.url, '--root', EXAMPLE], { out() {}, error() {} }), 0)
  })
  after(async () => {
    await millrace.stop()
    await rm(folder, { recursive: true, force: true })
  })

  const run = async (...argv: string[]): Promise<{ code: number; out: string; error: string }> => {
    const [out, errors]: [string[], string[]] = [[], []]
    const output = { out: (line: string) => void out.push(line), error: (line: string) => void errors.push(line) }
    const [action = '', ...rest] = argv
    const code = await chainCommand([action, '--url', millrace.url, ...rest], output)
    return { code, out: out.join('\n'), error: errors.join('\n') }
  }
  const send = async (temperature: number): Promise<void> => {
    const body = JSON.stringify({ temperature })
    const answer = await fetch(`${millrace.url}/api/v1/${DEMO_ACCESS_TOKEN}/telemetry`, { method: 'POST', body })
    assert.equal(answer.status, 200)
  }
  const changedFile = async (): Promise<string> => {
    const file = join(folder, 'changed.json')
    const text = await readFile(EXAMPLE, 'utf8')
    const chain = JSON.parse(text) as {
      metadata: { nodes: { type: string; configuration: { tbelScript?: string } }[] }
    }
    for (const node of chain.metadata.nodes)
      if (node.type.endsWith('TbJsFilterNode')) node.configuration.tbelScript = 'return false;'
    await writeFile(file, JSON.stringify(chain))
    return file
  }

  test('a replay takes what came through the chain, stores nothing, and ends by itself', async () => {
    for (const value of [20, 21, 22]) await send(value)
    const count = async () => JSON.stringify(await tenant.expect('GET', '/api/alarms?pageSize=10&page=0'))
    const before = await count()
    const { code, out, error } = await run('replay', EXAMPLE, '--from', '1h')
    assert.equal(code, 0, `${out}\n${error}`)
    assert.match(out, /the log holds from 20/)
    assert.match(out, /save telemetry \(not done\) 3/)
    assert.equal(await count(), before)
  })

  test('a shadow tells where the new version differs on what comes', async () => {
    const file = await changedFile()
    let isOver = false
    const running = run('shadow', file, '--seconds', '4').finally(() => (isOver = true))
    while (!isOver) await Promise.all([send(21), new Promise((resolve) => setTimeout(resolve, 100))])
    const { code, out, error } = await running
    assert.equal(code, 1, `${out}\n${error}`)
    assert.match(error, /messages differ, 0 failed, 0 never ended/)
    assert.match(out, /relations of \d+\n.*\n {6}- "True"\n {6}\+ "False"/)
  })

  test('versions are listed, compared and restored by name', async () => {
    const name = (JSON.parse(await readFile(EXAMPLE, 'utf8')) as { ruleChain: { name: string } }).ruleChain.name
    const first = Number(/^(\d+) /.exec((await run('versions', name)).out)?.[1])
    assert.equal(await installChain(['--url', millrace.url, await changedFile()], { out() {}, error() {} }), 0)
    const listed = (await run('versions', name)).out.split('\n')
    assert.equal(listed.length, 2)
    assert.match(listed[0] ?? '', /^\d+  20.*Z  tenant@millrace.local  \d+ nodes$/)
    assert.match((await run('versions', name, '--diff', String(first))).out, /\+ .*return false;/)
    assert.equal((await run('versions', name, '--restore', String(first))).code, 0)
    const newest = /^(\d+) /.exec((await run('versions', name)).out)?.[1] ?? ''
    assert.equal((await run('versions', name, '--diff', String(first), '--to', newest)).out, 'no difference')
    assert.match((await run('versions', name, '--show', '99')).error, /version 99 is not kept/)
  })

  test('wrong use is told', async () => {
    assert.match((await run('replay', EXAMPLE, '--from', 'soon')).error, /a time or how long ago/)
    assert.match((await run('shadow', EXAMPLE, '--beside', 'Nobody')).error, /0 rule chains are named 'Nobody'/)
  })
})
