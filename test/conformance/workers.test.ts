/** Worker pools as their operator sees them: over REST, as Prometheus figures, on the command line. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { after, before, describe, test } from 'node:test'
import { outcomesOf, scriptMessage } from '../../engine/script/javascript/testkit.ts'
import { DEMO_LOGINS } from '../../services/seed.ts'
import { openRestWorld, type RestWorld } from '../security/rest-world.ts'
import { PROJECT_ROOT } from '../support/start-millrace.ts'

const CHAIN_ID = '0b1c2d3e-0000-4000-8000-0000000000c1'
const NODE_ID = '0b1c2d3e-0000-4000-8000-0000000000d1'

interface Pool {
  readonly name: string
  readonly settings: Readonly<Record<string, number>>
  readonly work: { readonly totals: Readonly<Record<string, number>> }
  readonly busiestTenants: readonly { readonly tenantName: string; readonly tenantId: string }[]
  readonly busiestScripts: readonly {
    readonly ruleNodeId: string
    readonly ruleNodeName: string
    readonly ruleChainName: string
    readonly breaker: { readonly state: string }
    readonly work: {
      readonly batchMessages: { readonly most: number }
      readonly totals: Readonly<Record<string, number>>
    }
  }[]
}

describe('worker pools', () => {
  let world: RestWorld
  before(async () => {
    world = await openRestWorld()
    const script = await world.javaScript.compile({
      language: 'JS',
      kind: 'filter',
      body: 'if (msg === "bad") throw new Error("bad");\nreturn true',
      tenantId: world.platform.tenantId,
      ownerId: NODE_ID,
      ownerName: 'Check it',
      ruleChainId: CHAIN_ID,
      ruleChainName: 'Root',
    })
    await outcomesOf(
      script,
      ['1', '"bad"', '3'].map((data) => scriptMessage(data)),
    )
  })
  after(() => world.close())

  async function call<Body = Record<string, unknown>>(
    method: string,
    path: string,
    body?: unknown,
    token = world.systemAdministrator,
  ) {
    const response = await fetch(`${world.url}${path}`, {
      method,
      headers: { 'x-authorization': `Bearer ${token}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return { status: response.status, body: (await response.json()) as Body }
  }

  async function command(...argv: string[]): Promise<{ code: number; out: string; error: string }> {
    const { email, password } = DEMO_LOGINS.systemAdministrator
    const child = spawn(
      process.execPath,
      [
        '--disable-warning=ExperimentalWarning',
        '--input-type=module',
        '--eval',
        "const { workers } = await import('./commands/workers.ts'); process.exitCode = await workers(process.argv.slice(1))",
        '--',
        ...['--url', world.url, '--user', email, '--password', password, ...argv],
      ],
      { cwd: PROJECT_ROOT, stdio: ['ignore', 'pipe', 'pipe'] },
    )
    let [out, error] = ['', '']
    child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (error += text))
    const [code] = (await once(child, 'close')) as [number]
    return { code, out, error }
  }

  test('show the work of the pool, of its tenants by name and of its rule nodes', async () => {
    const { status, body } = await call('GET', '/api/admin/workers')
    assert.equal(status, 200)
    assert.equal(body['member'], 'test')
    const [pool] = body['pools'] as Pool[]
    assert.equal(pool?.name, 'javascript')
    assert.deepEqual(pool?.work.totals, {
      messages: 3,
      batches: 1,
      errors: 1,
      timeouts: 0,
      memoryErrors: 0,
      blocked: 0,
      refused: 0,
      deaths: 0,
    })
    assert.deepEqual(
      pool?.busiestTenants.map(({ tenantId, tenantName }) => [tenantId, tenantName]),
      [[world.platform.tenantId, (await world.platform.services.tenants.find(world.platform.tenantId))?.title]],
    )
    const [script] = pool?.busiestScripts ?? []
    assert.deepEqual(
      [script?.ruleNodeId, script?.ruleNodeName, script?.ruleChainName, script?.breaker.state],
      [NODE_ID, 'Check it', 'Root', 'closed'],
    )
    assert.equal(script?.work.batchMessages.most, 3)
    const none = await call('GET', '/api/admin/workers/javascript?rows=0')
    assert.deepEqual([none.body['busiestScripts'], none.body['busiestTenants']], [[], []])
  })

  test('show the pool of aggregations beside it, whose settings change with a restart', async () => {
    const pool = (await call<Pool>('GET', '/api/admin/workers/aggregation')).body
    assert.deepEqual(pool.settings, {
      threads: 2,
      minThreads: 0,
      idleTimeoutMs: 60_000,
      queueBound: 1000,
      timeoutMs: 10_000,
    })
    const { code, out, error } = await command()
    assert.equal(code, 0, error)
    assert.match(out, /^pool aggregation: 0 of 2 threads up, 0% used/m)
    assert.match(out, /^ {2}settings {2}threads=2 minThreads=0 idleTimeoutMs=60000 queueBound=1000 timeoutMs=10000$/m)
    const refused = await call('POST', '/api/admin/workers/aggregation', { threads: 4 })
    assert.equal(refused.status, 400)
    assert.match(String(refused.body['message']), /AGGREGATION_THREADS/)
  })

  test('are changed by what a body names, and answer with what holds then', async () => {
    const { status, body } = await call<Pool>('POST', '/api/admin/workers/javascript', {
      batchMessages: 64,
      timeoutMs: 400,
    })
    assert.equal(status, 200)
    const { settings } = body
    assert.deepEqual([settings['batchMessages'], settings['timeoutMs'], settings['threads']], [64, 400, 1])
    const read = (await call<Pool>('GET', '/api/admin/workers/javascript')).body
    assert.deepEqual(read.settings, settings)
  })

  for (const [what, path, body, status, message] of [
    [
      'an unknown pool',
      '/api/admin/workers/other',
      { threads: 1 },
      404,
      "there is no worker pool 'other': there are javascript, aggregation",
    ],
    [
      'too many threads',
      '/api/admin/workers/javascript',
      { threads: 1000 },
      400,
      'threads: a whole number from 1 to 256 (threads) is expected',
    ],
    [
      'a fraction',
      '/api/admin/workers/javascript',
      { timeoutMs: 10.5 },
      400,
      'timeoutMs: a whole number from 10 to 60000 (ms) is expected',
    ],
    [
      'a text that is no number',
      '/api/admin/workers/javascript',
      { threads: 'two' },
      400,
      'Invalid request body: threads: a number is expected',
    ],
    [
      'an unknown setting',
      '/api/admin/workers/javascript',
      { thread: 2 },
      400,
      /^Invalid request body: body: unknown setting thread: there are threads, /,
    ],
    [
      'nothing',
      '/api/admin/workers/javascript',
      {},
      400,
      /^Invalid request body: no setting is named: there are threads, /,
    ],
    ['no object', '/api/admin/workers/javascript', [1], 400, 'Invalid request body: body: an object is expected'],
  ] as const) {
    test(`refuse ${what} and change nothing`, async () => {
      const before = (await call('GET', '/api/admin/workers/javascript')).body['settings']
      const answer = await call('POST', path, body)
      assert.equal(answer.status, status)
      if (typeof message === 'string') assert.equal(answer.body['message'], message)
      else assert.match(String(answer.body['message']), message)
      assert.deepEqual((await call('GET', '/api/admin/workers/javascript')).body['settings'], before)
    })
  }

  test('are nothing to a tenant’s administrator', async () => {
    for (const [method, path] of [
      ['GET', '/api/admin/workers'],
      ['GET', '/api/admin/workers/javascript'],
      ['POST', '/api/admin/workers/javascript'],
    ] as const)
      assert.equal((await call(method, path, method === 'POST' ? { threads: 1 } : undefined, world.tenant)).status, 403)
  })

  test('are shown to Prometheus by pool, tenant and rule node', async () => {
    const headers = { 'x-authorization': `Bearer ${world.systemAdministrator}` }
    const text = await (await fetch(`${world.url}/metrics`, { headers })).text()
    const { tenantId } = world.platform
    for (const line of [
      /^millrace_worker_pool_messages_total\{pool="javascript"\} 3$/m,
      /^millrace_worker_pool_batch_messages\{pool="javascript",stat="most"\} 3$/m,
      new RegExp(`^millrace_worker_tenant_errors_total\\{pool="javascript",tenant="${tenantId}"\\} 1$`, 'm'),
      new RegExp(`^millrace_worker_script_breaker_open\\{.*rule_chain="${CHAIN_ID}",rule_node="${NODE_ID}"\\} 0$`, 'm'),
    ])
      assert.match(text, line)
    const again = await (await fetch(`${world.url}/metrics`)).text()
    assert.match(again, /^millrace_worker_pool_messages_total\{pool="javascript"\} 3$/m, 'a count was added to')
  })

  test('are a table on the command line, with a line for each tenant and rule node', async () => {
    const { code, out, error } = await command()
    assert.equal(code, 0, error)
    assert.match(out, /^worker pools of test, /)
    assert.match(out, /^pool javascript: 1 of 1 threads up, \d+% used, 1 scripts of 1 tenants, 0 messages wait/m)
    assert.match(out, /^script .* \/ Root \/ Check it +\d/m)
  })

  test('are changed on the command line; what the server refuses is said', async () => {
    const changed = await command('--set', 'concurrentTasks=3, queueBound=500')
    assert.equal(changed.code, 0, changed.error)
    assert.match(changed.out, /^changed on test$/m)
    assert.match(changed.out, /concurrentTasks=3 .*queueBound=500 /)
    const refused = await command('--set', 'threads=0')
    assert.deepEqual([refused.code, refused.out], [1, ''])
    assert.match(refused.error, /answered 400: threads: a whole number from 1 to 256/)
    const unknown = await command('--set', 'thread=1')
    assert.equal(unknown.code, 1)
    assert.match(unknown.error, /there is no setting 'thread': threads, /)
  })
})
