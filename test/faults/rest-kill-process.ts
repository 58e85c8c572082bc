/**
 * The process that `rest-kill.test.ts` has killed: serves REST over a real store, is asked for changes as a client asks, and ends itself by
 * SIGKILL at the durable step that its argument names: while the database is at it, or as soon as it has answered. Ends in order where there is
 * no such step.
 */
import { z } from 'zod'
import { createJavaScriptWorkers } from '../../engine/script/javascript/javascript-workers.ts'
import { systemClock } from '../../model/system-clock.ts'
import { DECLARED_TABLES } from '../../services/entities/declared.ts'
import { DEMO_LOGINS } from '../../services/seed.ts'
import { openTestPlatform, testSecrets } from '../../services/testkit.ts'
import { openEntityStore, openPostgresEntityStore, type EntityStore } from '../../storage/entities/entity-store.ts'
import { serveRest } from '../security/rest-server.ts'

const { file, url, name, step, when, key } = z
  .object({
    ...{ file: z.string().optional(), url: z.string().optional(), name: z.string(), key: z.string() },
    ...{ step: z.int(), when: z.enum(['during', 'after']) },
  })
  .parse(JSON.parse(process.argv[2] ?? ''))
const clock = { now: () => 1_700_000_000_000 }
const tables = DECLARED_TABLES
const inner =
  url === undefined
    ? await openEntityStore({ file: file ?? '', durability: 'process-death', clock, tables })
    : await openPostgresEntityStore({ url, applicationName: 'killed', clock, tables })

let [isArmed, steps] = [false, 0]
const store: EntityStore = {
  ...inner,
  async write(statements) {
    const isLast = isArmed && ++steps === step
    const writing = inner.write(statements)
    // The statements are on their way to the thread or the server: how far they come is left to chance.
    if (isLast && when === 'during') setImmediate(die)
    const written = await writing
    if (isLast) die()
    return written
  },
}

function die(): void {
  process.kill(process.pid, 'SIGKILL')
}

const secrets = testSecrets(Buffer.from(key, 'base64'))
const platform = await openTestPlatform({ start: false, secrets, openEntities: () => Promise.resolve(store) })
const javaScript = createJavaScriptWorkers({
  ...{ clock: systemClock, threads: 1, memoryLimitMb: 16, timeoutMs: 500, queueBound: 1000 },
})
const rest = await serveRest(platform, javaScript)
const { email, password } = DEMO_LOGINS.tenantAdministrator
const { token } = await rest.auth.login(email, password, '127.0.0.1')
const answerSchema = z.looseObject({ id: z.object({ id: z.string() }) })

async function ask(method: string, path: string, body?: object): Promise<string> {
  const response = await fetch(`${rest.url}/api/${path}`, {
    method,
    headers: { 'x-authorization': `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  if (response.status !== 200) throw new Error(`${method} ${path} answered ${response.status}: ${text}`)
  return text
}

async function idOf(path: string, body: object): Promise<string> {
  return answerSchema.parse(JSON.parse(await ask('POST', path, body))).id.id
}

isArmed = true
const device = await idOf(`device?accessToken=${encodeURIComponent(name)}`, { name, type: `type of ${name}` })
const customer = await idOf('customer', { title: name })
await ask('POST', `customer/${customer}/device/${device}`)
await ask('POST', `plugins/telemetry/DEVICE/${device}/SERVER_SCOPE`, { floor: 1 })
await ask('DELETE', `customer/${customer}`)
await ask('DELETE', `device/${device}`)
process.stdout.write(`${steps} steps\n`)
await rest.close()
await javaScript.close()
await platform.close()
