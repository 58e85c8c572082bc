/** `npm start -- parked`: which devices' messages fail again and again and wait apart; to try one now, or to give it up. */
import { parseArgs } from 'node:util'
import { z } from 'zod'
import { errorText } from '../model/errors.ts'
import { CommandErrors, DEFAULT_SERVER, RestSession, type ServerOptions } from './rest-session.ts'

const USAGE = `npm start -- parked [--page N] [--rows N] [--json] [--retry ID | --dead-letters ID] [--url URL] [--user EMAIL] [--password TEXT]

  --retry         try the messages of this line now
  --dead-letters  move all messages of this line to the dead letters
  --page, --rows  which part of the list (default the first 20)
  --json          the answer of the server as it is
  --url, --user, --password   where and as whom (default ${DEFAULT_SERVER.url}, ${DEFAULT_SERVER.user}; environment: MILLRACE_URL,
                  MILLRACE_USER, MILLRACE_PASSWORD): a tenant administrator sees the own tenant's, the system administrator all
`

const laneSchema = z.object({
  id: z.string(),
  tenantId: z.object({ id: z.string() }),
  queueName: z.string(),
  originator: z.object({ entityType: z.string(), id: z.string() }),
  messages: z.number(),
  bytes: z.number(),
  reason: z.string(),
  since: z.number(),
  tries: z.number(),
  nextTry: z.number().nullable(),
  state: z.string(),
})
const pageSchema = z.object({ data: z.array(laneSchema), totalElements: z.number(), totalPages: z.number() })

interface Options extends ServerOptions {
  readonly page: number
  readonly rows: number
  readonly json: boolean
  readonly action: { readonly id: string; readonly path: 'retry' | 'deadLetters' } | undefined
}

/** Resolves with the exit code. */
export async function parked(argv: readonly string[]): Promise<number> {
  try {
    const options = optionsOf(argv)
    if (options === undefined) {
      process.stdout.write(USAGE)
      return 0
    }
    const session = await RestSession.open(options)
    if (options.action === undefined) await show(session, options)
    else {
      const { id, path } = options.action
      await session.request('POST', `/api/parked/${encodeURIComponent(id)}/${path}`, {})
      process.stdout.write(path === 'retry' ? 'being tried now\n' : 'moved to the dead letters\n')
    }
    return 0
  } catch (error) {
    process.stderr.write(`${errorText(error)}\n`)
    return 1
  }
}

/** Undefined where help is asked for. Throws USAGE. */
function optionsOf(argv: readonly string[]): Options | undefined {
  const values = parsed(argv)
  if (values.help) return undefined
  const { retry, 'dead-letters': letters, url, user, password, json } = values
  if (retry !== undefined && letters !== undefined)
    throw CommandErrors.USAGE({ reason: 'either --retry or --dead-letters' })
  const id = retry ?? letters
  const action =
    id === undefined ? undefined : { id, path: retry === undefined ? ('deadLetters' as const) : ('retry' as const) }
  return { url, user, password, json, page: whole('--page', values.page), rows: whole('--rows', values.rows), action }
}

function parsed(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      options: {
        page: { type: 'string', default: '0' },
        rows: { type: 'string', default: '20' },
        json: { type: 'boolean', default: false },
        retry: { type: 'string' },
        'dead-letters': { type: 'string' },
        url: { type: 'string', default: DEFAULT_SERVER.url },
        user: { type: 'string', default: DEFAULT_SERVER.user },
        password: { type: 'string', default: DEFAULT_SERVER.password },
        help: { type: 'boolean', default: false },
      },
    }).values
  } catch (error) {
    throw CommandErrors.USAGE({ reason: `${errorText(error)}\n\n${USAGE}` }, error)
  }
}

function whole(name: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw CommandErrors.USAGE({ reason: `${name} ${text}: a whole number is expected` })
  return Number(text)
}

async function show(session: RestSession, { page, rows, json }: Options): Promise<void> {
  const answer = await session.request('GET', `/api/parked?pageSize=${rows}&page=${page}`)
  if (json) {
    process.stdout.write(`${JSON.stringify(answer, null, 2)}\n`)
    return
  }
  const { data, totalElements } = pageSchema.parse(answer)
  process.stdout.write(`${totalElements} parked${data.length === 0 ? '' : `, ${data.length} shown`}\n`)
  for (const lane of data) process.stdout.write(`\n${laneText(lane)}\n`)
}

function laneText(lane: z.infer<typeof laneSchema>): string {
  const { originator, queueName, messages, bytes, tries, nextTry, state } = lane
  const next = nextTry === null ? state : `next try ${new Date(nextTry).toISOString()}`
  return [
    `${originator.entityType} ${originator.id}  queue ${queueName}  tenant ${lane.tenantId.id}`,
    `  ${messages} messages, ${bytes} bytes, since ${new Date(lane.since).toISOString()}, ${tries} tries, ${next}`,
    `  ${lane.reason}`,
    `  ${lane.id}`,
  ].join('\n')
}
