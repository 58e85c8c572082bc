/** What the image holds starts, answers its own health check, and shows the figures that the dashboard asks for. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, readFile, rm, symlink } from 'node:fs/promises'
import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { test, type TestContext } from 'node:test'
import { z } from 'zod'
import { requireOwnServer, startNats, startPostgres, startQuestDb } from '../support/servers/index.ts'
import { freePorts } from '../support/servers/ports.ts'
import { PROJECT_ROOT, startMillrace } from '../support/start-millrace.ts'

const DASHBOARD = readFileSync(join(PROJECT_ROOT, 'deploy', 'grafana', 'dashboards', 'millrace.json'), 'utf8')

test('the files that .dockerignore lets into the image are enough to run, and the health check says so', async (context) => {
  const { folder, port } = await startImage(context)
  assert.deepEqual(await runHealthCheck(folder, port), [0, ''])
  const [unused = 0] = await freePorts(1)
  const [code, complaint] = await runHealthCheck(folder, unused)
  assert.equal(code, 1)
  assert.match(complaint, /fetch failed/)
})

test('the dashboard asks only for figures that Millrace in its production shape and QuestDB show', async (context) => {
  if (!requireOwnServer(context, 'nats', 'postgres', 'questdb')) return
  const [figuresPort = 0] = await freePorts(1)
  const figures = {
    'metrics.enabled': 'true',
    'http.min.enabled': 'true',
    'http.min.net.bind.to': `127.0.0.1:${figuresPort}`,
  }
  const [nats, postgres, questDb] = await Promise.all([
    startNats(),
    startPostgres(),
    startQuestDb({ settings: figures }),
  ])
  context.after(() => Promise.all([nats.stop(), postgres.stop(), questDb.stop()]))
  const millrace = await startMillrace({
    environment: {
      LINK: 'jetstream',
      NATS_URL: nats.url,
      DATABASE_ENTITIES_TYPE: 'postgres',
      DATABASE_URL: postgres.url,
      DATABASE_TS_TYPE: 'questdb',
      QUESTDB_URL: questDb.url,
    },
  })
  try {
    const shown = new Set<string>()
    for (const address of [millrace.url, `http://127.0.0.1:${figuresPort}`]) {
      for (const name of metricNames(await (await fetch(`${address}/metrics`)).text())) shown.add(name)
    }
    const asked = askedFor(/\b(?:millrace|questdb|process|nodejs)_\w+/g)
    assert.ok(asked.length > 50, `${asked.length} figures`)
    assert.deepEqual(
      asked.filter((name) => !shown.has(name)),
      [],
    )
  } finally {
    await millrace.stop() // Before its stores: it would wait for them.
  }
})

function askedFor(names: RegExp): string[] {
  const Panels = z.object({
    panels: z.array(z.object({ targets: z.array(z.object({ expr: z.string() })).default([]) })),
  })
  const expressions = Panels.parse(JSON.parse(DASHBOARD)).panels.flatMap(({ targets }) =>
    targets.map(({ expr }) => expr),
  )
  return [...new Set(expressions.flatMap((expression) => expression.match(names) ?? []))]
}

function metricNames(text: string): Set<string> {
  return new Set([...text.matchAll(/^([a-z]\w*)[ {]/gm)].map((match) => match[1] ?? ''))
}

/** Copies what .dockerignore allows, as COPY does, and starts it as the image's entry point does. */
async function startImage(context: TestContext): Promise<{ folder: string; port: number }> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-image-'))
  context.after(() => rm(folder, { recursive: true, force: true }))
  const rules = (await readFile(join(PROJECT_ROOT, '.dockerignore'), 'utf8')).split('\n')
  const allowed = rules.flatMap((rule) => (rule.startsWith('!') ? [rule.slice(1)] : []))
  assert.ok(rules.includes('*') && rules.includes('**/*.test.ts'))
  for (const name of allowed) {
    const filter = (source: string): boolean => !source.endsWith('.test.ts')
    await cp(join(PROJECT_ROOT, name), join(folder, name), { recursive: true, filter })
  }
  for (const name of ['node_modules', '.tools']) await symlink(join(PROJECT_ROOT, name), join(folder, name))

  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', 'main.ts'], {
    cwd: folder,
    env: {
      PATH: dirname(process.execPath),
      DATA_DIR: join(folder, 'data'),
      DEMO: 'false',
      READY_JSON: 'true',
      HTTP_BIND_PORT: '0',
      MQTT_BIND_PORT: '0',
      COAP_BIND_PORT: '0',
      LWM2M_BIND_PORT: '0',
      LWM2M_BS_BIND_PORT: '0',
      LOG_LEVEL: 'error',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let log = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (log += text))
  const exited = once(child, 'exit')
  context.after(async () => {
    child.kill('SIGTERM')
    await exited
  })
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.startsWith('{"ready":true')) continue
    const { ports } = z.object({ ports: z.object({ http: z.number() }) }).parse(JSON.parse(line))
    return { folder, port: ports.http }
  }
  return assert.fail(`ended before it was ready:\n${log}`)
}

async function runHealthCheck(folder: string, port: number): Promise<[number, string]> {
  const check = spawn(process.execPath, ['deploy/health.ts'], {
    cwd: folder,
    env: { HTTP_BIND_PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let complaint = ''
  check.stderr.setEncoding('utf8').on('data', (text: string) => (complaint += text))
  const [code] = (await once(check, 'close')) as [number]
  return [code, complaint]
}
