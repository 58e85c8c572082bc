/** `npm start -- watch DEVICE`: prints the latest telemetry of a device and every update, over the WebSocket API. */
import { z } from 'zod'
import { isMillraceError } from '../model/errors.ts'
import { runRestCommand, wholeNumber, type RestCall } from './rest-command.ts'
import { CommandErrors, DEFAULT_SERVER, type RestSession } from './rest-session.ts'

const USAGE = `npm start -- watch DEVICE [--keys a,b] [--updates N] [--url URL] [--user EMAIL] [--password TEXT]

  DEVICE       the device's name
  --keys       only these telemetry keys (default: all)
  --updates    end after so many updates, the present values included (default: until stopped)
  --url, --user, --password   where and as whom (default ${DEFAULT_SERVER.url}, ${DEFAULT_SERVER.user})
`

const deviceSchema = z.object({ id: z.object({ id: z.string() }) })
const updateSchema = z.object({
  errorCode: z.number(),
  errorMsg: z.string().nullish(),
  data: z.record(z.string(), z.array(z.tuple([z.number(), z.unknown()]))).nullish(),
})

const flagsSchema = z.object({
  keys: z.string().optional(),
  updates: wholeNumber(1).default(Number.POSITIVE_INFINITY),
})

/** Resolves with the exit code. */
export function watch(argv: readonly string[]): Promise<number> {
  const run = async ({ argument, flags, open }: RestCall<z.infer<typeof flagsSchema>>): Promise<void> => {
    const session = await open()
    await printUpdates(session, await deviceIdOf(session, argument), flags.keys, flags.updates)
  }
  return runRestCommand({ usage: USAGE, flags: flagsSchema, argument: 'the name of one device', run }, argv)
}

async function deviceIdOf(session: RestSession, name: string): Promise<string> {
  try {
    const answer = await session.request('GET', `/api/tenant/devices?deviceName=${encodeURIComponent(name)}`)
    return deviceSchema.parse(answer).id.id
  } catch (error) {
    if (!isMillraceError(error) || error.code !== 'command.REFUSED' || error.fields['status'] !== 404) throw error
    throw CommandErrors.USAGE({ reason: `this tenant has no device named '${name}'` }, error)
  }
}

function printUpdates(
  session: RestSession,
  deviceId: string,
  keys: string | undefined,
  updates: number,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`${session.url.replace(/^http/, 'ws')}/api/ws`)
    let left = updates
    socket.addEventListener('open', () => {
      const command = {
        type: 'TIMESERIES',
        cmdId: 1,
        entityType: 'DEVICE',
        entityId: deviceId,
        scope: 'LATEST_TELEMETRY',
        ...(keys === undefined ? {} : { keys }),
      }
      socket.send(JSON.stringify({ authCmd: { cmdId: 0, token: session.token }, cmds: [command] }))
    })
    socket.addEventListener('message', (event) => {
      const update = updateSchema.parse(JSON.parse(String(event.data)))
      if (update.errorCode !== 0) {
        reject(CommandErrors.USAGE({ reason: `the subscription failed: ${update.errorMsg ?? update.errorCode}` }))
        socket.close()
        return
      }
      print(update.data ?? {})
      if (--left > 0) return
      socket.close()
      resolve()
    })
    socket.addEventListener('error', () =>
      reject(CommandErrors.UNREACHABLE({ url: session.url, reason: 'the WebSocket failed' })),
    )
    socket.addEventListener('close', (event) => {
      if (left > 0)
        reject(CommandErrors.UNREACHABLE({ url: session.url, reason: `closed with ${event.code} ${event.reason}` }))
    })
  })
}

function print(data: Readonly<Record<string, readonly (readonly [number, unknown])[]>>): void {
  for (const [key, points] of Object.entries(data)) {
    for (const [ts, value] of points) process.stdout.write(`${new Date(ts).toISOString()}  ${key} = ${String(value)}\n`)
  }
}
