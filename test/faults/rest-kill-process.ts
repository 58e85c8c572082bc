/**
 * The process that `rest-kill.test.ts` has killed: serves REST over a real store, is asked for changes as a client asks, and ends itself by
 * SIGKILL at the durable step that its argument names: while the database is at it, or as soon as it has answered. Ends in order where there is
 * no such step.
 */
import { z } from 'zod'
import { createJavaScriptWorkers } from '../../engine/script/javascript/javascript-workers.ts'
import { systemClock } from '../../model/system-clock.ts'
import { deathSchema, openDyingPlatform } from '../../services/kills/dying-platform.ts'
import { DEMO_LOGINS } from '../../services/seed.ts'
import { serveRest } from '../security/rest-server.ts'

const death = deathSchema.parse(JSON.parse(process.argv[2] ?? ''))
const { name } = death
const dying = await openDyingPlatform(death)
const { platform } = dying
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

dying.arm()
const device = await idOf(`device?accessToken=${encodeURIComponent(name)}`, { name, type: `type of ${name}` })
const customer = await idOf('customer', { title: name })
await ask('POST', `customer/${customer}/device/${device}`)
await ask('POST', `plugins/telemetry/DEVICE/${device}/SERVER_SCOPE`, { floor: 1 })
await ask('DELETE', `customer/${customer}`)
await ask('DELETE', `device/${device}`)
process.stdout.write(`${dying.steps} steps\n`)
await rest.close()
await javaScript.close()
await platform.close()
