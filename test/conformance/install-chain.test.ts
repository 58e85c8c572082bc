/** The command that installs a rule chain, against a running server. */
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { installChain } from '../../commands/install-chain.ts'
import { RestClient, login } from '../support/clients.ts'
import { PROJECT_ROOT, startMillrace, type RunningMillrace } from '../support/start-millrace.ts'

const EXAMPLE = join(PROJECT_ROOT, 'examples', 'temperature-filter.json')

interface Chain {
  readonly id: { readonly id: string }
  readonly name: string
  readonly root: boolean
  readonly additionalInfo: { readonly description?: string } | null
}

describe('install-chain', () => {
  let millrace: RunningMillrace
  let tenant: RestClient
  let folder: string

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'millrace-install-'))
    millrace = await startMillrace()
    tenant = new RestClient(millrace, await login(millrace))
  })
  after(async () => {
    await millrace.stop()
    await rm(folder, { recursive: true, force: true })
  })

  const run = async (...argv: string[]): Promise<{ code: number; out: string; error: string }> => {
    const out: string[] = []
    const errors: string[] = []
    const code = await installChain(['--url', millrace.url, ...argv], {
      out: (line) => out.push(line),
      error: (line) => errors.push(line),
    })
    return { code, out: out.join('\n'), error: errors.join('\n') }
  }
  const chains = async (): Promise<readonly Chain[]> =>
    (await tenant.expect<{ data: Chain[] }>('GET', '/api/ruleChains?pageSize=100&page=0')).data
  const withUnknownNode = async (): Promise<string> => {
    const file = join(folder, 'unknown.json')
    const chain = JSON.parse(await readFile(EXAMPLE, 'utf8')) as {
      ruleChain: { name: string }
      metadata: { nodes: { type: string; name: string }[] }
    }
    chain.ruleChain.name = 'With an unknown node'
    const [, node] = chain.metadata.nodes
    assert.ok(node)
    node.type = 'org.example.NobodyKnowsThisNode'
    node.name = 'Mystery'
    await writeFile(file, JSON.stringify(chain))
    return file
  }

  test('creates a chain, replaces it the next time, and makes it the root when asked', async () => {
    const first = await run(EXAMPLE)
    assert.equal(first.code, 0, first.error)
    assert.match(first.out, /^created rule chain/)
    assert.match(first.out, /not the root chain/)
    const count = (await chains()).length
    const made = (await chains()).find(({ name }) => name === 'Temperature filter')
    assert.match(made?.additionalInfo?.description ?? '', /^Stores temperatures from -40 to 80/)
    const second = await run(EXAMPLE, '--root')
    assert.equal(second.code, 0, second.error)
    assert.match(second.out, /^replaced rule chain/)
    const after = await chains()
    assert.equal(after.length, count)
    assert.deepEqual(after.filter(({ root }) => root).length, 1)
    assert.ok(second.out.includes(after.find(({ root }) => root)?.name ?? 'no root'))
  })

  test('names a node of an unknown type, and leaves no chain behind', async () => {
    const refused = await run(await withUnknownNode())
    assert.equal(refused.code, 1)
    assert.match(refused.error, /Mystery/)
    assert.match(refused.error, /org\.example\.NobodyKnowsThisNode/)
    assert.ok(!(await chains()).some(({ name }) => name === 'With an unknown node'))
    const kept = await run(await withUnknownNode(), '--disable-unknown')
    assert.equal(kept.code, 0, kept.error)
    assert.match(kept.out, /node 'Mystery' is disabled/)
    assert.ok((await chains()).some(({ name }) => name === 'With an unknown node'))
  })

  test('says what is wrong with its arguments, its file, the login or the address', async () => {
    const nonsense = join(folder, 'nonsense.json')
    await writeFile(nonsense, '{"ruleChain":{}}')
    assert.match((await run('--help')).out, /--disable-unknown/)
    assert.match((await run()).error, /exactly one FILE/)
    assert.match((await run(EXAMPLE, '--what')).error, /--what/)
    assert.match((await run(join(folder, 'absent.json'))).error, /cannot read .*absent\.json/)
    assert.match((await run(nonsense)).error, /is no exported rule chain/)
    assert.match((await run(EXAMPLE, '--password', 'wrong')).error, /Invalid username or password/)
    assert.match(
      (await run(EXAMPLE, '--url', 'http://127.0.0.1:1')).error,
      /no Millrace answers at http:\/\/127\.0\.0\.1:1/,
    )
  })
})
